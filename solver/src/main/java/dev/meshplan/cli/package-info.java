/** The command line: one class per command; parses, calls below, prints. */
package dev.meshplan.cli;
