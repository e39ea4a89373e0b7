package catchment.control;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes that are written and read from the front: numbers as short as they are, text with its length. */
public final class Packed {
    private byte[] bytes;
    private int place;

    public Packed(byte[] bytes) {
        this.bytes = bytes;
    }

    public Packed(int room) {
        this(new byte[room]);
    }

    /** Begins anew, in the same room. */
    public void clear() {
        place = 0;
    }

    public byte[] toBytes() {
        return Arrays.copyOf(bytes, place);
    }

    public void writeByte(int value) {
        need(1);
        bytes[place++] = (byte) value;
    }

    public byte readByte() {
        return bytes[place++];
    }

    /** Small numbers, of either sign, take one byte. */
    public void writeLong(long value) {
        need(10);
        long left = (value << 1) ^ (value >> 63);
        while ((left & ~0x7FL) != 0) {
            bytes[place++] = (byte) (left | 0x80);
            left >>>= 7;
        }
        bytes[place++] = (byte) left;
    }

    public long readLong() {
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

    public void writeDouble(double value) {
        need(Long.BYTES);
        long bits = Double.doubleToRawLongBits(value);
        for (int shift = 56; shift >= 0; shift -= 8) {
            bytes[place++] = (byte) (bits >>> shift);
        }
    }

    public double readDouble() {
        long bits = 0;
        for (int each = 0; each < Long.BYTES; each++) {
            bits = bits << 8 | bytes[place++] & 0xFF;
        }
        return Double.longBitsToDouble(bits);
    }

    public void writeText(String text) {
        writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    public String readText() {
        int length = (int) readLong();
        String text = new String(bytes, place, length, StandardCharsets.UTF_8);
        place += length;
        return text;
    }

    public void writeBytes(byte[] more) {
        writeLong(more.length);
        need(more.length);
        System.arraycopy(more, 0, bytes, place, more.length);
        place += more.length;
    }

    public byte[] readBytes() {
        int length = (int) readLong();
        place += length;
        return Arrays.copyOfRange(bytes, place - length, place);
    }

    /** Whether all has been read. */
    public boolean isAtEnd() {
        return place == bytes.length;
    }

    private void need(int more) {
        if (place + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, place + more));
        }
    }
}
