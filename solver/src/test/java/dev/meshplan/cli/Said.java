package dev.meshplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;

/** What a command said, on both streams, and its exit code. */
record Said(int code, String text) {
  static Said run(String... args) {
    StringWriter out = new StringWriter();
    int code = Main.run(new PrintWriter(out, true), new PrintWriter(out, true), args);
    return new Said(code, out.toString());
  }

  Said holds(String... parts) {
    for (String p : parts) {
      assertTrue(text.contains(p), p + " is not in:\n" + text);
    }
    return this;
  }

  Said lacks(String part) {
    assertFalse(text.contains(part), text);
    return this;
  }

  Said code(int expected) {
    assertEquals(expected, code, text);
    return this;
  }
}
