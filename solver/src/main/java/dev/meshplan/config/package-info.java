/** Strict YAML in, JSON and YAML out: located errors, nearest names, nothing lost silently. */
package dev.meshplan.config;
