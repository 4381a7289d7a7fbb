"""The only room with threads, clocks and processes; so far, the race a person drives by hand."""
