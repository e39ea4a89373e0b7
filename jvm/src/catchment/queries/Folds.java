package catchment.queries;

import com.fasterxml.jackson.databind.JsonNode;

/** The fold of a box, by what it is asked for. */
final class Folds {
    private Folds() {}

    static Fold of(JsonNode spec) {
        String kind = spec.get("kind").asText();
        return switch (kind) {
            case "once" -> new Seen(spec.get("number_column").asInt(), spec.get("columns").asInt());
            case "latest" -> new Newest(spec.get("version_column").asInt(), spec.get("columns").asInt());
            case "windows" -> new Windows(AggregateSpec.of(spec));
            case "sessions" -> new Sessions(AggregateSpec.of(spec));
            case "counts" -> new CountWindows(AggregateSpec.of(spec));
            case "join" -> new Pairs(JoinSpec.of(spec));
            case "table" -> new Lookups(TableSpec.of(spec));
            case "top" -> new Ranks(TopSpec.of(spec));
            default -> throw new IllegalArgumentException("there is no box of kind " + kind);
        };
    }
}
