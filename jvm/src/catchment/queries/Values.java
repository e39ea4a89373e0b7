package catchment.queries;

import catchment.control.Packed;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Values of columns: as keys, in order, as text and as bytes. Times are whole numbers of µs. */
final class Values {
    private Values() {}

    /** What tells groups apart: equal if all values are. */
    static Object key(Object[] values) {
        if (values.length == 1) {
            return comparable(values[0]);
        }
        Object[] parts = new Object[values.length];
        for (int each = 0; each < parts.length; each++) {
            parts[each] = comparable(values[each]);
        }
        return Arrays.asList(parts);
    }

    /** A value that equals others of the same content. */
    static Object comparable(Object value) {
        if (value instanceof byte[] bytes) {
            return ByteBuffer.wrap(bytes);
        }
        return value instanceof Double number && number == 0.0 ? (Object) 0.0 : value;
    }

    /** The order of two values of a type; null comes first. */
    @SuppressWarnings("unchecked")
    static int compare(Object one, Object other) {
        if (one == null || other == null) {
            return one == other ? 0 : one == null ? -1 : 1;
        }
        if (one instanceof byte[] bytes) {
            return Arrays.compareUnsigned(bytes, (byte[]) other);
        }
        if (one instanceof Seq<?> list) {
            return compare(CollectionConverters.asJava(list), CollectionConverters.asJava((Seq<?>) other));
        }
        return ((Comparable<Object>) one).compareTo(other);
    }

    private static int compare(List<?> one, List<?> other) {
        for (int each = 0; each < Math.min(one.size(), other.size()); each++) {
            int order = compare(one.get(each), other.get(each));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(one.size(), other.size());
    }

    static int compare(Object[] one, Object[] other) {
        for (int each = 0; each < one.length; each++) {
            int order = compare(one[each], other[each]);
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }

    /** Values as a text that no others have. */
    static String text(Object[] values) {
        StringBuilder text = new StringBuilder();
        for (int each = 0; each < values.length; each++) {
            append(text.append(each == 0 ? "" : ","), values[each]);
        }
        return text.toString();
    }

    private static void append(StringBuilder text, Object value) {
        if (value == null) {
            text.append("\\N");
        } else if (value instanceof byte[] bytes) {
            text.append(HexFormat.of().formatHex(bytes));
        } else if (value instanceof Seq<?> list) {
            text.append('[').append(text(CollectionConverters.asJava(list).toArray())).append(']');
        } else {
            String plain = value.toString();
            boolean isPlain = !(value instanceof String) || plain.indexOf('\\') < 0 && plain.indexOf(',') < 0;
            text.append(isPlain ? plain : plain.replace("\\", "\\\\").replace(",", "\\,"));
        }
    }

    static void write(Packed out, Object[] values) {
        out.writeLong(values.length);
        for (Object value : values) {
            write(out, value);
        }
    }

    static Object[] readAll(Packed in) {
        Object[] values = new Object[(int) in.readLong()];
        for (int each = 0; each < values.length; each++) {
            values[each] = read(in);
        }
        return values;
    }

    static void write(Packed out, Object value) {
        if (value == null) {
            out.writeByte('n');
        } else if (value instanceof Long number) {
            out.writeByte('l');
            out.writeLong(number);
        } else if (value instanceof Integer number) {
            out.writeByte('i');
            out.writeLong(number);
        } else if (value instanceof Double number) {
            out.writeByte('d');
            out.writeDouble(number);
        } else if (value instanceof Boolean truth) {
            out.writeByte(truth ? 't' : 'f');
        } else if (value instanceof byte[] bytes) {
            out.writeByte('b');
            out.writeBytes(bytes);
        } else if (value instanceof Seq<?> list) {
            out.writeByte('a');
            write(out, CollectionConverters.asJava(list).toArray());
        } else {
            out.writeByte('s');
            out.writeText((String) value);
        }
    }

    static Object read(Packed in) {
        return switch (in.readByte()) {
            case 'n' -> null;
            case 'l' -> in.readLong();
            case 'i' -> (int) in.readLong();
            case 'd' -> in.readDouble();
            case 't' -> Boolean.TRUE;
            case 'f' -> Boolean.FALSE;
            case 'b' -> in.readBytes();
            case 'a' -> CollectionConverters.asScala(new ArrayList<>(Arrays.asList(readAll(in)))).toSeq();
            default -> in.readText();
        };
    }
}
