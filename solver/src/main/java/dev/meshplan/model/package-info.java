/**
 * Model shapes: layers by kind, with their parameter and FLOP counts. Knows no hardware and no
 * plan.
 */
package dev.meshplan.model;
