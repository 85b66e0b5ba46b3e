import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.kafka.common.security.auth.KafkaPrincipal;

/** Answers a line with itself, `jar` with the one that Kafka's clients come from; `hang` and `die` do what they say. The driver's own test. */
public class Echo {
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        String jar = Path.of(KafkaPrincipal.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .getFileName().toString();
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            if (line.equals("hang")) {
                Thread.sleep(Long.MAX_VALUE);
            }
            if (line.equals("die")) {
                System.err.println("as it was told");
                System.exit(3);
            }
            answers.print((line.equals("jar") ? jar : line) + "\n");
            if (!questions.ready()) {
                answers.flush();
            }
        }
        answers.flush();
    }
}
