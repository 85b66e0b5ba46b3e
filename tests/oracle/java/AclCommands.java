import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import joptsimple.OptionSet;
import joptsimple.OptionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreateAclsResult;
import org.apache.kafka.clients.admin.DeleteAclsResult;
import org.apache.kafka.clients.admin.DescribeAclsResult;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.server.authorizer.AclCreateResult;
import org.apache.kafka.server.authorizer.AclDeleteResult;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.authorizer.AuthorizerServerInfo;
import org.apache.kafka.server.util.CommandDefaultOptions;
import org.apache.kafka.server.util.CommandLineUtils;

/**
 * Runs Kafka's own kafka-acls in this JVM, with a recorder in the place of the cluster.
 *
 * A question is {"arguments": [...], "acls": [[seven texts]...]}, the second being what the cluster
 * holds; an answer is {"acls", "filters", "principals", "error", "output"}: what the tool would
 * create; what it would delete or describe; the principals by which it would narrow a list; its
 * message where it gives up; and what it prints. The class written in Scala (3.9) and the one
 * written in Java (4.1 and later) are called by the same name of theirs, whichever is here.
 */
public class AclCommands {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ByteArrayOutputStream PRINTED = new ByteArrayOutputStream();
    private static final List<AclBinding> PRESENT = new ArrayList<>();
    private static final List<AclBinding> CREATED = new ArrayList<>();
    private static final List<AclBindingFilter> NAMED = new ArrayList<>();

    /** The tool ends its process; `getMessage` is what it says first. */
    private static final class Ended extends RuntimeException {
        final int status;

        Ended(int status, String message) {
            super(message, null, false, false);
            this.status = status;
        }
    }

    private interface Tool {
        void run(String[] arguments, ArrayNode principals) throws Exception;
    }

    public static void main(String[] none) throws Exception {
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(new PrintStream(PRINTED, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
        Exit.setExitProcedure((status, message) -> {
            throw new Ended(status, message);
        });
        Tool tool = tool();
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            answers.print(answer(tool, JSON.readTree(line)) + "\n");
            if (!questions.ready()) {
                answers.flush();
            }
        }
        answers.flush();
    }

    private static Tool tool() throws Exception {
        try {
            return new JavaTool();
        } catch (ClassNotFoundException absent) {
            return new ScalaTool();
        }
    }

    private static String answer(Tool tool, JsonNode question) throws Exception {
        PRINTED.reset();
        PRESENT.clear();
        CREATED.clear();
        NAMED.clear();
        question.path("acls").forEach(acl -> PRESENT.add(binding(acl)));
        List<String> arguments = new ArrayList<>();
        question.get("arguments").forEach(word -> arguments.add(word.textValue()));
        if (!arguments.isEmpty()) {
            // Nobody is here to be asked whether to go on.
            arguments.add(0, "--force");
        }
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode principals = answer.putArray("principals");
        String error = null;
        try {
            tool.run(arguments.toArray(new String[0]), principals);
        } catch (Ended ended) {
            error = ended.status == 0 ? null : ended.getMessage();
        } catch (Exception refused) {
            error = refused.getMessage();
        }
        if (error != null) {
            CREATED.clear();
            NAMED.clear();
        }
        ArrayNode acls = answer.putArray("acls");
        CREATED.forEach(created -> acls.add(texts(created)));
        ArrayNode filters = answer.putArray("filters");
        NAMED.forEach(named -> filters.add(texts(named)));
        answer.put("error", error);
        answer.put("output", PRINTED.toString(StandardCharsets.UTF_8));
        return answer.toString();
    }

    /** org.apache.kafka.tools.AclCommand */
    private static final class JavaTool implements Tool {
        private final Class<?> command = Class.forName("org.apache.kafka.tools.AclCommand");
        private final Class<?> options = Class.forName("org.apache.kafka.tools.AclCommand$AclCommandOptions");

        JavaTool() throws ClassNotFoundException {
        }

        @Override
        public void run(String[] arguments, ArrayNode principals) throws Exception {
            CommandDefaultOptions given = (CommandDefaultOptions) make(options, (Object) arguments);
            try {
                Properties settings = (Properties) call(command, null, "adminConfigs", given);
                ignore(settings);
                if (has(given, "addOpt")) {
                    call(command, null, "addAcls", recorder(), given);
                } else if (has(given, "removeOpt")) {
                    call(command, null, "removeAcls", recorder(), given);
                } else {
                    call(command, null, "listAcls", recorder(), given);
                    Object listed = call(command, null, "getPrincipals", given, spec(given, "listPrincipalsOpt"));
                    ((Collection<?>) listed).forEach(principal -> principals.add(principal.toString()));
                }
            } catch (Ended ended) {
                throw ended;
            } catch (Exception failed) {
                throw new IllegalStateException("Error while executing ACL command: " + failed.getMessage());
            }
        }

        private boolean has(CommandDefaultOptions given, String field) throws Exception {
            return given.options.has(spec(given, field));
        }

        private OptionSpec<?> spec(CommandDefaultOptions given, String field) throws Exception {
            java.lang.reflect.Field found = options.getDeclaredField(field);
            found.setAccessible(true);
            return (OptionSpec<?>) found.get(given);
        }
    }

    /** kafka.admin.AclCommand, whose way of reaching the cluster is passed by: what it does there is not. */
    private static final class ScalaTool implements Tool {
        private final Class<?> command = Class.forName("kafka.admin.AclCommand$");
        private final Object module = command.getField("MODULE$").get(null);
        private final Class<?> options = Class.forName("kafka.admin.AclCommand$AclCommandOptions");
        private final Class<?> byAdmin = Class.forName("kafka.admin.AclCommand$AdminClientService");
        private final Class<?> byAuthorizer = Class.forName("kafka.admin.AclCommand$AuthorizerService");

        ScalaTool() throws Exception {
        }

        @Override
        public void run(String[] arguments, ArrayNode principals) throws Exception {
            CommandDefaultOptions given = (CommandDefaultOptions) make(options, (Object) arguments);
            CommandLineUtils.maybePrintHelpOrVersion(given, "This tool helps to manage acls on kafka.");
            call(options, given, "checkArgs");
            boolean isByAdmin = has(given, "bootstrapServerOpt");
            if (!isByAdmin && has(given, "authorizerOpt")) {
                given.options.valueOf(spec(given, "authorizerOpt"));
            }
            Object service = isByAdmin
                ? make(byAdmin, given)
                : make(byAuthorizer, Recorder.class.getName(), given);
            try {
                if (!isByAdmin) {
                    call(byAuthorizer, service, has(given, "addOpt") ? "addAcls" : has(given, "removeOpt") ? "removeAcls" : "listAcls");
                } else if (has(given, "addOpt")) {
                    Object planned = call(command, module, "kafka$admin$AclCommand$$getResourceToAcls", given);
                    configure(given);
                    call(byAdmin, null, "$anonfun$addAcls$1", planned, recorder());
                } else {
                    configure(given);
                    call(byAdmin, null, has(given, "removeOpt") ? "$anonfun$removeAcls$1" : "$anonfun$listAcls$1", service, recorder());
                }
                if (has(given, "listOpt")) {
                    Object listed = call(command, module, "kafka$admin$AclCommand$$getPrincipals", given, spec(given, "listPrincipalsOpt"));
                    Object each = call(Class.forName("scala.collection.IterableOnce"), listed, "iterator");
                    Class<?> iterator = Class.forName("scala.collection.Iterator");
                    while ((Boolean) call(iterator, each, "hasNext")) {
                        principals.add(call(iterator, each, "next").toString());
                    }
                }
            } catch (Ended ended) {
                throw ended;
            } catch (Exception failed) {
                throw new IllegalStateException("Error while executing ACL command: " + failed.getMessage());
            }
        }

        private void configure(CommandDefaultOptions given) throws Exception {
            if (has(given, "commandConfigOpt")) {
                ignore(Utils.loadProps((String) given.options.valueOf(spec(given, "commandConfigOpt"))));
            }
            ignore(given.options.valueOf(spec(given, "bootstrapServerOpt")));
        }

        private boolean has(CommandDefaultOptions given, String field) throws Exception {
            return given.options.has(spec(given, field));
        }

        private OptionSpec<?> spec(CommandDefaultOptions given, String field) throws Exception {
            return (OptionSpec<?>) call(options, given, field);
        }
    }

    /** The authorizer that the tool is given where it would open ZooKeeper. */
    public static final class Recorder implements Authorizer {
        @Override
        public Map<Endpoint, ? extends CompletionStage<Void>> start(AuthorizerServerInfo info) {
            return Map.of();
        }

        @Override
        public List<AuthorizationResult> authorize(AuthorizableRequestContext context, List<Action> actions) {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<? extends CompletionStage<AclCreateResult>> createAcls(AuthorizableRequestContext context, List<AclBinding> acls) {
            CREATED.addAll(acls);
            return acls.stream().map(acl -> CompletableFuture.completedFuture(AclCreateResult.SUCCESS)).toList();
        }

        @Override
        public List<? extends CompletionStage<AclDeleteResult>> deleteAcls(AuthorizableRequestContext context, List<AclBindingFilter> filters) {
            NAMED.addAll(filters);
            return filters.stream().map(filter -> CompletableFuture.completedFuture(new AclDeleteResult(List.of()))).toList();
        }

        @Override
        public Iterable<AclBinding> acls(AclBindingFilter filter) {
            NAMED.add(filter);
            return PRESENT.stream().filter(filter::matches).toList();
        }

        @Override
        public void configure(Map<String, ?> settings) {
        }

        @Override
        public void close() {
        }
    }

    /** Return an Admin that notes what it is asked, and answers from the ACLs that are present. */
    private static Admin recorder() {
        return (Admin) Proxy.newProxyInstance(AclCommands.class.getClassLoader(), new Class<?>[] {Admin.class}, (self, method, with) -> {
            switch (method.getName()) {
                case "describeAcls":
                    AclBindingFilter asked = (AclBindingFilter) with[0];
                    if (isFromAdding()) {
                        return make(DescribeAclsResult.class, KafkaFuture.completedFuture((Collection<AclBinding>) List.<AclBinding>of()));
                    }
                    NAMED.add(asked);
                    Collection<AclBinding> found = PRESENT.stream().filter(asked::matches).toList();
                    return make(DescribeAclsResult.class, KafkaFuture.completedFuture(found));
                case "createAcls":
                    Map<AclBinding, KafkaFuture<Void>> created = new HashMap<>();
                    for (Object acl : (Collection<?>) with[0]) {
                        CREATED.add((AclBinding) acl);
                        created.put((AclBinding) acl, KafkaFuture.completedFuture(null));
                    }
                    return make(CreateAclsResult.class, created);
                case "deleteAcls":
                    Map<AclBindingFilter, KafkaFuture<DeleteAclsResult.FilterResults>> deleted = new HashMap<>();
                    for (Object filter : (Collection<?>) with[0]) {
                        NAMED.add((AclBindingFilter) filter);
                        deleted.put((AclBindingFilter) filter, KafkaFuture.completedFuture(
                            (DeleteAclsResult.FilterResults) make(DeleteAclsResult.FilterResults.class, List.of())));
                    }
                    return make(DeleteAclsResult.class, deleted);
                case "close":
                    return null;
                default:
                    throw new UnsupportedOperationException(method.getName());
            }
        });
    }

    /** Whether the tool looks what is there already before it adds, which is no part of its plan. */
    private static boolean isFromAdding() {
        return StackWalker.getInstance().walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("addAcls")));
    }

    private static Object make(Class<?> kind, Object... with) throws Exception {
        for (Constructor<?> constructor : kind.getDeclaredConstructors()) {
            if (constructor.getParameterCount() == with.length && fits(constructor.getParameterTypes(), with)) {
                constructor.setAccessible(true);
                try {
                    return constructor.newInstance(with);
                } catch (InvocationTargetException wrapped) {
                    throw unwrapped(wrapped);
                }
            }
        }
        throw new NoSuchMethodException(kind + " has no such constructor");
    }

    private static Object call(Class<?> kind, Object on, String name, Object... with) throws Exception {
        for (Method method : kind.getDeclaredMethods()) {
            boolean isIt = method.getName().equals(name) && method.getParameterCount() == with.length;
            if (isIt && fits(method.getParameterTypes(), with)) {
                method.setAccessible(true);
                try {
                    return method.invoke(on, with);
                } catch (InvocationTargetException wrapped) {
                    throw unwrapped(wrapped);
                }
            }
        }
        throw new NoSuchMethodException(kind + " has no method " + name);
    }

    private static boolean fits(Class<?>[] kinds, Object[] with) {
        for (int place = 0; place < kinds.length; place++) {
            if (with[place] != null && !kinds[place].isInstance(with[place]) && !kinds[place].isPrimitive()) {
                return false;
            }
        }
        return true;
    }

    private static Exception unwrapped(InvocationTargetException wrapped) {
        Throwable cause = wrapped.getCause();
        return cause instanceof Exception ? (Exception) cause : new IllegalStateException(cause);
    }

    private static void ignore(Object nothing) {
    }

    private static AclBinding binding(JsonNode acl) {
        return new AclBinding(
            new ResourcePattern(ResourceType.valueOf(acl.get(0).textValue()), acl.get(1).textValue(), PatternType.valueOf(acl.get(2).textValue())),
            new AccessControlEntry(acl.get(3).textValue(), acl.get(4).textValue(),
                AclOperation.valueOf(acl.get(5).textValue()), AclPermissionType.valueOf(acl.get(6).textValue())));
    }

    private static ArrayNode texts(AclBinding acl) {
        return texts(acl.toFilter());
    }

    private static ArrayNode texts(AclBindingFilter filter) {
        ArrayNode texts = JSON.createArrayNode();
        texts.add(filter.patternFilter().resourceType().name());
        texts.add(filter.patternFilter().name());
        texts.add(filter.patternFilter().patternType().name());
        texts.add(filter.entryFilter().principal());
        texts.add(filter.entryFilter().host());
        texts.add(filter.entryFilter().operation().name());
        return texts.add(filter.entryFilter().permissionType().name());
    }
}
