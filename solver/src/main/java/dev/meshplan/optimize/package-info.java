/** The search over degrees and every constraint model; the only package that sees OR-Tools. */
package dev.meshplan.optimize;
