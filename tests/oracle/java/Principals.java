import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import javax.security.auth.x500.X500Principal;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.security.kerberos.KerberosName;
import org.apache.kafka.common.security.kerberos.KerberosShortNamer;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

/**
 * What do Kafka's own classes, and Java's, make of names, rules and patterns?
 *
 * A question is a word and texts, with tabs between; a text is the hexadecimal of its UTF-16 units.
 * An answer has the same form. Its first word is "ok", or says how it failed.
 */
public class Principals {
    static final long MILLISECONDS_FOR_A_PATTERN = 2000;

    /** A text that stops a search that takes too long. */
    static final class Watched implements CharSequence {
        final String text;
        final long deadline;
        int reads;

        Watched(String text, long deadline) {
            this.text = text;
            this.deadline = deadline;
        }

        public int length() {
            return text.length();
        }

        public char charAt(int index) {
            if ((++reads & 1023) == 0 && System.currentTimeMillis() > deadline) throw new TooLong();
            return text.charAt(index);
        }

        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }

        public String toString() {
            return text;
        }
    }

    static final class TooLong extends RuntimeException { }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, "UTF-8");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        while ((line = in.readLine()) != null) {
            out.print(answer(line.split("\t", -1)));
            out.print('\n');
            if (!in.ready()) out.flush();
        }
        out.flush();
    }

    static String answer(String[] question) {
        String[] texts = new String[question.length];
        for (int i = 1; i < question.length; i++) texts[i] = text(question[i]);
        try {
            switch (question[0]) {
                case "regex":
                    return regex(texts[1], texts[2], texts[3]);
                case "ssl":
                    return ssl(texts[1], texts[2]);
                case "kerberos":
                    return kerberos(texts[1], texts[2], texts[3]);
                case "dn":
                    return "ok\t" + hex(new X500Principal(texts[1]).getName());
                case "certificate-name":
                    return "ok\t" + hex(new X500Principal(bytes(question[1])).getName());
                case "cases":
                    return "ok\t" + hex(texts[1].toLowerCase(Locale.ENGLISH)) + "\t" + hex(texts[1].toUpperCase(Locale.ENGLISH));
                case "members":
                    return "ok\t" + members(Pattern.compile(texts[1]), Integer.parseInt(question[2]));
                default:
                    return "unknown";
            }
        } catch (TooLong e) {
            return "hung";
        } catch (StackOverflowError e) {
            return "overflow";
        } catch (Throwable e) {
            return failure("failed", e);
        }
    }

    static String failure(String how, Throwable error) {
        return how + "\t" + error.getClass().getSimpleName() + "\t" + hex(String.valueOf(error.getMessage()));
    }

    /** The spans of a whole match, of all that is found, and the text with all, and the first, replaced. */
    static String regex(String pattern, String text, String replacement) {
        Pattern compiled;
        try {
            compiled = Pattern.compile(pattern);
        } catch (PatternSyntaxException e) {
            return failure("invalid", e);
        }
        Watched watched = new Watched(text, System.currentTimeMillis() + MILLISECONDS_FOR_A_PATTERN);
        StringBuilder answer = new StringBuilder("ok\t");
        Matcher matcher = compiled.matcher(watched);
        answer.append(matcher.matches() ? spans(matcher) : "none").append('\t');
        matcher = compiled.matcher(watched);
        while (matcher.find()) answer.append(spans(matcher)).append(';');
        return answer.append('\t').append(replaced(compiled, watched, replacement, true))
            .append('\t').append(replaced(compiled, watched, replacement, false)).toString();
    }

    static String spans(Matcher matcher) {
        StringBuilder spans = new StringBuilder();
        for (int i = 0; i <= matcher.groupCount(); i++)
            spans.append(i > 0 ? "," : "").append(matcher.start(i)).append('-').append(matcher.end(i));
        return spans.toString();
    }

    static String replaced(Pattern pattern, CharSequence text, String replacement, boolean all) {
        Matcher matcher = pattern.matcher(text);
        try {
            return hex(all ? matcher.replaceAll(replacement) : matcher.replaceFirst(replacement));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            return "bad";
        }
    }

    static String ssl(String rules, String name) {
        SslPrincipalMapper mapper;
        try {
            mapper = SslPrincipalMapper.fromRules(rules);
        } catch (Exception e) {
            return failure("invalid", e);
        }
        try {
            return "ok\t" + hex(mapper.getName(name));
        } catch (Exception e) {
            return failure("error", e);
        }
    }

    @SuppressWarnings("unchecked")
    static String kerberos(String realm, String rules, String name) {
        KerberosShortNamer namer;
        try {
            List<String> list = (List<String>) ConfigDef.parseType("rules", rules, ConfigDef.Type.LIST);
            namer = KerberosShortNamer.fromUnparsedRules(realm, list);
        } catch (Exception e) {
            return failure("invalid", e);
        }
        try {
            return "ok\t" + hex(namer.shortName(KerberosName.parse(name)));
        } catch (Exception e) {
            return failure("error", e);
        }
    }

    /** The ranges of code points that a pattern takes as a whole text; where hardly any is assigned, of one in `step`. */
    static String members(Pattern pattern, int step) {
        StringBuilder ranges = new StringBuilder();
        // One matcher and one text for a million questions.
        StringBuilder text = new StringBuilder(2);
        Matcher matcher = pattern.matcher(text);
        int first = -1;
        int last = -1;
        for (int c = 0; c <= 0x110000; c = next(c, step)) {
            boolean takes = false;
            if (c <= 0x10FFFF) {
                text.setLength(0);
                takes = matcher.reset(text.appendCodePoint(c)).matches();
            }
            if (takes && first < 0) first = c;
            if (!takes && first >= 0) {
                ranges.append(Integer.toHexString(first)).append('-').append(Integer.toHexString(last)).append(' ');
                first = -1;
            }
            last = c;
        }
        return ranges.toString().trim();
    }

    static int next(int c, int step) {
        if (c < 0x32400 || c >= 0xE0000 && c < 0xE0200 || c == 0x110000) return c + 1;
        return Math.min((c / step + 1) * step, c < 0xE0000 ? 0xE0000 : 0x110000);
    }

    static String hex(String text) {
        StringBuilder digits = new StringBuilder(4 * text.length());
        for (int i = 0; i < text.length(); i++)
            for (int shift = 12; shift >= 0; shift -= 4)
                digits.append(Character.forDigit(text.charAt(i) >> shift & 15, 16));
        return digits.toString();
    }

    static String text(String digits) {
        if (digits.length() % 4 != 0) return null;
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < digits.length(); i += 4) text.append((char) Integer.parseInt(digits.substring(i, i + 4), 16));
        return text.toString();
    }

    static byte[] bytes(String digits) {
        byte[] bytes = new byte[digits.length() / 2];
        for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        return bytes;
    }
}
