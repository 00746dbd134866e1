package dev.meshplan.cli;

import dev.meshplan.config.InputException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Where and how a command's result goes: text or JSON, standard output or a file. */
final class Output {
  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "Write to a file; .json and .yaml choose the format.")
  private Path output;

  boolean json() {
    return json || (output != null && output.toString().endsWith(".json"));
  }

  boolean yaml() {
    return output != null && output.toString().endsWith(".yaml");
  }

  /** Writes the result. */
  void write(PrintWriter out, String text) {
    if (output == null) {
      out.print(text);
      out.flush();
      return;
    }
    try {
      Files.writeString(output, text);
    } catch (IOException e) {
      throw new InputException("-o", "", output.toString(), "can't be written: " + e.getMessage());
    }
  }
}
