package catchment.twins;

import com.fasterxml.jackson.core.io.NumberOutput;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** JSON as bytes, written from the front into room that is used again: there are two messages for every change. */
final class JsonText {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private byte[] bytes = new byte[512];
    private int length;

    JsonText clear() {
        length = 0;
        return this;
    }

    /** Takes the last character back. */
    void back() {
        length--;
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    /** What is JSON already, punctuation and names. */
    JsonText raw(byte[] json) {
        return raw(json, 0, json.length);
    }

    JsonText raw(byte[] json, int from, int count) {
        need(count);
        System.arraycopy(json, from, bytes, length, count);
        length += count;
        return this;
    }

    JsonText raw(char json) {
        need(1);
        bytes[length++] = (byte) json;
        return this;
    }

    JsonText number(long value) {
        need(20);
        length = NumberOutput.outputLong(value, bytes, length);
        return this;
    }

    /** A value of an object; null is written as such. */
    JsonText scalar(Object value) {
        if (value instanceof String text) {
            return text(text);
        }
        if (value instanceof Long number) {
            return number(number);
        }
        String plain = value instanceof Double number ? NumberOutput.toString(number, true) : String.valueOf(value);
        return raw(plain.getBytes(StandardCharsets.US_ASCII));
    }

    JsonText text(String text) {
        raw('"');
        need(text.length());
        for (int place = 0; place < text.length(); place++) {
            char each = text.charAt(place);
            if (each >= 0x80) {
                return otherText(text.substring(place)).raw('"');
            }
            if (each < ' ' || each == '"' || each == '\\') {
                escaped(each);
                need(text.length() - place);
            } else {
                bytes[length++] = (byte) each;
            }
        }
        return raw('"');
    }

    /** Text with characters of all languages; half of a pair becomes a question mark. */
    private JsonText otherText(String text) {
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            if (each >= 0 && each < ' ' || each == '"' || each == '\\') {
                escaped((char) each);
            } else {
                raw((char) each);
            }
        }
        return this;
    }

    private void escaped(char each) {
        need(6);
        bytes[length++] = '\\';
        if (each >= ' ') {
            bytes[length++] = (byte) each;
            return;
        }
        bytes[length++] = 'u';
        bytes[length++] = '0';
        bytes[length++] = '0';
        bytes[length++] = HEX[each >> 4];
        bytes[length++] = HEX[each & 0xF];
    }

    private void need(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }
}
