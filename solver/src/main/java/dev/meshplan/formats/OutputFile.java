package dev.meshplan.formats;

/** A file to write: its name without a folder, and its text. */
public record OutputFile(String name, String text) {}
