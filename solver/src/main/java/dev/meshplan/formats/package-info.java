/**
 * What others write and read: importers of model configurations, node topologies and inventories,
 * and exporters of plans for the frameworks and schedulers that launch them.
 */
package dev.meshplan.formats;
