package dev.meshplan.communication;

/** Nothing is known about what this link, network or path costs; the message says which. */
public final class NoCostModel extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NoCostModel(String message) {
    super(message);
  }
}
