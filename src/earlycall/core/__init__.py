"""The ground floor: mathematics and decisions, without clocks, chance, files or threads."""

# The files of the kernel: functions of numbers and tables, compiled as they stand. The others are the shell.
KERNEL = (
    "arrivals",
    "confidence",
    "contenders",
    "duels",
    "evidence",
    "feedback",
    "ledger",
    "order",
    "pairs",
    "paper",
    "pilot",
    "radius",
    "schedule",
    "student",
    "suspicions",
    "tables",
    "turn",
    "verdict",
)
