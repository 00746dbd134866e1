package dev.meshplan.formats;

import dev.meshplan.config.InputException;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.PathKind;
import dev.meshplan.units.Dimension;
import dev.meshplan.units.Quantity;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;

/**
 * Importer of the XML that NCCL writes (NCCL_TOPO_DUMP_FILE) and reads (NCCL_TOPO_FILE).
 *
 * <p>{@code link_width} 0, an empty {@code link_speed} and {@code numaid} -1 mean unknown there;
 * the speeds of virtual PCI switches are not the machine's, so PCI speeds are not used at all.
 */
public final class NcclTopology {
  private static final String UNSEEN = "fffffff:ff:ff.0";
  private static final String SWITCH = "0x0680";

  private final String file;
  private final List<Element> gpus = new ArrayList<>();
  private final List<Element> nets = new ArrayList<>();
  private final List<String> understood = new ArrayList<>();
  private final List<String> missing = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();
  private final Set<String> switches = new LinkedHashSet<>();
  private boolean unseenSwitch;

  private NcclTopology(String file) {
    this.file = file;
  }

  /**
   * The node as a system of the catalog.
   *
   * @param file names it in messages
   * @param gpu the GPU in it; null = as the file says by compute capability only
   * @param domainGpus size of the scale-up domain where it is larger than the node; 0 = not said
   * @throws InputException when it is no such XML
   */
  public static Imported read(String file, String text, String id, Gpu gpu, int domainGpus) {
    NcclTopology n = new NcclTopology(file);
    NodeTopology t = n.topology(text);
    Imported i = NodeSystem.of(t, "NCCL topology XML", file, id, gpu, domainGpus);
    List<String> facts = new ArrayList<>(n.understood);
    facts.addAll(i.understood());
    return new Imported(i.kind(), facts, i.assumed(), i.missing(), i.faults(), i.yaml());
  }

  private NodeTopology topology(String text) {
    Element system = parse(text);
    if (!system.getTagName().equals("system")) {
      throw new InputException(
          file, "", system.getTagName(), "is no NCCL topology: the outermost tag must be system.");
    }
    collect(system);
    if (gpus.isEmpty()) {
      missing.add(
          "no gpu is described (a skeleton of bus ids, completed by NCCL on the machine): dump it"
              + " there with NCCL_TOPO_DUMP_FILE");
    }
    List<String> names = new ArrayList<>();
    List<Integer> numa = new ArrayList<>();
    for (Element g : gpus) {
      names.add("GPU" + g.getAttribute("dev"));
      numa.add(numa(g));
    }
    List<String> nics = nets.stream().map(n -> n.getAttribute("name")).toList();
    Map<String, NodeTopology.Path> paths = paths(names, nics);
    double speed = Double.NaN;
    for (Element n : nets) {
      if (n.getAttribute("speed").matches("\\d+")) {
        speed = Quantity.parse(n.getAttribute("speed") + " Mb/s", Dimension.BYTES_PER_SECOND);
      }
    }
    List<Integer> none = names.stream().map(n -> -1).toList();
    boolean switched = unseenSwitch || !switches.isEmpty();
    Boolean through = switched ? Boolean.TRUE : links() ? Boolean.FALSE : null;
    return new NodeTopology(
        names,
        nics,
        paths,
        names.stream().map(n -> "").toList(),
        numa,
        none,
        through,
        speed,
        missing,
        faults);
  }

  private boolean links() {
    return gpus.stream().anyMatch(g -> !children(g, "nvlink").isEmpty());
  }

  private void collect(Element e) {
    for (Element child : children(e, null)) {
      switch (child.getTagName()) {
        case "gpu" -> gpu(child);
        case "net" -> nets.add(child);
        default -> collect(child);
      }
    }
  }

  private void gpu(Element g) {
    String part = g.getAttribute("mlopart");
    if (!part.isEmpty() && !part.equals("0")) {
      understood.add(
          "part " + part + " of GPU" + g.getAttribute("dev") + " is the same device, counted once");
      return;
    }
    gpus.add(g);
    StringBuilder s = new StringBuilder("GPU" + g.getAttribute("dev"));
    s.append(": compute capability ").append(g.getAttribute("sm"));
    int count = 0;
    for (Element link : children(g, "nvlink")) {
      String target = link.getAttribute("target");
      count += number(link.getAttribute("count"));
      if (target.equals(UNSEEN)) {
        unseenSwitch = true;
      } else if (link.getAttribute("tclass").startsWith(SWITCH)) {
        switches.add(target);
      }
    }
    if (count > 0) {
      s.append(", ").append(count).append(" NVLinks");
    }
    for (Element c : children(g, "c2c")) {
      double one = Quantity.parse(c.getAttribute("bw") + " MB/s", Dimension.BYTES_PER_SECOND);
      s.append(", C2C to the CPU of ")
          .append(Quantity.bandwidth(one * number(c.getAttribute("count"))));
    }
    understood.add(s.toString());
  }

  private Map<String, NodeTopology.Path> paths(List<String> names, List<String> nics) {
    if (unseenSwitch) {
      understood.add("NVLinks end in NVSwitches that this machine does not show");
    } else if (!switches.isEmpty()) {
      understood.add("NVLinks end in " + switches.size() + " NVSwitches");
    }
    Map<String, NodeTopology.Path> paths = new LinkedHashMap<>();
    for (int i = 0; i < names.size(); i++) {
      for (int j = 0; j < names.size(); j++) {
        paths.put(NodeTopology.key(names.get(i), names.get(j)), between(i, j));
      }
      for (int k = 0; k < nics.size(); k++) {
        NodeTopology.Path p = new NodeTopology.Path(pci(gpus.get(i), nets.get(k)), 0);
        paths.put(NodeTopology.key(names.get(i), nics.get(k)), p);
        paths.put(NodeTopology.key(nics.get(k), names.get(i)), p);
      }
    }
    return paths;
  }

  private NodeTopology.Path between(int i, int j) {
    if (i == j) {
      return new NodeTopology.Path(PathKind.SELF, 0);
    }
    int here = switched(gpus.get(i));
    int there = switched(gpus.get(j));
    if (here > 0 && there > 0) {
      return new NodeTopology.Path(PathKind.NVL, Math.min(here, there));
    }
    String bus = bus(gpus.get(j));
    int direct =
        children(gpus.get(i), "nvlink").stream()
            .filter(l -> l.getAttribute("target").equals(bus))
            .mapToInt(l -> number(l.getAttribute("count")))
            .sum();
    return direct > 0
        ? new NodeTopology.Path(PathKind.NVL, direct)
        : new NodeTopology.Path(pci(gpus.get(i), gpus.get(j)), 0);
  }

  private static int switched(Element g) {
    return children(g, "nvlink").stream()
        .filter(l -> l.getAttribute("tclass").startsWith(SWITCH))
        .mapToInt(l -> number(l.getAttribute("count")))
        .sum();
  }

  /** PIX below one switch, PXB below one tree of switches, PHB at one CPU, else SYS. */
  private static PathKind pci(Element a, Element b) {
    List<Node> up = ancestors(a);
    List<Node> other = ancestors(b);
    for (int i = 0; i < up.size(); i++) {
      int at = other.indexOf(up.get(i));
      if (at >= 0) {
        String tag = ((Element) up.get(i)).getTagName();
        if (tag.equals("pci")) {
          return i <= 1 && at <= 1 ? PathKind.PIX : PathKind.PXB;
        }
        return tag.equals("cpu") ? PathKind.PHB : PathKind.SYS;
      }
    }
    return PathKind.SYS;
  }

  /**
   * PCI devices and the CPU above an element, nearest first; a device's own pci tag comes first.
   */
  private static List<Node> ancestors(Element e) {
    List<Node> list = new ArrayList<>();
    for (Node n = e.getParentNode(); n instanceof Element p; n = n.getParentNode()) {
      if (!p.getTagName().equals("nic")) {
        list.add(p);
      }
    }
    return list;
  }

  private static String bus(Element g) {
    return ((Element) g.getParentNode()).getAttribute("busid");
  }

  private static int numa(Element e) {
    for (Node n = e; n instanceof Element p; n = n.getParentNode()) {
      if (p.getTagName().equals("cpu")) {
        return p.getAttribute("numaid").matches("\\d+")
            ? Integer.parseInt(p.getAttribute("numaid"))
            : -1;
      }
    }
    return -1;
  }

  private static int number(String text) {
    return text.matches("\\d{1,6}") ? Integer.parseInt(text) : 0;
  }

  private static List<Element> children(Element e, String tag) {
    List<Element> list = new ArrayList<>();
    for (Node n = e.getFirstChild(); n != null; n = n.getNextSibling()) {
      if (n instanceof Element c && (tag == null || c.getTagName().equals(tag))) {
        list.add(c);
      }
    }
    return list;
  }

  private Element parse(String text) {
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      factory.setExpandEntityReferences(false);
      DocumentBuilder builder = factory.newDocumentBuilder();
      builder.setErrorHandler(null);
      return builder.parse(new InputSource(new StringReader(text))).getDocumentElement();
    } catch (SAXException | IOException e) {
      throw new InputException(file, "", "", "is not valid XML: " + e.getMessage());
    } catch (ParserConfigurationException e) {
      throw new IllegalStateException(e);
    }
  }
}
