/**
 * A collective, a message size and a group on a topology become seconds, with the algorithm's name.
 * Knows no model and no plan.
 */
package dev.meshplan.communication;
