/** An answer as text, pictures and reports; the catalog as tables. */
package dev.meshplan.view;
