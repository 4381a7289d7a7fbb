"""Every figure and number of the paper: the claim, the command, our value (`make paper`, `coverage`, `growth`)."""
