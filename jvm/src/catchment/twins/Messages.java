package catchment.twins;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/** What is written to topics, in JSON as catchment/twins/model.py reads it. */
final class Messages {
    private static final byte[] ID = json("\",\"id\":");
    private static final byte[] TYPE = json(",\"type\":");
    private static final byte[] VERSION = json(",\"version\":");
    private static final byte[] OWNER = json(",\"owner\":");
    private static final byte[] CREATED = json(",\"created_ms\":");
    private static final byte[] UPDATED = json(",\"updated_ms\":");
    private static final byte[] DELETED = json(",\"deleted_ms\":");
    private static final byte[] TRANSACTION = json(",\"transaction\":");
    private static final byte[] VALUES = json(",\"values\":{");
    private static final byte[] WHAT = json(",\"what\":");
    private static final byte[] AT = json(",\"at_ms\":");
    private static final byte[] USER = json(",\"user\":");
    private static final byte[] RESULT = json(",\"result\":");
    private static final byte[] REFUSAL = json(",\"refusal\":");
    private static final byte[] REASON = json(",\"reason\":");

    private final byte[] site;
    private final JsonText text = new JsonText();

    Messages(String site) {
        this.site = json("{\"site\":\"" + site);
    }

    private static byte[] json(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** An object as it is now. */
    byte[] twin(String id, Twin twin) {
        begin(id).raw(TYPE).text(twin.type).raw(VERSION).number(twin.version).raw(OWNER).text(twin.owner);
        text.raw(CREATED).number(twin.createdMs).raw(UPDATED).number(twin.updatedMs);
        if (twin.isMarkedDeleted()) {
            text.raw(DELETED).number(twin.deletedMs);
        }
        text.raw(TRANSACTION).text(twin.transaction);
        return values(twin.values);
    }

    /** What happened to it. */
    byte[] update(String id, Twin twin, Change change, Result result) {
        begin(id).raw(TYPE).text(result.type()).raw(VERSION).number(twin.version);
        text.raw(WHAT).text(result.what().text).raw(AT).number(change.atMs);
        text.raw(TRANSACTION).text(change.transaction).raw(USER).text(change.user);
        return values(result.changed());
    }

    /** What became of a change. */
    byte[] outcome(String id, Twin twin, Change change, Result result) {
        begin(id).raw(TRANSACTION).text(change.transaction).raw(USER).text(change.user);
        text.raw(RESULT).text(result.text());
        if (twin.present) {
            text.raw(VERSION).number(twin.version);
        }
        return reason(result.refusal(), result.reason(), change.atMs);
    }

    /** What became of a message that could not be split. */
    byte[] malformed(String transaction, String user, String reason, long atMs) {
        begin("").raw(TRANSACTION).text(transaction).raw(USER).text(user).raw(RESULT).text("refused");
        return reason(Refusal.MALFORMED, reason, atMs);
    }

    private JsonText begin(String id) {
        return text.clear().raw(site).raw(ID).text(id);
    }

    private byte[] values(Map<String, Object> values) {
        text.raw(VALUES);
        boolean first = true;
        for (Map.Entry<String, Object> each : values.entrySet()) {
            if (!first) {
                text.raw(',');
            }
            first = false;
            text.text(each.getKey()).raw(':').scalar(each.getValue());
        }
        return text.raw('}').raw('}').toBytes();
    }

    private byte[] reason(Refusal refusal, String reason, long atMs) {
        if (refusal != null) {
            text.raw(REFUSAL).text(refusal.text()).raw(REASON).text(reason);
        }
        return text.raw(AT).number(atMs).raw('}').toBytes();
    }
}
