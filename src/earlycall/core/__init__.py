"""The ground floor: mathematics and decisions, without clocks, chance, files or threads."""
