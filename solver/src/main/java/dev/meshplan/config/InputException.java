package dev.meshplan.config;

import java.util.List;
import java.util.stream.Collectors;

/** Bad input: every error of it at once. Becomes exit 2. */
public final class InputException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient List<InputError> errors;

  public InputException(List<InputError> errors) {
    super(errors.stream().map(InputError::toString).collect(Collectors.joining("\n")));
    this.errors = List.copyOf(errors);
  }

  public InputException(String file, String key, String value, String message) {
    this(List.of(new InputError(file, 0, key, value, message)));
  }

  public List<InputError> errors() {
    return errors;
  }
}
