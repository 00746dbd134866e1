package dev.meshplan.view;

import dev.meshplan.communication.CollectiveCost;
import dev.meshplan.units.Quantity;
import java.util.List;
import java.util.Locale;

/** Bus bandwidth over message size as an SVG picture. */
public final class CollectiveCurve {
  private static final int WIDTH = 760;
  private static final int HEIGHT = 420;
  private static final int LEFT = 80;
  private static final int RIGHT = 30;
  private static final int TOP = 50;
  private static final int BOTTOM = 60;
  private static final int ROWS = 5;

  private CollectiveCurve() {}

  /**
   * The picture; where the algorithm changes, its name stands at the point.
   *
   * @param costs by rising size, at least two
   * @param title one line above
   */
  public static String of(List<CollectiveCost> costs, String title) {
    double first = log(costs.get(0).bytes());
    double last = log(costs.get(costs.size() - 1).bytes());
    double most = costs.stream().mapToDouble(CollectiveCost::busBandwidth).max().orElse(1);
    double top = niceCeiling(most);
    StringBuilder s = new StringBuilder();
    s.append(
        text(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\""
                + " font-family=\"system-ui, sans-serif\" font-size=\"12\">\n",
            WIDTH, HEIGHT));
    s.append(text("<title>%s</title>\n", escape(title)));
    s.append(text("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH, HEIGHT));
    s.append(text("<text x=\"%d\" y=\"28\" font-size=\"15\">%s</text>\n", LEFT, escape(title)));
    for (int i = 0; i <= ROWS; i++) {
      double y = y(top * i / ROWS, top);
      s.append(
          text(
              "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n",
              LEFT, WIDTH - RIGHT, y, y));
      s.append(
          text(
              "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
              LEFT - 8, y + 4, Quantity.bandwidth(top * i / ROWS)));
    }
    for (int i = 0; i < costs.size(); i += Math.max(1, costs.size() / 6)) {
      double x = x(log(costs.get(i).bytes()), first, last);
      s.append(
          text(
              "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
              x, HEIGHT - BOTTOM + 20, Quantity.bytes(costs.get(i).bytes())));
    }
    s.append("<polyline fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\" points=\"");
    for (CollectiveCost c : costs) {
      s.append(text("%.1f,%.1f ", x(log(c.bytes()), first, last), y(c.busBandwidth(), top)));
    }
    s.append("\"/>\n");
    String before = "";
    int label = 0;
    for (CollectiveCost c : costs) {
      if (!c.algorithm().equals(before)) {
        double x = x(log(c.bytes()), first, last);
        double y = y(c.busBandwidth(), top);
        s.append(text("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#1f5fa8\"/>\n", x, y));
        double at = Math.max(TOP + 10.0, y - 10 - 14 * (label % 2));
        s.append(
            text(
                "<text x=\"%.1f\" y=\"%.1f\" fill=\"#1f5fa8\">%s</text>\n",
                Math.min(x + 6, WIDTH - RIGHT - 120.0), at, escape(c.algorithm())));
        before = c.algorithm();
        label++;
      }
    }
    s.append(
        text(
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">size of the collective</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14));
    return s.append("</svg>\n").toString();
  }

  private static double log(double bytes) {
    return StrictMath.log(bytes);
  }

  private static double x(double log, double first, double last) {
    return LEFT + (WIDTH - LEFT - RIGHT) * (log - first) / Math.max(1e-9, last - first);
  }

  private static double y(double value, double top) {
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top;
  }

  private static double niceCeiling(double value) {
    double power = StrictMath.pow(10, Math.floor(StrictMath.log10(value)));
    for (double step : new double[] {1, 2, 2.5, 5, 10}) {
      if (step * power >= value) {
        return step * power;
      }
    }
    return 10 * power;
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  private static String escape(String s) {
    return s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
