"""Pages for people: one HTML file each, with plots, tables and highlighted notes."""
