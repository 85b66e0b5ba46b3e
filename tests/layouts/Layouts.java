import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TimeZone;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.DefaultConfiguration;
import org.apache.logging.log4j.core.impl.Log4jLogEvent;
import org.apache.logging.log4j.core.layout.AbstractStringLayout;
import org.apache.logging.log4j.core.layout.JsonLayout;
import org.apache.logging.log4j.core.layout.PatternLayout;
import org.apache.logging.log4j.core.layout.Rfc5424Layout;
import org.apache.logging.log4j.core.layout.SyslogLayout;
import org.apache.logging.log4j.core.net.Facility;
import org.apache.logging.log4j.core.time.MutableInstant;
import org.apache.logging.log4j.layout.template.json.JsonTemplateLayout;
import org.apache.logging.log4j.message.SimpleMessage;

/** Writes the same events by each layout of log4j 2 and reload4j: Layouts CASES LAYOUTS OUT, all JSON lines but the last. */
public class Layouts {
  record Case(long millis, String level, String logger, String thread, String message) {}

  public static void main(String[] given) throws Exception {
    TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
    ObjectMapper json = new ObjectMapper();
    List<Case> cases = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of(given[0]))) {
      JsonNode one = json.readTree(line);
      cases.add(new Case(one.get("millis").asLong(), one.get("level").asText(), one.get("logger").asText(),
          one.get("thread").asText(), one.get("message").asText()));
    }
    for (String line : Files.readAllLines(Path.of(given[1]))) {
      JsonNode one = json.readTree(line);
      try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(given[2], one.get("file").asText())))) {
        write(one.get("kind").asText(), one.get("option").asText(), cases, out);
      }
    }
  }

  static void write(String kind, String option, List<Case> cases, OutputStream out) throws Exception {
    if (kind.equals("reload4j")) {
      org.apache.log4j.PatternLayout layout = new org.apache.log4j.PatternLayout(option);
      for (Case one : cases) {
        org.apache.log4j.Logger logger = org.apache.log4j.Logger.getLogger(one.logger);
        out.write(layout.format(new org.apache.log4j.spi.LoggingEvent("x", logger, one.millis,
            org.apache.log4j.Level.toLevel(one.level), one.message, one.thread, null, null, null, null))
            .getBytes(StandardCharsets.UTF_8));
      }
      return;
    }
    Configuration configuration = new DefaultConfiguration();
    AbstractStringLayout layout = null;
    JsonTemplateLayout template = null;
    switch (kind) {
      case "pattern" -> layout = PatternLayout.newBuilder().withPattern(option).withConfiguration(configuration)
          .withCharset(StandardCharsets.UTF_8).build();
      case "json" -> layout = JsonLayout.newBuilder().setConfiguration(configuration)
          .setCompact(option.equals("compact")).setEventEol(true).setCharset(StandardCharsets.UTF_8).build();
      case "template" -> template = JsonTemplateLayout.newBuilder().setConfiguration(configuration)
          .setMaxStringLength(1 << 20).setEventTemplateUri("classpath:" + option).build();
      case "syslog3164" -> layout = SyslogLayout.newBuilder().setFacility(Facility.LOCAL0).setIncludeNewLine(true)
          .setCharset(StandardCharsets.UTF_8).build();
      case "syslog5424" -> layout = Rfc5424Layout.createLayout(Facility.LOCAL0, "Audit", 18060, true, "RequestContext", null,
          null, true, null, "kafka", "Audit", null, null, null, null, false, null, configuration);
      default -> throw new IllegalArgumentException(kind);
    }
    // What a broker writes to a log of the system is a record of its own layout.
    PatternLayout inner = PatternLayout.newBuilder().withPattern("[%d] %p %m (%c)").withConfiguration(configuration).build();
    for (Case one : cases) {
      LogEvent event = event(one, one.message);
      if (kind.startsWith("syslog")) {
        event = event(one, inner.toSerializable(event));
      }
      byte[] bytes = template == null ? layout.toByteArray(event) : template.toByteArray(event);
      out.write(bytes);
    }
  }

  static LogEvent event(Case one, String message) {
    MutableInstant instant = new MutableInstant();
    instant.initFromEpochMilli(one.millis, 0);
    return Log4jLogEvent.newBuilder().setLoggerName(one.logger).setLevel(Level.valueOf(one.level)).setInstant(instant)
        .setMessage(new SimpleMessage(message)).setThreadName(one.thread).setLoggerFqcn("x").build();
  }
}
