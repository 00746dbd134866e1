package dev.meshplan.study;

/** Why a measured run cannot be priced. */
final class Unpriced extends Exception {
  private static final long serialVersionUID = 1L;

  Unpriced(String reason) {
    super(reason);
  }
}
