"""Charts as inline SVG: Altair says what is drawn, vl-convert draws it, and a cache keeps what was drawn."""
