package dev.meshplan.hardware;

/** A link, fabric or layer kind that nobody has measured or modelled: never priced by a default. */
public final class NoCostModel extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The sentence for the user: what has no cost model yet, and what would give it one. */
  public NoCostModel(String sentence) {
    super(sentence);
  }
}
