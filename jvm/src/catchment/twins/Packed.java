package catchment.twins;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes that are written and read from the front: numbers as short as they are, text with its length. */
final class Packed {
    private byte[] bytes;
    private int place;

    Packed(byte[] bytes) {
        this.bytes = bytes;
    }

    Packed(int room) {
        this(new byte[room]);
    }

    /** Begins anew, in the same room. */
    void clear() {
        place = 0;
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, place);
    }

    void writeByte(int value) {
        need(1);
        bytes[place++] = (byte) value;
    }

    byte readByte() {
        return bytes[place++];
    }

    /** Small numbers, of either sign, take one byte. */
    void writeLong(long value) {
        need(10);
        long left = (value << 1) ^ (value >> 63);
        while ((left & ~0x7FL) != 0) {
            bytes[place++] = (byte) (left | 0x80);
            left >>>= 7;
        }
        bytes[place++] = (byte) left;
    }

    long readLong() {
        long value = 0;
        int shift = 0;
        byte each;
        do {
            each = bytes[place++];
            value |= (long) (each & 0x7F) << shift;
            shift += 7;
        } while (each < 0);
        return (value >>> 1) ^ -(value & 1);
    }

    void writeDouble(double value) {
        need(Long.BYTES);
        long bits = Double.doubleToRawLongBits(value);
        for (int shift = 56; shift >= 0; shift -= 8) {
            bytes[place++] = (byte) (bits >>> shift);
        }
    }

    double readDouble() {
        long bits = 0;
        for (int each = 0; each < Long.BYTES; each++) {
            bits = bits << 8 | bytes[place++] & 0xFF;
        }
        return Double.longBitsToDouble(bits);
    }

    void writeText(String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        writeLong(encoded.length);
        need(encoded.length);
        System.arraycopy(encoded, 0, bytes, place, encoded.length);
        place += encoded.length;
    }

    String readText() {
        int length = (int) readLong();
        String text = new String(bytes, place, length, StandardCharsets.UTF_8);
        place += length;
        return text;
    }

    private void need(int more) {
        if (place + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, place + more));
        }
    }
}
