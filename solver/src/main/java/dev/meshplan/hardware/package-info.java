/**
 * GPUs, systems, networks, offers: what is installed and what it can do. Knows no model, no plan.
 */
package dev.meshplan.hardware;
