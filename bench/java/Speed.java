import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/**
 * Times Kafka's StandardAuthorizer: one command a line, one line of answer.
 *
 * <p>`load FILE` makes an authorizer of the ACLs in a file and says the thread's and the process's
 * nanoseconds of loadSnapshot, without the reading and the making of the ACL values, and the bytes of its heap. `ask
 * FILE` prepares questions: everything that a broker has at hand before it asks is made here. `answers` says each
 * answer as a letter, `round N` the thread's nanoseconds for going N times through all questions.
 */
public class Speed {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static StandardAuthorizer authorizer;
    private static final List<AuthorizableRequestContext> contexts = new ArrayList<>();
    private static final List<List<Action>> actions = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split("\t");
            answers.println(switch (words[0]) {
                case "load" -> load(Path.of(words[1]));
                case "ask" -> ask(Path.of(words[1]));
                case "answers" -> answers();
                default -> Long.toString(round(Integer.parseInt(words[1])));
            });
        }
    }

    private static String load(Path file) throws Exception {
        authorizer = null;
        contexts.clear();
        actions.clear();
        Map<Uuid, StandardAcl> snapshot = new LinkedHashMap<>();
        Map<String, String> same = new HashMap<>();
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] field = line.split("\t", -1);
                snapshot.put(new Uuid(7, snapshot.size()), new StandardAcl(
                    ResourceType.fromCode(Byte.parseByte(field[0])), field[1], PatternType.fromCode(Byte.parseByte(field[2])),
                    same.computeIfAbsent(field[3], text -> text), same.computeIfAbsent(field[4], text -> text),
                    AclOperation.fromCode(Byte.parseByte(field[5])), AclPermissionType.fromCode(Byte.parseByte(field[6]))));
            }
        }
        StandardAuthorizer made = new StandardAuthorizer();
        made.configure(Map.of());
        made.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
        long heap = usedHeap();
        long process = SYSTEM.getProcessCpuTime();
        long thread = THREADS.getCurrentThreadCpuTime();
        made.loadSnapshot(snapshot);
        made.completeInitialLoad();
        thread = THREADS.getCurrentThreadCpuTime() - thread;
        process = SYSTEM.getProcessCpuTime() - process;
        long after = usedHeap();
        authorizer = made;
        return thread + "\t" + process + "\t" + (after - heap) + "\t" + snapshot.size();
    }

    private static String ask(Path file) throws Exception {
        contexts.clear();
        actions.clear();
        Map<String, InetAddress> addresses = new HashMap<>();
        Map<String, KafkaPrincipal> principals = new HashMap<>();
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] field = line.split("\t", -1);
                int colon = field[0].indexOf(':');
                KafkaPrincipal principal = principals.computeIfAbsent(
                    field[0], text -> new KafkaPrincipal(text.substring(0, colon), text.substring(colon + 1)));
                InetAddress address = addresses.get(field[1]);
                if (address == null) {
                    address = InetAddress.getByName(field[1]);
                    addresses.put(field[1], address);
                }
                contexts.add(new Session(principal, address));
                ResourcePattern resource = new ResourcePattern(
                    ResourceType.fromCode(Byte.parseByte(field[3])), field[4], PatternType.LITERAL);
                // With logging asked for, the text of the log would be made whether or not it is written.
                actions.add(List.of(new Action(AclOperation.fromCode(Byte.parseByte(field[2])), resource, 1, false, false)));
            }
        }
        return Integer.toString(contexts.size());
    }

    private static String answers() {
        StringBuilder found = new StringBuilder();
        for (int place = 0; place < contexts.size(); place++) {
            AuthorizationResult result = authorizer.authorize(contexts.get(place), actions.get(place)).get(0);
            found.append(result == AuthorizationResult.ALLOWED ? '+' : '-');
        }
        return found.toString();
    }

    private static long round(int times) {
        int allowed = 0;
        int count = contexts.size();
        long start = THREADS.getCurrentThreadCpuTime();
        for (int turn = 0; turn < times; turn++) {
            for (int place = 0; place < count; place++) {
                if (authorizer.authorize(contexts.get(place), actions.get(place)).get(0) == AuthorizationResult.ALLOWED) {
                    allowed++;
                }
            }
        }
        long took = THREADS.getCurrentThreadCpuTime() - start;
        return allowed < 0 ? -1 : took;
    }

    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        for (int turn = 0; turn < 3; turn++) {
            System.gc();
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** What the authorizer is told about a session. */
    private record Session(KafkaPrincipal principal, InetAddress clientAddress) implements AuthorizableRequestContext {
        @Override
        public String listenerName() {
            return "PLAINTEXT";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        @Override
        public int requestType() {
            return 0;
        }

        @Override
        public int requestVersion() {
            return 9;
        }

        @Override
        public String clientId() {
            return "bench";
        }

        @Override
        public int correlationId() {
            return 1;
        }
    }
}
