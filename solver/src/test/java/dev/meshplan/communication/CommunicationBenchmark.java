package dev.meshplan.communication;

import java.lang.management.ManagementFactory;
import java.util.Locale;

/**
 * Processor time of one question, asked for the first time and again. A program to run by hand, not
 * a test: tests never time.
 */
final class CommunicationBenchmark {
  private static final int QUESTIONS = 300_000;
  private static final int REPEATED = 5_000;
  private static final int ROUNDS = 400;

  private CommunicationBenchmark() {}

  public static void main(String[] args) {
    for (String system :
        new String[] {"hgx-h100", "gb200-nvl72", "mi300x-8", "dgx-1-v100", "l40s-pcie-8"}) {
      Group[] groups = groups(Machines.system(system).domain().size());
      Communication warm = Machines.of(system, "ndr-400g");
      double sum = ask(warm, groups, QUESTIONS, 1e3);
      Communication cold = Machines.of(system, "ndr-400g");
      long start = now();
      sum += ask(cold, groups, QUESTIONS, 5e6);
      double first = (now() - start) / (double) QUESTIONS;
      Communication asked = Machines.of(system, "ndr-400g");
      sum += ask(asked, groups, REPEATED, 7e6);
      start = now();
      for (int i = 0; i < ROUNDS; i++) {
        sum += ask(asked, groups, REPEATED, 7e6);
      }
      double again = (now() - start) / ((double) ROUNDS * REPEATED);
      System.out.printf(
          Locale.ROOT, "%-12s first %6.0f ns, again %5.1f ns (%.3g)%n", system, first, again, sum);
    }
  }

  private static Group[] groups(int domain) {
    return new Group[] {
      Group.of(2, Math.min(2, domain)),
      Group.of(8, Math.min(8, domain)),
      Group.of(64, Math.min(8, domain)),
      Group.of(128, 1),
      Group.of(512, Math.min(8, domain))
    };
  }

  private static double ask(Communication c, Group[] groups, int questions, double bytes) {
    Collective[] all = Collective.values();
    double sum = 0;
    for (int i = 0; i < questions; i++) {
      sum += c.seconds(all[i % all.length], bytes + 4096.0 * i, groups[i % groups.length]);
    }
    return sum;
  }

  private static long now() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
