package dev.meshplan.plan;

/**
 * How a group of candidates ended.
 *
 * @param id the rule or bound that ended them
 * @param kind rule kind, {@code bound}, {@code dominated}, {@code priced}
 * @param candidates how many tuples
 */
public record Tally(String id, String kind, long candidates) {}
