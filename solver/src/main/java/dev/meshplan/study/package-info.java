/** Studies over estimates and plans: explain, audit, accuracy. */
package dev.meshplan.study;
