/** The answer for people: sentences and tables. */
package dev.meshplan.view;
