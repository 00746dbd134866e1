package dev.meshplan.formats;

/**
 * Why a consumer can't express a plan.
 *
 * @param reason what it lacks
 * @param nearest the nearest plan that it can express
 */
record Refusal(String reason, String nearest) {}
