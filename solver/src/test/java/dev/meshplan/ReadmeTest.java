package dev.meshplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.meshplan.cli.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What README.md shows is what the commands print. */
class ReadmeTest {
  private static final Path ROOT = Path.of(System.getProperty("meshplan.root", "."));
  private static final Pattern BLOCK =
      Pattern.compile("(?s)```console\\n\\$ solver/bin/meshplan ([^\\n]*)\\n(.*?)```");

  @Test
  void everyShownOutputIsWhatTheCommandPrints() throws IOException {
    Path file = ROOT.resolve("README.md");
    String readme = Files.readString(file);
    StringBuilder fresh = new StringBuilder();
    Matcher m = BLOCK.matcher(readme);
    int end = 0;
    int blocks = 0;
    while (m.find()) {
      fresh.append(readme.substring(end, m.start(2))).append(output(m.group(1)));
      end = m.end(2);
      blocks++;
    }
    fresh.append(readme.substring(end));
    assertTrue(blocks >= 2, "README shows real output");
    if ("write".equals(System.getProperty("meshplan.golden"))) {
      Files.writeString(file, fresh.toString());
    }
    assertEquals(Files.readString(file), fresh.toString());
  }

  private static String output(String line) {
    List<String> args = new ArrayList<>();
    for (String word : line.trim().split(" +")) {
      args.add(
          word.startsWith("plans/") || word.startsWith("solver/")
              ? ROOT.resolve(word).toString()
              : word);
    }
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Main.run(new PrintWriter(out), new PrintWriter(err), args.toArray(String[]::new));
    assertEquals("", err.toString());
    return out.toString();
  }
}
