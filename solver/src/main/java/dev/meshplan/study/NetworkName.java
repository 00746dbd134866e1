package dev.meshplan.study;

import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Network;
import dev.meshplan.units.Basis;
import dev.meshplan.units.Quantity;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Networks that measured files name and the catalog doesn't have: kind, speed and ports say all.
 */
final class NetworkName {
  private static final Pattern WRITTEN = Pattern.compile("([a-z0-9]+)-.*?([0-9]+)g(?:-x([0-9]+))?");
  private static final int BITS = 8;

  private NetworkName() {}

  /**
   * The network that a name such as {@code roce-400g} or {@code efa-p5-200g-x16} describes.
   *
   * @return null when the name says nothing
   */
  static Network read(String name) {
    Matcher m = WRITTEN.matcher(name);
    if (!m.matches()) {
      return null;
    }
    String kind = m.group(1);
    return new Network(
        name,
        List.of(),
        name,
        kind.equals("ib") || kind.equals("ndr") || kind.equals("xdr") ? "infiniband" : kind,
        Double.parseDouble(m.group(2)) * Quantity.GIGA / BITS,
        m.group(3) == null ? 0 : Integer.parseInt(m.group(3)),
        new Known(Double.NaN, Basis.ASSUMED),
        0,
        1,
        true,
        true,
        false,
        Map.of(),
        List.of(),
        "");
  }
}
