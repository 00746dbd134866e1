package dev.meshplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The house keeps its floors. */
class ArchitectureTest {
  private static final String ROOT = "dev.meshplan.";
  private static final int MOST_LINES = 300;

  private static final Map<String, Integer> FLOORS =
      Map.ofEntries(
          Map.entry("units", 0),
          Map.entry("config", 0),
          Map.entry("model", 1),
          Map.entry("hardware", 1),
          Map.entry("plan", 2),
          Map.entry("communication", 2),
          Map.entry("estimate", 3),
          Map.entry("rules", 4),
          Map.entry("optimize", 5),
          Map.entry("formats", 5),
          Map.entry("study", 6),
          Map.entry("view", 7),
          Map.entry("cli", 8),
          Map.entry("web", 8));

  private static JavaClasses classes;

  @BeforeAll
  static void read() {
    classes =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.meshplan");
  }

  @Test
  void importsOnlyGoDown() {
    TreeSet<String> wrong = new TreeSet<>();
    for (JavaClass c : classes) {
      String from = floorPackage(c);
      for (Dependency d : c.getDirectDependenciesFromSelf()) {
        String to = floorPackage(d.getTargetClass());
        if (to == null || from == null || from.equals(to)) {
          continue;
        }
        boolean named =
            (from.equals("config") && to.equals("units"))
                || (from.equals("cli") && to.equals("web"));
        if (FLOORS.get(to) >= FLOORS.get(from) && !named) {
          wrong.add(c.getName() + " -> " + d.getTargetClass().getName());
        }
      }
    }
    assertEquals(List.of(), List.copyOf(wrong));
  }

  @Test
  void constraintModelsStayInOptimize() {
    TreeSet<String> wrong = new TreeSet<>();
    for (JavaClass c : classes) {
      for (Dependency d : c.getDirectDependenciesFromSelf()) {
        if (d.getTargetClass().getName().startsWith("com.google.ortools")
            && !"optimize".equals(floorPackage(c))) {
          wrong.add(c.getName());
        }
      }
    }
    assertEquals(List.of(), List.copyOf(wrong));
  }

  @Test
  void everyPackageSaysItsPurpose() throws IOException {
    Path main = sources();
    try (Stream<Path> list = Files.list(main)) {
      for (Path p : list.filter(Files::isDirectory).toList()) {
        assertTrue(FLOORS.containsKey(p.getFileName().toString()), p + " is on no floor");
        assertTrue(Files.exists(p.resolve("package-info.java")), p + " has no package-info");
      }
    }
  }

  @Test
  void filesStayShort() throws IOException {
    TreeSet<String> wrong = new TreeSet<>();
    try (Stream<Path> walk = Files.walk(sources())) {
      for (Path p : walk.filter(f -> f.toString().endsWith(".java")).toList()) {
        long lines = Files.readString(p).lines().count();
        if (lines > MOST_LINES) {
          wrong.add(p.getFileName() + ": " + lines + " lines");
        }
      }
    }
    assertEquals(List.of(), List.copyOf(wrong));
  }

  @Test
  void namesSayWhatThingsAre() {
    for (JavaClass c : classes) {
      String name = c.getSimpleName();
      for (String empty : List.of("Impl", "Manager", "Helper", "Util", "Utils", "Base")) {
        assertTrue(!name.endsWith(empty), name);
      }
    }
  }

  @Test
  void noInterfaceHasASingleImplementation() {
    TreeSet<String> wrong = new TreeSet<>();
    for (JavaClass c : classes) {
      boolean function = c.getMethods().size() == 1;
      if (c.isInterface() && !c.isAnnotation() && !function) {
        if (c.getAllSubclasses().stream().filter(s -> !s.isInterface()).count() == 1) {
          wrong.add(c.getName());
        }
      }
    }
    assertEquals(List.of(), List.copyOf(wrong));
  }

  private static Path sources() {
    return Path.of(System.getProperty("meshplan.root", "."), "solver/src/main/java/dev/meshplan");
  }

  private static String floorPackage(JavaClass c) {
    String name = c.getPackageName();
    if (!name.startsWith(ROOT)) {
      return null;
    }
    String rest = name.substring(ROOT.length());
    return rest.contains(".") ? rest.substring(0, rest.indexOf('.')) : rest;
  }
}
