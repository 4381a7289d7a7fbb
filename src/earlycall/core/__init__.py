"""The ground floor: mathematics and decisions, without clocks, chance, files or threads."""

# The files of the kernel: functions of numbers and tables, compiled as they stand. The others are the shell.
KERNEL = (
    "confidence",
    "evidence",
    "feedback",
    "ledger",
    "paper",
    "radius",
    "schedule",
    "suspicions",
    "tables",
    "turn",
    "verdict",
)
