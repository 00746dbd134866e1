package dev.meshplan.study;

/** The product's version. */
public final class Version {
  private Version() {}

  /** From the jar's manifest, or {@code development} when run from classes. */
  public static String get() {
    String v = Version.class.getPackage().getImplementationVersion();
    return v == null ? "development" : v;
  }
}
