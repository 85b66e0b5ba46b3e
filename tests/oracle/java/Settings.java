import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;

/**
 * Answers how an authorizer reads `super.users` and `allow.everyone.if.no.acl.found`.
 *
 * <p>A line is the engine and the two texts in percent encoding, or `-` for a setting that is absent. The answer is
 * `refused`, or true or false and the super users in order, each in percent encoding, with spaces between.
 */
public class Settings {
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split(" ", -1);
            Map<String, Object> settings = new HashMap<>();
            put(settings, "super.users", fields[1]);
            put(settings, "allow.everyone.if.no.acl.found", fields[2]);
            String answer;
            try {
                answer = fields[0].equals("standard") ? standard(settings) : acl(settings);
            } catch (InvocationTargetException refused) {
                answer = "refused";
            }
            answers.print(answer + "\n");
            if (!lines.ready()) {
                answers.flush();
            }
        }
        answers.flush();
    }

    private static void put(Map<String, Object> settings, String key, String field) {
        if (!field.equals("-")) {
            settings.put(key, java.net.URLDecoder.decode(field, StandardCharsets.UTF_8));
        }
    }

    private static String standard(Map<String, Object> settings) throws Exception {
        Class<?> kind = Class.forName("org.apache.kafka.metadata.authorizer.StandardAuthorizer");
        Object made = kind.getConstructor().newInstance();
        kind.getMethod("configure", Map.class).invoke(made, settings);
        Method superUsers = kind.getDeclaredMethod("superUsers");
        Method defaultResult = kind.getDeclaredMethod("defaultResult");
        superUsers.setAccessible(true);
        defaultResult.setAccessible(true);
        Object[] users = ((java.util.Set<?>) superUsers.invoke(made)).toArray();
        return told(defaultResult.invoke(made).toString().equals("ALLOWED"), users);
    }

    /** It goes on to look for ZooKeeper, of which nothing is said here; by then it has read both settings. */
    private static String acl(Map<String, Object> settings) throws Exception {
        Class<?> kind = Class.forName("kafka.security.authorizer.AclAuthorizer");
        Object made = kind.getConstructor().newInstance();
        try {
            kind.getMethod("configure", Map.class).invoke(made, settings);
            throw new IllegalStateException("it did not miss its ZooKeeper");
        } catch (InvocationTargetException error) {
            if (!(error.getCause() instanceof ConfigException)) {
                return "refused";
            }
        }
        Field superUsers = kind.getDeclaredField("superUsers");
        Field allowEveryone = kind.getDeclaredField("shouldAllowEveryoneIfNoAclIsFound");
        superUsers.setAccessible(true);
        allowEveryone.setAccessible(true);
        Object java = Class.forName("scala.jdk.javaapi.CollectionConverters")
            .getMethod("asJava", Class.forName("scala.collection.Set")).invoke(null, superUsers.get(made));
        return told(allowEveryone.getBoolean(made), ((java.util.Set<?>) java).toArray());
    }

    private static String told(boolean allowEveryone, Object[] users) {
        StringBuilder answer = new StringBuilder(Boolean.toString(allowEveryone));
        Arrays.stream(users)
            .map(user -> java.net.URLEncoder.encode(user.toString(), StandardCharsets.UTF_8))
            .sorted()
            .forEach(user -> answer.append(' ').append(user));
        return answer.toString();
    }
}
