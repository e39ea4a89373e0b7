package catchment.control;

import java.lang.reflect.Proxy;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker$;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.ttl.TTLState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/**
 * A call to an operator when the input of a checkpoint interval has ended, just before its state is committed.
 *
 * <p>Spark's own way is a timer, but with timers real-time mode looks for expired ones after every row, which costs as
 * much as to read the state. It also takes expired values out of the state before each commit, and has nothing to
 * do there for us: so the call is put among what it goes through then.
 */
public final class BeforeCommit {
    private static final String CALLED = "clearExpiredStateForAllKeys";

    private BeforeCommit() {}

    /** Asks for the call; to be used by `init` of an operator. It may come at other times too, between two rows. */
    public static void call(StatefulProcessorHandle handle, Runnable work) {
        // The driver opens operators as well, to see what state they have.
        if (handle instanceof StatefulProcessorHandleImpl live) {
            live.ttlStates().add(among(work));
        }
    }

    /** Does something with the state of one key. */
    public static void withStateOf(Object key, Runnable work) {
        Object before = ImplicitGroupingKeyTracker$.MODULE$.implicitKey().get();
        ImplicitGroupingKeyTracker$.MODULE$.setImplicitKey(key);
        try {
            work.run();
        } finally {
            ImplicitGroupingKeyTracker$.MODULE$.setImplicitKey(before);
        }
    }

    private static TTLState among(Runnable work) {
        Class<?>[] kinds = {TTLState.class};
        return (TTLState) Proxy.newProxyInstance(TTLState.class.getClassLoader(), kinds, (self, method, given) -> {
            if (!method.getName().equals(CALLED)) {
                throw new UnsupportedOperationException(method.getName());
            }
            work.run();
            return 0L;
        });
    }
}
