/** Every record between a request and its answer: what is asked, what is planned, what it costs. */
package dev.meshplan.plan;
