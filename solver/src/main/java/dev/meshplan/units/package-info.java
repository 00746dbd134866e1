/**
 * Quantities with their units, and where a number comes from. The only place that knows 1e9 and
 * 1024.
 */
package dev.meshplan.units;
