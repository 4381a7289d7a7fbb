"""Worlds to race in, thousands of races at once, and what no method can beat: with the extra `sim`. Cells: without."""
