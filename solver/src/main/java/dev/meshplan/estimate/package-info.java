/**
 * What a plan costs: step seconds and bytes per GPU, term by term. Knows models, hardware, plans
 * and collectives; no rules, no search.
 */
package dev.meshplan.estimate;
