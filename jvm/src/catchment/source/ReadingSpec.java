package catchment.source;

import java.io.Serializable;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Which {@link Reading} a query asks for in its options; without a class it is Spark's own columns. */
record ReadingSpec(String className, String text) implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final String CLASS = "reading";
    private static final String TEXT = "readingSpec";

    static ReadingSpec of(CaseInsensitiveStringMap options) {
        return new ReadingSpec(options.get(CLASS), options.get(TEXT));
    }

    boolean isAsked() {
        return className != null;
    }

    Reading make() {
        try {
            return (Reading) Class.forName(className).getConstructor(String.class).newInstance(text);
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException(className + " cannot be made", error);
        }
    }
}
