"""Shows what there is, and decides nothing."""
