package dev.meshplan.config;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.util.StringQuotingChecker;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.regex.Pattern;

/** Records as JSON or YAML text: snake_case keys, the same bytes on every JDK. */
public final class Text {
  private static final ObjectMapper JSON = configure(new ObjectMapper());
  private static final ObjectMapper YAML =
      configure(
          new ObjectMapper(
              YAMLFactory.builder()
                  .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
                  .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
                  .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
                  .disable(YAMLGenerator.Feature.SPLIT_LINES)
                  .stringQuotingChecker(new Quotes())
                  .build()));

  private Text() {}

  /** Quotes what YAML readers of any version take for a number, a date or the end of a line. */
  private static final class Quotes extends StringQuotingChecker.Default {
    private static final long serialVersionUID = 1;
    private static final Pattern NUMBER =
        Pattern.compile(
            "[-+]?(\\.[0-9_]+|[0-9][0-9_]*(\\.[0-9_]*)?)([eE][-+]?[0-9]+)?"
                + "|[-+]?0[xob][0-9a-fA-F_]+|[-+]?[0-9_]+(:[0-5]?[0-9])+(\\.[0-9_]*)?"
                + "|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)"
                + "|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?");

    @Override
    public boolean needToQuoteValue(String value) {
      return super.needToQuoteValue(value)
          || NUMBER.matcher(value).matches()
          || value.codePoints().anyMatch(Quotes::unprintable);
    }

    private static boolean unprintable(int c) {
      return Character.isISOControl(c) || c == 0x2028 || c == 0x2029 || c == 0xFEFF;
    }
  }

  /** Indented JSON with a final newline. */
  public static String json(Object record) {
    try {
      DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
      DefaultIndenter indenter = new DefaultIndenter("  ", "\n");
      printer.indentArraysWith(indenter);
      printer.indentObjectsWith(indenter);
      return JSON.writer(printer).writeValueAsString(record) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** YAML with a final newline. */
  public static String yaml(Object record) {
    try {
      return YAML.writeValueAsString(record);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Reads a record back from the JSON or YAML that this class wrote.
   *
   * @throws InputException located, when the text does not hold such a record
   */
  public static <T> T read(String file, String text, Class<T> type) {
    try {
      return YAML.readValue(text, type);
    } catch (JsonProcessingException e) {
      int line = e.getLocation() == null ? 0 : Math.max(0, e.getLocation().getLineNr());
      String message = e.getOriginalMessage();
      int end = message.indexOf('\n');
      throw new InputException(
          java.util.List.of(
              new InputError(
                  file,
                  line,
                  "",
                  "",
                  "does not hold a "
                      + type.getSimpleName().toLowerCase(java.util.Locale.ROOT)
                      + ": "
                      + (end < 0 ? message : message.substring(0, end)))));
    }
  }

  private static ObjectMapper configure(ObjectMapper mapper) {
    SimpleModule module = new SimpleModule();
    module.addSerializer(Double.class, new Rounded(Double.class));
    module.addSerializer(Double.TYPE, new Rounded(Double.TYPE));
    module.addDeserializer(Double.TYPE, new Unknown());
    return mapper
        .registerModule(module)
        .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .setDefaultPropertyInclusion(JsonInclude.Include.ALWAYS)
        .configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, true);
  }

  /** What was written as null because nobody knows it is read back as unknown, not as zero. */
  private static final class Unknown extends StdDeserializer<Double> {
    private static final long serialVersionUID = 1L;

    Unknown() {
      super(Double.TYPE);
    }

    @Override
    public Double deserialize(JsonParser in, DeserializationContext context) throws IOException {
      return in.getValueAsDouble();
    }

    @Override
    public Double getNullValue(DeserializationContext context) {
      return Double.NaN;
    }
  }

  /**
   * Ten significant digits: enough to work with, and equal on JDKs that print doubles otherwise.
   */
  private static final class Rounded extends StdSerializer<Double> {
    private static final long serialVersionUID = 1L;
    private static final MathContext DIGITS = new MathContext(10, RoundingMode.HALF_EVEN);

    Rounded(Class<Double> type) {
      super(type);
    }

    @Override
    public void serialize(Double value, JsonGenerator out, SerializerProvider provider)
        throws IOException {
      if (value.isNaN() || value.isInfinite()) {
        out.writeNull();
        return;
      }
      BigDecimal d = new BigDecimal(value).round(DIGITS).stripTrailingZeros();
      out.writeNumber(
          d.scale() <= 0 && d.precision() - d.scale() <= 18 ? d.setScale(0).toString() : plain(d));
    }

    private static String plain(BigDecimal d) {
      return Math.abs(d.precision() - d.scale()) <= 18 ? d.toPlainString() : d.toString();
    }
  }
}
