package dev.meshplan.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads one YAML (or JSON) document into located nodes. Refuses what could hide or explode data.
 */
public final class YamlReader {
  private static final int MAX_CHARACTERS = 4 << 20;
  private static final int MAX_DEPTH = 40;
  private static final YAMLFactory FACTORY = factory();

  private final String file;
  private final Errors errors;
  private final YAMLParser parser;

  private YamlReader(String file, Errors errors, YAMLParser parser) {
    this.file = file;
    this.errors = errors;
    this.parser = parser;
  }

  /** Reads a file; its problems are added to {@code errors}. Returns null when it can't be read. */
  public static Section read(Path path, Errors errors) {
    String name = path.toString();
    try {
      if (Files.isDirectory(path)) {
        errors.add(new InputError(name, 0, "", "", "is a folder, not a file."));
        return null;
      }
      if (Files.size(path) > 4L * MAX_CHARACTERS) {
        errors.add(new InputError(name, 0, "", "", tooLarge()));
        return null;
      }
      return parse(name, Files.readString(path), errors);
    } catch (java.nio.charset.MalformedInputException e) {
      errors.add(new InputError(name, 0, "", "", "is not UTF-8 text."));
    } catch (java.nio.file.NoSuchFileException e) {
      errors.add(new InputError(name, 0, "", "", "no such file."));
    } catch (IOException e) {
      errors.add(new InputError(name, 0, "", "", "can't be read: " + e.getMessage()));
    }
    return null;
  }

  /** Parses a text; {@code file} names it in messages. Returns null when it has no top mapping. */
  public static Section parse(String file, String text, Errors errors) {
    if (text.length() > MAX_CHARACTERS) {
      errors.add(new InputError(file, 0, "", "", tooLarge()));
      return null;
    }
    try (YAMLParser parser = FACTORY.createParser(text)) {
      YamlReader reader = new YamlReader(file, errors, parser);
      JsonToken first = parser.nextToken();
      if (first == null) {
        errors.add(new InputError(file, 1, "", "", "is empty."));
        return null;
      }
      YamlNode node = reader.node(first, 0);
      if (parser.nextToken() != null) {
        reader.error("holds more than one document; keep the first and move the rest away.");
      }
      if (node instanceof YamlNode.Mapping mapping) {
        return new Section(file, "", mapping, errors);
      }
      if (node != null) {
        errors.add(
            new InputError(file, node.line(), "", "", "must be a mapping of keys to values."));
      }
    } catch (JsonProcessingException e) {
      int line = e.getLocation() == null ? 0 : Math.max(0, e.getLocation().getLineNr());
      errors.add(new InputError(file, line, "", "", "is not valid YAML: " + firstLine(e)));
    } catch (IOException e) {
      errors.add(new InputError(file, 0, "", "", "can't be read: " + e.getMessage()));
    }
    return null;
  }

  private YamlNode node(JsonToken token, int depth) throws IOException {
    int line = line();
    if (depth > MAX_DEPTH) {
      error("is nested deeper than " + MAX_DEPTH + " levels.");
      parser.skipChildren();
      return null;
    }
    if (parser.isCurrentAlias() || parser.getObjectId() != null) {
      error("uses an anchor or alias (& or *); write the value out.");
    }
    return switch (token) {
      case START_OBJECT -> mapping(line, depth);
      case START_ARRAY -> sequence(line, depth);
      default ->
          new YamlNode.Scalar(
              line,
              token == JsonToken.VALUE_NULL ? "" : parser.getText(),
              token == JsonToken.VALUE_NULL);
    };
  }

  private YamlNode mapping(int line, int depth) throws IOException {
    Map<String, YamlNode> entries = new LinkedHashMap<>();
    Map<String, Integer> lines = new LinkedHashMap<>();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String key = parser.currentName();
      int keyLine = line();
      JsonToken next = parser.nextToken();
      YamlNode value = node(next, depth + 1);
      if (lines.containsKey(key)) {
        errors.add(
            new InputError(
                file,
                keyLine,
                key,
                "",
                "is given twice (first on line " + lines.get(key) + "); keep one."));
      } else {
        lines.put(key, keyLine);
        if (value != null) {
          entries.put(key, value);
        }
      }
    }
    return new YamlNode.Mapping(line, entries, lines);
  }

  private YamlNode sequence(int line, int depth) throws IOException {
    List<YamlNode> items = new ArrayList<>();
    for (JsonToken t = parser.nextToken();
        t != null && t != JsonToken.END_ARRAY;
        t = parser.nextToken()) {
      YamlNode item = node(t, depth + 1);
      if (item != null) {
        items.add(item);
      }
    }
    return new YamlNode.Sequence(line, items);
  }

  private int line() {
    return parser.currentTokenLocation().getLineNr();
  }

  private void error(String message) {
    errors.add(new InputError(file, line(), "", "", message));
  }

  private static String firstLine(JsonProcessingException e) {
    String message = e.getOriginalMessage();
    int end = message.indexOf('\n');
    return end < 0 ? message : message.substring(0, end);
  }

  private static String tooLarge() {
    return "is larger than " + (MAX_CHARACTERS >> 20) + " MiB; that is no request or catalog file.";
  }

  private static YAMLFactory factory() {
    org.yaml.snakeyaml.LoaderOptions options = new org.yaml.snakeyaml.LoaderOptions();
    options.setCodePointLimit(2 * MAX_CHARACTERS);
    options.setNestingDepthLimit(2 * MAX_DEPTH);
    return YAMLFactory.builder()
        .loaderOptions(options)
        .enable(com.fasterxml.jackson.core.StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
        .build();
  }
}
