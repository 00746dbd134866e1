/** The rules a plan must obey: one entry each, read by search, constraint model and messages. */
package dev.meshplan.rules;
