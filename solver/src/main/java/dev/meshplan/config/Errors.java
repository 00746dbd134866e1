package dev.meshplan.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Collects what is wrong with an input, so that a user sees all of it at once. */
public final class Errors {
  private static final int MOST = 200;
  private final List<InputError> list = new ArrayList<>();

  public void add(InputError error) {
    if (list.size() < MOST && !list.contains(error)) {
      list.add(error);
    }
  }

  public boolean any() {
    return !list.isEmpty();
  }

  /** Number of errors so far: a reader compares it before and after to know whether it failed. */
  public int size() {
    return list.size();
  }

  /** The errors by file and line. */
  public List<InputError> list() {
    List<InputError> sorted = new ArrayList<>(list);
    sorted.sort(Comparator.comparing(InputError::file).thenComparingInt(InputError::line));
    return sorted;
  }

  /**
   * Ends reading when something was wrong.
   *
   * @throws InputException when there is any error
   */
  public void throwIfAny() {
    if (any()) {
      throw new InputException(list());
    }
  }
}
