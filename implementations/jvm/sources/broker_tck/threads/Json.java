package broker_tck.threads;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Writes values as JSON. */
final class Json {

    static void write(StringBuilder to, Object value) {
        if (value instanceof String text) {
            quote(to, text);
        } else if (value instanceof Object[] array) {
            list(to, Arrays.asList(array));
        } else if (value instanceof List<?> values) {
            list(to, values);
        } else if (value instanceof Map<?, ?> map) {
            object(to, map);
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

    private static void object(StringBuilder to, Map<?, ?> map) {
        char before = '{';
        for (Map.Entry<?, ?> each : map.entrySet()) {
            to.append(before);
            quote(to, (String) each.getKey());
            to.append(':');
            write(to, each.getValue());
            before = ',';
        }
        to.append(map.isEmpty() ? "{}" : "}");
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
