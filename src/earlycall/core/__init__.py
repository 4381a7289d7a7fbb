"""The ground floor: mathematics and decisions, without clocks, chance, files or threads."""

# The files of the kernel: functions of numbers and tables, compiled as they stand. The others are the shell.
KERNEL = (
    "confidence",
    "contenders",
    "duels",
    "evidence",
    "feedback",
    "ledger",
    "order",
    "pairs",
    "paper",
    "radius",
    "schedule",
    "student",
    "suspicions",
    "tables",
    "turn",
    "verdict",
)
