package dev.meshplan.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One folder of the catalog: YAML files packed in the jar, and those of the user's folder, which
 * win. A file's name is its id; files are read when first asked for.
 */
public final class Library<T> {
  private static final Pattern ALIASES =
      Pattern.compile(
          "(?m)^aliases:[ \\t]*(\\[[^\\]]*\\]|(?:\\n[ \\t]+-[^\\n]*|\\n[ \\t]*-[^\\n]*)+)");

  private final String folder;
  private final String word;
  private final Function<Section, T> reader;
  private final Map<String, String> texts;
  private final Map<String, String> files;
  private final Map<String, T> loaded = new TreeMap<>();
  private Map<String, String> aliases;

  /**
   * @param folder path inside the jar and below the user's catalog folder, such as {@code
   *     hardware/gpus}
   * @param word what one entry is called in messages
   * @param reader reads one file; returns null after adding errors
   * @param userFolder the user's catalog folder, or null
   */
  public Library(String folder, String word, Function<Section, T> reader, Path userFolder) {
    this.folder = folder;
    this.word = word;
    this.reader = reader;
    this.texts = new TreeMap<>();
    this.files = new TreeMap<>();
    packed();
    if (userFolder != null) {
      unpacked(userFolder.resolve(folder));
    }
  }

  /** Ids in order. */
  public List<String> ids() {
    return List.copyOf(texts.keySet());
  }

  /** Alias to id, in order of alias. */
  public Map<String, String> aliases() {
    if (aliases == null) {
      Map<String, String> map = new TreeMap<>();
      texts.forEach((id, text) -> aliasesOf(text).forEach(a -> map.putIfAbsent(a, id)));
      aliases = map;
    }
    return aliases;
  }

  /** Every id and alias. */
  public List<String> names() {
    List<String> names = new ArrayList<>(texts.keySet());
    names.addAll(aliases().keySet());
    return names;
  }

  /** The id that a name stands for, or null. */
  public String id(String name) {
    return texts.containsKey(name) ? name : aliases().get(name);
  }

  /** All entries by id. */
  public Map<String, T> all() {
    Map<String, T> all = new LinkedHashMap<>();
    for (String id : texts.keySet()) {
      all.put(id, load(id));
    }
    return all;
  }

  /**
   * The entry with this id or alias, or the file when the name is a path to one.
   *
   * @return null when {@code report} got an error
   */
  public T get(String name, Errors errors, java.util.function.Consumer<String> report) {
    if (name.endsWith(".yaml") || name.endsWith(".yml")) {
      Section s = YamlReader.read(Path.of(name), errors);
      return s == null ? null : reader.apply(s);
    }
    String id = id(name);
    if (id == null) {
      report.accept(
          "is no "
              + word
              + " of the catalog."
              + Names.hint(name, names())
              + " List them with: meshplan catalog "
              + plural());
      return null;
    }
    return load(id);
  }

  /** The file text of an entry, for showing it as it stands. */
  public String text(String id) {
    return texts.get(id);
  }

  private String plural() {
    return folder.substring(folder.lastIndexOf('/') + 1);
  }

  private T load(String id) {
    T entry = loaded.get(id);
    if (entry == null) {
      Errors errors = new Errors();
      Section s = YamlReader.parse(files.get(id), texts.get(id), errors);
      entry = s == null ? null : reader.apply(s);
      errors.throwIfAny();
      loaded.put(id, entry);
    }
    return entry;
  }

  private static List<String> aliasesOf(String text) {
    Matcher m = ALIASES.matcher(text);
    if (!m.find()) {
      return List.of();
    }
    return Stream.of(m.group(1).split("[\\[\\],\\n]"))
        .map(s -> s.replaceFirst("^\\s*-", "").replaceFirst("\\s#.*", "").replace("\"", "").trim())
        .filter(s -> !s.isEmpty())
        .toList();
  }

  private void unpacked(Path directory) {
    if (!Files.isDirectory(directory)) {
      return;
    }
    try (Stream<Path> list = Files.list(directory)) {
      for (Path p : list.filter(f -> f.toString().endsWith(".yaml")).sorted().toList()) {
        put(p.getFileName().toString(), p.toString(), Files.readString(p));
      }
    } catch (IOException e) {
      throw new InputException(directory.toString(), "", "", "can't be read: " + e.getMessage());
    }
  }

  private void packed() {
    URL url = Library.class.getClassLoader().getResource(folder + "/");
    if (url == null) {
      return;
    }
    try {
      if (!url.getProtocol().equals("jar")) {
        unpacked(Path.of(url.toURI()));
        return;
      }
      String jar = url.getPath().substring(0, url.getPath().indexOf("!/"));
      try (JarFile file = new JarFile(Path.of(new URI(jar)).toFile(), false)) {
        for (Enumeration<JarEntry> e = file.entries(); e.hasMoreElements(); ) {
          JarEntry entry = e.nextElement();
          String name = entry.getName();
          if (name.startsWith(folder + "/")
              && name.endsWith(".yaml")
              && name.indexOf('/', folder.length() + 1) < 0) {
            try (InputStream in = file.getInputStream(entry)) {
              put(
                  name.substring(folder.length() + 1),
                  name,
                  new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private void put(String fileName, String file, String text) {
    String id = fileName.substring(0, fileName.length() - ".yaml".length());
    texts.put(id, text);
    files.put(id, file);
  }
}
