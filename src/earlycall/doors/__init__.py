"""Doors translate between earlycall and the outside; they decide nothing."""
