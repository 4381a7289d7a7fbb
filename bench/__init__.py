"""How fast earlycall is, against the targets of its design: `make bench`."""
