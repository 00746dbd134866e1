package dev.meshplan.plan;

import dev.meshplan.hardware.Gpu;
import dev.meshplan.hardware.Network;
import dev.meshplan.hardware.SystemSpec;

/** The hardware of one pool, resolved. */
public record Machine(Pool pool, SystemSpec system, Gpu gpu, Network network) {}
