"""What happened, durable: the only truth. Labels, never values or code. It knows no clock and decides nothing."""
