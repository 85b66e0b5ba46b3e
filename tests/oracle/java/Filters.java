import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;

/**
 * Answers what Kafka's own AclBinding, AclBindingFilter and AdminClient say, one line for one line.
 *
 * Fields are parted by a space; a text is base64 of its UTF-8, "-" is null and "=" is empty.
 *
 *   acl TYPE NAME PATTERN PRINCIPAL HOST OPERATION PERMISSION    remembered under the next number, from 0: "ok", or the error
 *   filter (the same seven)         unknown, matches at most one, indefinite field, numbers of the remembered ACLs that match
 *   create (the same seven)         what AdminClient.createAcls refuses without sending: class and text, or "sent"
 *   list (the same seven)           what AdminClient.describeAcls refuses without sending
 *   exact NUMBER                    the numbers that the remembered ACL's own filter matches
 *   range TEXT                      what the broker says of the host TEXT with a slash: "ok" or its text
 *   controller YES|NO (the seven)   what a KRaft controller says, its metadata version knowing ranges or not: "ok", or class and text
 *   word KIND CODE                  what this version calls a code: KIND is resource, pattern, operation or permission
 *   forget                          forgets all ACLs
 */
public final class Filters {
    private static final java.util.ArrayList<AclBinding> BINDINGS = new java.util.ArrayList<>();
    private static Admin admin;
    private static Method range;
    private static Method validation;

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.print(answer(line.split(" ")));
            answers.print('\n');
            if (!lines.ready()) {
                answers.flush();
            }
        }
        answers.flush();
    }

    private static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "acl":
                try {
                    BINDINGS.add(binding(words));
                    return "ok";
                } catch (IllegalArgumentException | NullPointerException error) {
                    return told(error);
                }
            case "filter":
                return filtered(filter(words));
            case "create":
                return created(words);
            case "list":
                return listed(words);
            case "exact":
                return matching(BINDINGS.get(Integer.parseInt(words[1])).toFilter());
            case "range":
                return ranged(text(words[1]));
            case "controller":
                return controlled(words);
            case "word":
                return word(words[1], Byte.parseByte(words[2]));
            case "forget":
                BINDINGS.clear();
                return "ok";
            default:
                throw new IllegalStateException("no such question: " + words[0]);
        }
    }

    private static AclBinding binding(String[] words) {
        return new AclBinding(
            new ResourcePattern(ResourceType.valueOf(words[1]), text(words[2]), PatternType.valueOf(words[3])),
            new AccessControlEntry(
                text(words[4]), text(words[5]), AclOperation.valueOf(words[6]), AclPermissionType.valueOf(words[7])));
    }

    private static AclBindingFilter filter(String[] words) {
        return new AclBindingFilter(
            new ResourcePatternFilter(ResourceType.valueOf(words[1]), text(words[2]), PatternType.valueOf(words[3])),
            new AccessControlEntryFilter(
                text(words[4]), text(words[5]), AclOperation.valueOf(words[6]), AclPermissionType.valueOf(words[7])));
    }

    private static String filtered(AclBindingFilter filter) {
        String indefinite = filter.findIndefiniteField();
        return filter.isUnknown() + "|" + filter.matchesAtMostOne() + "|" + (indefinite == null ? "" : indefinite) + "|"
            + matching(filter);
    }

    private static String matching(AclBindingFilter filter) {
        StringBuilder found = new StringBuilder();
        for (int number = 0; number < BINDINGS.size(); number++) {
            try {
                if (filter.matches(BINDINGS.get(number))) {
                    found.append(found.length() == 0 ? "" : " ").append(number);
                }
            } catch (IllegalArgumentException error) {
                found.append(found.length() == 0 ? "" : " ").append('!').append(number);
            }
        }
        return found.toString();
    }

    private static Admin admin() {
        if (admin == null) {
            admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:1", "default.api.timeout.ms", "100",
                "request.timeout.ms", "50"));
        }
        return admin;
    }

    private static String created(String[] words) throws InterruptedException {
        AclBinding binding;
        try {
            binding = binding(words);
        } catch (IllegalArgumentException | NullPointerException error) {
            return told(error);
        }
        try {
            admin().createAcls(List.of(binding)).values().get(binding).get();
            return "sent";
        } catch (ExecutionException error) {
            return sent(error);
        }
    }

    private static String listed(String[] words) throws InterruptedException {
        try {
            admin().describeAcls(filter(words)).values().get();
            return "sent";
        } catch (ExecutionException error) {
            return sent(error);
        }
    }

    private static String sent(ExecutionException error) {
        // Nobody listens there, so whatever was sent ends in time.
        return error.getCause() instanceof org.apache.kafka.common.errors.TimeoutException ? "sent" : told(error.getCause());
    }

    private static String ranged(String host) throws Exception {
        if (range == null) {
            range = Class.forName("org.apache.kafka.server.authorizer.internals.CidrUtils")
                .getMethod("validate", String.class);
        }
        try {
            range.invoke(null, host);
            return "ok";
        } catch (InvocationTargetException error) {
            return Base64.getEncoder().encodeToString(
                error.getCause().getMessage().getBytes(StandardCharsets.UTF_8));
        }
    }

    private static String controlled(String[] words) throws Exception {
        if (validation == null) {
            for (Method method : Class.forName("org.apache.kafka.controller.AclControlManager").getDeclaredMethods()) {
                if (method.getName().equals("validateNewAcl")) {
                    method.setAccessible(true);
                    validation = method;
                }
            }
        }
        AclBinding binding = binding(java.util.Arrays.copyOfRange(words, 1, words.length));
        boolean ranges = words[1].equals("YES");
        try {
            if (validation.getParameterCount() == 2) {
                validation.invoke(null, binding, ranges);
            } else {
                validation.invoke(null, binding);
            }
            return "ok";
        } catch (InvocationTargetException error) {
            return told(error.getCause());
        }
    }

    private static String word(String kind, byte code) {
        switch (kind) {
            case "resource":
                return ResourceType.fromCode(code).name();
            case "pattern":
                return PatternType.fromCode(code).name();
            case "operation":
                return AclOperation.fromCode(code).name();
            default:
                return AclPermissionType.fromCode(code).name();
        }
    }

    private static String told(Throwable error) {
        // A text may hold line breaks and anything else that a host or a principal holds.
        String text = error.getMessage() == null ? "" : error.getMessage();
        return error.getClass().getSimpleName() + "|"
            + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(String word) {
        if (word.equals("-")) {
            return null;
        }
        return word.equals("=") ? "" : new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8);
    }
}
