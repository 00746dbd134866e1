package dev.meshplan.study;

import dev.meshplan.estimate.EraProfile;
import dev.meshplan.estimate.StepConstants;
import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Known;
import dev.meshplan.hardware.Precision;
import dev.meshplan.plan.Era;
import dev.meshplan.plan.Machine;
import dev.meshplan.units.Basis;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Values of the constants that are fitted, by name, and what the estimator becomes with them. */
final class FitConstants {
  private static final Map<String, List<String>> GENERATIONS =
      Map.of(
          "A", List.of("a100-sxm-80", "a100-sxm-40", "a800-sxm-80"),
          "H", List.of("h100-sxm", "h200-sxm", "h800-sxm", "h100-96-500w"),
          "B", List.of("b200-sxm"),
          "C", List.of("b300-sxm"),
          "G", List.of("gb200", "gb300"));

  /**
   * One constant.
   *
   * @param prior value before the fit: of the rule for new GPUs, or of the nearest other stack
   * @param sigma how far it may lie from it, a share
   * @param targets places that hold it: {@code c.path}, {@code e.ERA.field}, {@code g.X.field}
   */
  record Constant(String name, double prior, double sigma, List<String> targets) {
    boolean concerns(RunReplay r) {
      for (String t : targets) {
        String[] k = t.split("\\.", 3);
        if (k[0].equals("c")
            || (k[0].equals("e") && r.training().era().name().equals(k[1]))
            || (k[0].equals("g") && GENERATIONS.get(k[1]).contains(r.machine().gpu().id()))) {
          return true;
        }
      }
      return false;
    }
  }

  private StepConstants constants = StepConstants.SHIPPED;
  private final Map<Era, EraProfile> eras = new EnumMap<>(Era.class);
  private final Map<String, Map<String, Double>> gpus = new HashMap<>();

  FitConstants(List<Constant> list, double[] values) {
    for (Era e : Era.values()) {
      eras.put(e, EraProfile.of(e));
    }
    for (int i = 0; i < values.length; i++) {
      for (String t : list.get(i).targets()) {
        String[] k = t.split("\\.", 3);
        switch (k[0]) {
          case "c" -> constants = (StepConstants) with(constants, t.substring(2), values[i]);
          case "e" -> {
            Era era = Era.valueOf(k[1]);
            eras.put(era, (EraProfile) with(eras.get(era), k[2], values[i]));
          }
          default -> gpus.computeIfAbsent(k[1], x -> new TreeMap<>()).put(k[2], values[i]);
        }
      }
    }
  }

  static List<Constant> list() {
    List<Constant> list = new ArrayList<>();
    for (String line : MeasuredRuns.text("step_time_priors.csv").lines().skip(1).toList()) {
      String[] c = line.split(",", -1);
      list.add(
          new Constant(
              c[0],
              Double.parseDouble(c[1]),
              Double.parseDouble(c[2]),
              List.of(c[3].split(" ", -1))));
    }
    return list;
  }

  double seconds(RunReplay r) {
    Machine m =
        new Machine(
            r.machine().pool(),
            r.machine().system(),
            gpu(r.machine().gpu()),
            r.machine().network());
    return new RunReplay(
            r.model(),
            m,
            r.training(),
            r.candidate(),
            r.layout(),
            r.spread(),
            r.usualPort(),
            r.communication(),
            r.flushes(),
            r.assumed())
        .time(eras.get(r.training().era()), constants)
        .seconds(r.candidate(), r.layout(), r.spread(), r.flushes());
  }

  private Gpu gpu(Gpu g) {
    for (var generation : GENERATIONS.entrySet()) {
      if (generation.getValue().contains(g.id())) {
        Gpu.Efficiency e = g.efficiency();
        Map<Precision, Known> gemm = new EnumMap<>(e.gemm());
        for (var value : gpus.getOrDefault(generation.getKey(), Map.of()).entrySet()) {
          if (value.getKey().startsWith("gemm.")) {
            Precision p = Precision.valueOf(value.getKey().substring(5));
            Known k = new Known(value.getValue(), Basis.FITTED);
            gemm.replace(p, k);
            if (p == Precision.BF16) {
              gemm.replace(Precision.FP16, k);
            }
          } else {
            e = (Gpu.Efficiency) with(e, value.getKey(), value.getValue());
          }
        }
        return (Gpu)
            replaced(
                g,
                "efficiency",
                new Gpu.Efficiency(
                    gemm,
                    e.attention(),
                    e.attentionFlash2(),
                    e.kHalf(),
                    e.mHalf(),
                    e.memory(),
                    e.bestGemm()));
      }
    }
    return g;
  }

  /** The record with one number deep inside it changed. */
  private static Object with(Object record, String path, double value) {
    int dot = path.indexOf('.');
    String head = dot < 0 ? path : path.substring(0, dot);
    Object old = component(record, head);
    Object now =
        dot >= 0
            ? with(old, path.substring(dot + 1), value)
            : old instanceof Known ? new Known(value, Basis.FITTED) : (Object) value;
    return replaced(record, head, now);
  }

  private static Object component(Object record, String name) {
    try {
      for (RecordComponent c : record.getClass().getRecordComponents()) {
        if (c.getName().equals(name)) {
          return c.getAccessor().invoke(record);
        }
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
    throw new IllegalArgumentException(name);
  }

  private static Object replaced(Object record, String name, Object value) {
    try {
      RecordComponent[] components = record.getClass().getRecordComponents();
      Class<?>[] types = new Class<?>[components.length];
      Object[] values = new Object[components.length];
      for (int i = 0; i < components.length; i++) {
        types[i] = components[i].getType();
        values[i] =
            components[i].getName().equals(name)
                ? value
                : components[i].getAccessor().invoke(record);
      }
      Constructor<?> constructor = record.getClass().getDeclaredConstructor(types);
      return constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
