package catchment.queries;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * Aggregates over sessions: rows that are less than a gap apart. A row that comes late may join two of them, and one
 * that is withdrawn may part them.
 */
final class Sessions extends KeptRows<Sessions.Parted> {
    static final class Parted extends KeptRows.Group {
        private final TreeMap<Long, Session> sessions = new TreeMap<>();

        private Parted(Object[] values) {
            super(values);
        }
    }

    private static final class Session {
        private long firstUs;
        private long lastUs;
        private final Accumulator[] values;
        private Object[] told;

        private Session(Accumulator[] values) {
            this.values = values;
        }

        private void add(Placed row) {
            firstUs = Math.min(firstUs, row.timeUs());
            lastUs = Math.max(lastUs, row.timeUs());
            for (int each = 0; each < values.length; each++) {
                values[each].add(row.values()[each], 1, row.timeUs(), row.id());
            }
        }
    }

    Sessions(AggregateSpec spec) {
        super(spec);
    }

    @Override
    Parted start(Object[] values) {
        return new Parted(values);
    }

    @Override
    void take(Parted group, Change change, long timeUs, Results results) {
        clock.hear(timeUs);
        boolean closed = clock.hasPassed(timeUs + spec.sizeUs());
        boolean lost = clock.gaveUp(timeUs + spec.sizeUs()) || closed && spec.setsLateAside();
        if (lost) {
            results.setAside(change, "its session is closed");
        } else {
            if (closed) {
                results.noteLate();
            }
            apply(group, change, timeUs, results);
        }
        close(group, change.originUs(), results);
    }

    private void apply(Parted group, Change change, long timeUs, Results results) {
        Rows.Shift shift = add(group, change, timeUs);
        if (shift.out() != null) {
            move(group, shift.out(), false, change.originUs(), results);
        }
        if (shift.in() != null) {
            move(group, shift.in(), true, change.originUs(), results);
        }
    }

    private void move(Parted group, Placed row, boolean isNew, long originUs, Results results) {
        List<Session> touched = touched(group, row.timeUs());
        touched.forEach(session -> group.sessions.remove(session.firstUs));
        List<Session> next =
                isNew && touched.size() <= 1 ? List.of(grown(touched, row)) : parted(group, touched);
        tell(group, touched, next, originUs, results);
    }

    /** The sessions that a row at this time is part of, or would be. */
    private List<Session> touched(Parted group, long timeUs) {
        List<Session> touched = new ArrayList<>(2);
        Map.Entry<Long, Session> before = group.sessions.floorEntry(timeUs);
        if (before != null && timeUs - before.getValue().lastUs < spec.sizeUs()) {
            touched.add(before.getValue());
        }
        Map.Entry<Long, Session> after = group.sessions.higherEntry(timeUs);
        if (after != null && after.getKey() - timeUs < spec.sizeUs()) {
            touched.add(after.getValue());
        }
        return touched;
    }

    /** A new session, or the one that a row belongs to, with that row. */
    private Session grown(List<Session> touched, Placed row) {
        if (!touched.isEmpty()) {
            Session before = touched.get(0);
            Session grown = new Session(before.values);
            grown.firstUs = before.firstUs;
            grown.lastUs = before.lastUs;
            grown.add(row);
            return grown;
        }
        return started(row);
    }

    private Session started(Placed row) {
        Session session = new Session(spec.start());
        session.firstUs = row.timeUs();
        session.lastUs = row.timeUs();
        session.add(row);
        return session;
    }

    /** What the rows of sessions are now: joined, parted or gone. */
    private List<Session> parted(Parted group, List<Session> touched) {
        if (touched.isEmpty()) {
            return List.of();
        }
        long fromUs = touched.get(0).firstUs;
        long toUs = touched.get(touched.size() - 1).lastUs;
        return sessionsOf(group.rows.present().subSet(Placed.at(fromUs), Placed.at(toUs + 1)));
    }

    private List<Session> sessionsOf(Collection<Placed> rows) {
        List<Session> sessions = new ArrayList<>();
        Session latest = null;
        for (Placed row : rows) {
            if (latest != null && row.timeUs() - latest.lastUs < spec.sizeUs()) {
                latest.add(row);
            } else {
                latest = started(row);
                sessions.add(latest);
            }
        }
        return sessions;
    }

    private void tell(Parted group, List<Session> before, List<Session> now, long originUs, Results results) {
        Map<Long, Object[]> told = new HashMap<>();
        for (Session session : before) {
            if (session.told != null) {
                told.put(session.firstUs, session.told);
            }
        }
        for (Session session : now) {
            group.sessions.put(session.firstUs, session);
            Object[] old = told.remove(session.firstUs);
            if (isTold(session)) {
                tell(group, session, old, originUs, results);
            } else if (old != null) {
                results.give(-1, idOf(group, session.firstUs), originUs, old.clone());
            }
        }
        told.forEach((firstUs, old) -> results.give(-1, idOf(group, firstUs), originUs, old.clone()));
    }

    private boolean isTold(Session session) {
        return !spec.isFinal() || clock.hasPassed(session.lastUs + spec.sizeUs());
    }

    private void tell(Parted group, Session session, Object[] old, long originUs, Results results) {
        session.told = rowOf(group, session);
        replace(idOf(group, session.firstUs), old, session.told, originUs, results);
    }

    private Object[] rowOf(Parted group, Session session) {
        return spec.row(group.values, session.values, session.firstUs, session.lastUs + spec.sizeUs());
    }

    private static String idOf(Parted group, long firstUs) {
        return group.text + "@" + firstUs;
    }

    @Override
    void tick(Parted group, long now, Results results) {
        close(group, now * 1_000, results);
    }

    private void close(Parted group, long originUs, Results results) {
        if (!spec.isFinal()) {
            return;
        }
        for (Session session : group.sessions.values()) {
            if (session.told == null && isTold(session)) {
                tell(group, session, null, originUs, results);
            }
        }
    }

    @Override
    void complete(Parted group) {
        for (Session session : sessionsOf(group.rows.present())) {
            session.told = isTold(session) ? rowOf(group, session) : null;
            group.sessions.put(session.firstUs, session);
        }
    }

    @Override
    boolean isOver(Parted group) {
        return group.rows.isEmpty();
    }

    @Override
    void forget(Parted group, BiConsumer<byte[], byte[]> entries) {
        group.sessions.values().removeIf(session -> {
            boolean old = clock.gaveUp(session.lastUs + spec.sizeUs());
            if (old) {
                List.copyOf(group.rows.present().subSet(Placed.at(session.firstUs), Placed.at(session.lastUs + 1)))
                        .forEach(group.rows::forget);
                noteChange(group);
            }
            return old;
        });
    }
}
