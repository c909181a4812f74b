package broker_tck.threads;

import java.util.Arrays;
import java.util.List;

/** Writes values as JSON. */
final class Json {

    static void write(StringBuilder to, Object value) {
        if (value instanceof String text) {
            quote(to, text);
        } else if (value instanceof Object[] array) {
            list(to, Arrays.asList(array));
        } else if (value instanceof List<?> values) {
            list(to, values);
        } else {
            to.append(value);
        }
    }

    private static void list(StringBuilder to, List<?> values) {
        char before = '[';
        for (Object each : values) {
            to.append(before);
            write(to, each);
            before = ',';
        }
        to.append(values.isEmpty() ? "[]" : "]");
    }

    private static void quote(StringBuilder to, String text) {
        to.append('"');
        for (char each : text.toCharArray()) {
            if (each < ' ' || each == '"' || each == '\\') {
                to.append(String.format("\\u%04x", (int) each));
            } else {
                to.append(each);
            }
        }
        to.append('"');
    }
}
