import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.apache.kafka.server.authorizer.Authorizer;

/**
 * Answers what Kafka's released authorizers decide about whole worlds of ACLs.
 *
 * <p>A line is one world and all questions about it: fields with a tab between them, in the order in which {@link
 * World} reads them. The answer has one letter for each question. `(` and `)` are the defaults, `*` a super user,
 * `0` and the letters after it in ASCII the ACL that the audit log names, by its place; where no rule is logged `+` is allowed
 * and `-` denied; `!` is an exception, `#` a decision that took too long, `%` one that was not asked after that. `~` is
 * an answer and an audit text that contradict each other. After a space come the by-type answers.
 */
public class Decisions {
    private static final String RULE = " based on rule ";
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static long busySeconds = 5;
    private static long waitingSeconds = 60;

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            busySeconds = Long.parseLong(arguments[0]);
            waitingSeconds = Long.parseLong(arguments[1]);
        }
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        Watched worker = new Watched();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer = worker.answer(line);
            if (worker.hung) {
                worker = new Watched();
            }
            answers.print(answer + "\n");
            if (!lines.ready()) {
                answers.flush();
            }
        }
        answers.flush();
    }

    /**
     * A thread that works through worlds and can be given up. One decision may keep the processor busy for a while, or
     * wait for a longer one, since on a crowded machine a thread may not get the processor for seconds.
     */
    private static final class Watched extends Thread {
        private String line;
        private String answer;
        private volatile World world;
        boolean hung;

        Watched() {
            setDaemon(true);
            start();
        }

        synchronized String answer(String asked) throws InterruptedException {
            line = asked;
            answer = null;
            world = null;
            notifyAll();
            int seen = -1;
            long since = System.nanoTime();
            long busySince = THREADS.getThreadCpuTime(getId());
            while (answer == null) {
                wait(100);
                World current = world;
                int done = current == null ? -1 : current.done;
                long now = System.nanoTime();
                long busy = THREADS.getThreadCpuTime(getId());
                if (done != seen) {
                    seen = done;
                    since = now;
                    busySince = busy;
                    continue;
                }
                boolean over = busy - busySince > busySeconds * 1_000_000_000L || now - since > waitingSeconds * 1_000_000_000L;
                if (answer == null && over) {
                    hung = true;
                    return current == null ? "! the world could not be made in time" : current.cutShort();
                }
            }
            return answer;
        }

        @Override
        public void run() {
            try {
                while (true) {
                    String asked;
                    synchronized (this) {
                        while (line == null) {
                            wait();
                        }
                        asked = line;
                        line = null;
                    }
                    String found;
                    try {
                        World made = new World(asked);
                        world = made;
                        made.askAll();
                        found = made.text();
                    } catch (Throwable error) {
                        found = "! " + error.toString().replaceAll("[\\r\\n]+", " ");
                    }
                    synchronized (this) {
                        answer = found;
                        notifyAll();
                    }
                }
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** One world: the authorizer with its ACLs, and the questions. */
    private static final class World {
        private final Iterator<String> fields;
        private final Authorizer authorizer;
        private final Method byType;
        private final boolean standard;
        private final Map<String, Integer> rules = new HashMap<>();
        private final List<AclPermissionType> permissions = new ArrayList<>();
        private final StringBuffer answers = new StringBuffer();
        private final int questions;
        private final List<KafkaPrincipal> principals = new ArrayList<>();
        private final List<InetAddress> hosts = new ArrayList<>();
        private final List<Action> actions = new ArrayList<>();
        private final List<ResourceType> types = new ArrayList<>();
        private final List<AclOperation> typeOperations = new ArrayList<>();
        private String audited;
        volatile int done;

        World(String line) throws Exception {
            fields = List.of(line.split("\t", -1)).iterator();
            standard = next().equals("standard");
            boolean allowEveryone = next().equals("1");
            Set<KafkaPrincipal> superUsers = new HashSet<>();
            for (int left = number(); left > 0; left--) {
                superUsers.add(principal(next()));
            }
            List<String[]> acls = new ArrayList<>();
            for (int left = number(); left > 0; left--) {
                acls.add(new String[] {next(), next(), next(), next(), next(), next(), next()});
            }
            for (int left = number(); left > 0; left--) {
                principals.add(principal(next()));
            }
            for (int left = number(); left > 0; left--) {
                hosts.add(address(next()));
            }
            for (int left = number(); left > 0; left--) {
                ResourceType type = ResourceType.fromCode((byte) number());
                ResourcePattern resource = new ResourcePattern(type, next(), PatternType.LITERAL);
                for (int more = number(); more > 0; more--) {
                    actions.add(new Action(AclOperation.fromCode((byte) number()), resource, 1, true, true));
                }
            }
            for (int left = number(); left > 0; left--) {
                types.add(ResourceType.fromCode((byte) number()));
                typeOperations.add(AclOperation.fromCode((byte) number()));
            }
            questions = (actions.size() + types.size()) * principals.size() * hosts.size();
            authorizer = standard
                ? standardAuthorizer(superUsers, allowEveryone, acls)
                : aclAuthorizer(superUsers, allowEveryone, acls);
            // Brokers before 2.8 do not have it, and are asked no such question.
            byType = types.isEmpty() ? null : Authorizer.class.getMethod(
                "authorizeByResourceType", AuthorizableRequestContext.class, AclOperation.class, ResourceType.class);
        }

        private String next() {
            String field = fields.next();
            if (field.indexOf('\\') < 0) {
                return field;
            }
            StringBuilder plain = new StringBuilder();
            for (int place = 0; place < field.length(); place++) {
                char letter = field.charAt(place);
                if (letter == '\\') {
                    letter = switch (field.charAt(++place)) {
                        case 't' -> '\t';
                        case 'n' -> '\n';
                        case 'r' -> '\r';
                        default -> '\\';
                    };
                }
                plain.append(letter);
            }
            return plain.toString();
        }

        private int number() {
            return Integer.parseInt(fields.next());
        }

        void askAll() {
            for (Action action : actions) {
                for (KafkaPrincipal principal : principals) {
                    for (InetAddress host : hosts) {
                        answers.append(answerFor(new Session(principal, host), action));
                        done++;
                    }
                }
            }
            answers.append(' ');
            for (int place = 0; place < types.size(); place++) {
                for (KafkaPrincipal principal : principals) {
                    for (InetAddress host : hosts) {
                        answers.append(byType(new Session(principal, host), typeOperations.get(place), types.get(place)));
                        done++;
                    }
                }
            }
        }

        String text() {
            return answers.toString();
        }

        String cutShort() {
            StringBuilder told = new StringBuilder(answers.toString()).append('#');
            int ordinary = actions.size() * principals.size() * hosts.size();
            while (told.length() <= questions) {
                told.append(told.length() == ordinary ? ' ' : '%');
            }
            return told.toString();
        }

        private char answerFor(Session session, Action action) {
            audited = null;
            AuthorizationResult result;
            try {
                result = authorizer.authorize(session, List.of(action)).get(0);
            } catch (Exception error) {
                return '!';
            }
            if (!standard) {
                return result == AuthorizationResult.ALLOWED ? '+' : '-';
            }
            return reported(session, action, result == AuthorizationResult.ALLOWED);
        }

        private char byType(Session session, AclOperation operation, ResourceType type) {
            try {
                return byType.invoke(authorizer, session, operation, type) == AuthorizationResult.ALLOWED ? '+' : '-';
            } catch (Exception error) {
                return '!';
            }
        }

        /** Which rule the audit text names, provided that all of the text is what it should be. */
        private char reported(Session session, Action action, boolean allowed) {
            ResourcePattern resource = action.resourcePattern();
            String start = "Principal = " + session.principal + " is " + (allowed ? "Allowed" : "Denied")
                + " operation = " + action.operation() + " from host = " + session.address.getHostAddress()
                + " on resource = " + pascal(resource.resourceType()) + ":LITERAL:" + resource.name()
                + " for request = Fetch with resourceRefCount = 1" + RULE;
            String level = allowed ? "debug" : "info";
            if (audited == null || !audited.startsWith(level + start)) {
                return '~';
            }
            String rule = audited.substring(level.length() + start.length());
            switch (rule) {
                case "SuperUser":
                    return allowed ? '*' : '~';
                case "DefaultAllow":
                    return allowed ? '(' : '~';
                case "DefaultDeny":
                    return allowed ? '~' : ')';
                default:
                    Integer place = rules.get(rule);
                    boolean fits = place != null && allowed == (permissions.get(place) == AclPermissionType.ALLOW);
                    return fits ? (char) ('0' + place) : '~';
            }
        }

        private static String pascal(ResourceType type) {
            StringBuilder found = new StringBuilder();
            for (String word : type.name().split("_")) {
                found.append(word.charAt(0)).append(word.substring(1).toLowerCase());
            }
            return found.toString();
        }

        private Authorizer standardAuthorizer(Set<KafkaPrincipal> superUsers, boolean allowEveryone, List<String[]> acls)
                throws Exception {
            Class<?> kind = Class.forName("org.apache.kafka.metadata.authorizer.StandardAuthorizer");
            Class<?> aclKind = Class.forName("org.apache.kafka.metadata.authorizer.StandardAcl");
            Constructor<?> newAcl = aclKind.getConstructor(
                ResourceType.class, String.class, PatternType.class, String.class, String.class,
                AclOperation.class, AclPermissionType.class);
            Object made = kind.getConstructor().newInstance();
            Map<String, Object> settings = new HashMap<>();
            List<String> names = new ArrayList<>();
            superUsers.forEach(user -> names.add(user.toString()));
            settings.put("super.users", String.join(";", names));
            settings.put("allow.everyone.if.no.acl.found", Boolean.toString(allowEveryone));
            kind.getMethod("configure", Map.class).invoke(made, settings);
            Constructor<?> newId = Class.forName("org.apache.kafka.common.Uuid").getConstructor(long.class, long.class);
            Map<Object, Object> snapshot = new LinkedHashMap<>();
            for (String[] acl : acls) {
                Object one = newAcl.newInstance(
                    ResourceType.fromCode(Byte.parseByte(acl[0])), acl[1], PatternType.fromCode(Byte.parseByte(acl[2])),
                    acl[3], acl[4], AclOperation.fromCode(Byte.parseByte(acl[5])),
                    AclPermissionType.fromCode(Byte.parseByte(acl[6])));
                rules.put("MatchingAcl(acl=" + one + ")", permissions.size());
                permissions.add(AclPermissionType.fromCode(Byte.parseByte(acl[6])));
                snapshot.put(newId.newInstance(7, snapshot.size()), one);
            }
            kind.getMethod("loadSnapshot", Map.class).invoke(made, snapshot);
            kind.getMethod("completeInitialLoad").invoke(made);
            for (Method method : kind.getMethods()) {
                if (method.getName().equals("withPluginMetrics")) {
                    // From 4.1 on it counts its answers, and fails without anything to count with.
                    Class<?> metrics = Class.forName("org.apache.kafka.common.metrics.internals.PluginMetricsImpl");
                    method.invoke(made, metrics.getConstructor(Metrics.class, Map.class)
                        .newInstance(new Metrics(), Map.of()));
                }
            }
            Field data = kind.getDeclaredField("data");
            data.setAccessible(true);
            Field log = data.getType().getDeclaredField("auditLog");
            log.setAccessible(true);
            log.set(data.get(made), Proxy.newProxyInstance(
                Decisions.class.getClassLoader(), new Class<?>[] {log.getType()}, (proxy, method, given) -> {
                    if (method.getReturnType() == boolean.class) {
                        return !method.getName().equals("isTraceEnabled");
                    }
                    if (method.getReturnType() == void.class && audited == null) {
                        audited = method.getName() + given[0];
                    }
                    return null;
                }));
            return (Authorizer) made;
        }

        private Authorizer aclAuthorizer(Set<KafkaPrincipal> superUsers, boolean allowEveryone, List<String[]> acls)
                throws Exception {
            Class<?> kind = Class.forName("kafka.security.authorizer.AclAuthorizer");
            Class<?> versioned = Class.forName("kafka.security.authorizer.AclAuthorizer$VersionedAcls");
            Constructor<?> newEntry = entryConstructor();
            Object made = kind.getConstructor().newInstance();
            set(kind, made, "superUsers", scalaSet(superUsers));
            set(kind, made, "shouldAllowEveryoneIfNoAclIsFound", allowEveryone);
            Map<Object, Set<Object>> entries = new LinkedHashMap<>();
            for (String[] acl : acls) {
                ResourcePattern pattern = new ResourcePattern(
                    ResourceType.fromCode(Byte.parseByte(acl[0])), acl[1], PatternType.fromCode(Byte.parseByte(acl[2])));
                AccessControlEntry entry = new AccessControlEntry(
                    acl[3], acl[4], AclOperation.fromCode(Byte.parseByte(acl[5])),
                    AclPermissionType.fromCode(Byte.parseByte(acl[6])));
                if (newEntry != null) {
                    entries.computeIfAbsent(pattern, ignored -> new HashSet<>()).add(newEntry.newInstance(entry));
                } else {
                    entries.computeIfAbsent(before25(pattern), ignored -> new HashSet<>()).add(before25(entry));
                }
            }
            for (Method update : kind.getMethods()) {
                // Up to 2.4 the class that it is private to is a part of the name.
                if (update.getName().endsWith("updateCache") && update.getParameterCount() == 2) {
                    for (Map.Entry<Object, Set<Object>> entry : entries.entrySet()) {
                        Object value = versioned.getConstructors()[0].newInstance(scalaSet(entry.getValue()), 1);
                        update.invoke(made, entry.getKey(), value);
                    }
                }
            }
            return (Authorizer) made;
        }

        /** How this version makes an entry of its cache; null before 2.5, which has classes of its own. */
        private static Constructor<?> entryConstructor() throws Exception {
            for (String name : List.of(
                    "org.apache.kafka.security.authorizer.AclEntry", "kafka.security.authorizer.AclEntry")) {
                try {
                    return Class.forName(name).getConstructor(AccessControlEntry.class);
                } catch (ClassNotFoundException other) {
                    continue;
                }
            }
            return null;
        }

        private static Object before25(ResourcePattern pattern) throws Exception {
            Object type = before25("ResourceType", ResourceType.class, pattern.resourceType());
            return Class.forName("kafka.security.auth.Resource")
                .getConstructor(Class.forName("kafka.security.auth.ResourceType"), String.class, PatternType.class)
                .newInstance(type, pattern.name(), pattern.patternType());
        }

        private static Object before25(AccessControlEntry entry) throws Exception {
            Object permission = before25("PermissionType", AclPermissionType.class, entry.permissionType());
            Object operation = before25("Operation", AclOperation.class, entry.operation());
            return Class.forName("kafka.security.auth.Acl").getConstructors()[0]
                .newInstance(Decisions.principal(entry.principal()), permission, entry.host(), operation);
        }

        private static Object before25(String name, Class<?> javaClass, Object value) throws Exception {
            Class<?> companion = Class.forName("kafka.security.auth." + name + "$");
            return companion.getMethod("fromJava", javaClass).invoke(companion.getField("MODULE$").get(null), value);
        }

        private static void set(Class<?> kind, Object made, String name, Object value) throws Exception {
            Field field = kind.getDeclaredField(name);
            field.setAccessible(true);
            field.set(made, value);
        }

        private static Object scalaSet(Set<?> elements) throws Exception {
            Object wrapped = Class.forName("scala.jdk.javaapi.CollectionConverters")
                .getMethod("asScala", Set.class).invoke(null, elements);
            return Class.forName("scala.collection.IterableOnceOps").getMethod("toSet").invoke(wrapped);
        }
    }

    /** Split at the first colon, as Kafka parses the text. */
    private static KafkaPrincipal principal(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            throw new IllegalArgumentException("a principal without a colon is never asked: " + text);
        }
        return new KafkaPrincipal(text.substring(0, colon), text.substring(colon + 1));
    }

    /** The address whose text is exactly this; never a name, so nothing is looked up. */
    private static InetAddress address(String text) throws Exception {
        if (!text.matches("[0-9.]+|[0-9a-f:]+(%[0-9]+)?")) {
            throw new IllegalArgumentException("no address as Java prints it: " + text);
        }
        int scope = text.indexOf('%');
        InetAddress found = InetAddress.getByName(scope < 0 ? text : text.substring(0, scope));
        if (scope >= 0) {
            found = Inet6Address.getByAddress(null, found.getAddress(), Integer.parseInt(text.substring(scope + 1)));
        }
        if (!found.getHostAddress().equals(text)) {
            throw new IllegalArgumentException("Java prints " + found.getHostAddress() + " for " + text);
        }
        return found;
    }

    /**
     * A client's request. Two principals that no ACL knows let a test see what becomes of a decision that fails and of
     * one that does not end.
     */
    private record Session(KafkaPrincipal principal, InetAddress address) implements AuthorizableRequestContext {
        @Override
        public KafkaPrincipal principal() {
            if (principal.getPrincipalType().equals("Failing")) {
                throw new IllegalStateException("as it was asked to");
            }
            if (principal.getPrincipalType().equals("Endless")) {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException error) {
                    Thread.currentThread().interrupt();
                }
            }
            return principal;
        }

        @Override
        public InetAddress clientAddress() {
            return address;
        }

        @Override
        public String listenerName() {
            return "CLIENTS";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.SASL_SSL;
        }

        @Override
        public int requestType() {
            return 1;
        }

        @Override
        public int requestVersion() {
            return 12;
        }

        @Override
        public String clientId() {
            return "oracle";
        }

        @Override
        public int correlationId() {
            return 1;
        }
    }
}
