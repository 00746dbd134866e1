package dev.meshplan.hardware;

import dev.meshplan.config.Keyed;
import dev.meshplan.config.Section;
import dev.meshplan.units.Dimension;
import java.util.List;

/**
 * A price for a system.
 *
 * @param id file name without {@code .yaml}
 * @param aliases other names
 * @param name what is offered
 * @param system id of the system
 * @param kind rent by the hour, or purchase (per GPU, then {@code low..high} are dollars a GPU)
 * @param low low price, US dollars per GPU-hour (rent) or per GPU (purchase)
 * @param base the price to plan with
 * @param high high price
 * @param date when it was seen
 * @param trust high, medium, low
 */
public record Offer(
    String id,
    List<String> aliases,
    String name,
    String system,
    Kind kind,
    double low,
    double base,
    double high,
    String date,
    String trust,
    List<String> sources,
    String notes) {

  /** What is paid for. */
  public enum Kind implements Keyed {
    RENT,
    PURCHASE
  }

  /** Reads an offer file; null when {@code s.errors()} got something. */
  public static Offer read(Section s) {
    int before = s.errors().size();
    Kind kind = s.choice("kind", Kind.class);
    Dimension d = kind == Kind.RENT ? Dimension.DOLLARS_PER_GPU_HOUR : Dimension.DOLLARS;
    double base = s.quantity("base", d);
    Offer o =
        new Offer(
            s.text("id"),
            s.texts("aliases"),
            s.text("name"),
            s.text("system"),
            kind,
            s.quantity("low", d, base),
            base,
            s.quantity("high", d, base),
            s.text("date"),
            s.text("trust", "medium"),
            GpuReader.sources(s),
            s.text("notes", ""));
    if (o.low() > o.base() || o.base() > o.high()) {
      s.error("base", "must lie between low and high.");
    }
    s.finish();
    return s.errors().size() > before ? null : o;
  }
}
