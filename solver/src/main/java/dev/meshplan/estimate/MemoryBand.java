package dev.meshplan.estimate;

/**
 * How far the true value may lie from a prediction whose settings are all known.
 *
 * @param low true / predicted - 1, lower end
 * @param high upper end
 */
public record MemoryBand(double low, double high) {
  public static final MemoryBand ALLOCATOR = new MemoryBand(-0.03, 0.06);
  public static final MemoryBand RESERVED = new MemoryBand(-0.05, 0.12);
  public static final MemoryBand DEVICE = new MemoryBand(-0.10, 0.12);

  /**
   * The band of a reading, set on the measured set where it covers 19 of 20 runs.
   *
   * @param reading allocator, reserved or device
   */
  public static MemoryBand of(String reading) {
    return switch (reading) {
      case "allocator" -> ALLOCATOR;
      case "reserved" -> RESERVED;
      default -> DEVICE;
    };
  }
}
