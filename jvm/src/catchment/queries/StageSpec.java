package catchment.queries;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The boxes of one stage: catchment/queries/frames/stages.py writes it.
 *
 * @param byEdge the place of the box that rows on an edge are for
 * @param firstPassed the place of the first column of rows that only pass; the others follow
 * @param firstPassedOut its place in the output
 */
record StageSpec(
        List<BoxSpec> boxes,
        Map<Integer, Integer> byEdge,
        int firstPassed,
        int passed,
        int firstPassedOut,
        boolean handsTicksOn) {
    /**
     * One box, and the edge of its results, whose columns begin at the place `firstOutput` of the output.
     *
     * @param leaves whether results go on from here, and not only to the boxes that it feeds
     */
    record BoxSpec(String name, int edge, JsonNode spec, boolean leaves, int firstOutput, List<Feed> feeds) {
        static BoxSpec of(JsonNode box) {
            List<Feed> feeds = new ArrayList<>();
            box.get("feeds").forEach(feed -> feeds.add(Feed.of(feed)));
            return new BoxSpec(
                    box.get("name").asText(),
                    box.get("edge").asInt(),
                    box.get("spec"),
                    box.get("leaves").asBoolean(),
                    box.get("first_output").asInt(),
                    List.copyOf(feeds));
        }
    }

    static StageSpec of(JsonNode stage) {
        List<BoxSpec> boxes = new ArrayList<>();
        Map<Integer, Integer> byEdge = new HashMap<>();
        for (JsonNode box : stage.get("boxes")) {
            for (JsonNode edge : box.get("takes")) {
                byEdge.put(edge.asInt(), boxes.size());
            }
            boxes.add(BoxSpec.of(box));
        }
        return new StageSpec(
                boxes,
                byEdge,
                stage.get("first_passed").asInt(),
                stage.get("passed").asInt(),
                stage.get("first_passed_out").asInt(),
                stage.get("hands_ticks_on").asBoolean());
    }
}
