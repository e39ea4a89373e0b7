package catchment.thresholds;

/** A rule, whatever its version: the node that it belongs to, and its id there. */
public record RuleKey(String node, String id) implements Comparable<RuleKey> {
    /** From the key of its entry. */
    public static RuleKey parse(String key) {
        int slash = key.indexOf('/');
        return new RuleKey(key.substring(0, Math.max(0, slash)), key.substring(slash + 1));
    }

    @Override
    public int compareTo(RuleKey other) {
        int byNode = node.compareTo(other.node);
        return byNode != 0 ? byNode : id.compareTo(other.id);
    }

    @Override
    public String toString() {
        return node + "/" + id;
    }
}
