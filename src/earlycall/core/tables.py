"""The tables a race is kept in, and the numbers its rules come down to.

The kernel sees a race as seven tables: one row per arm, one row per pull, one row for the race itself, each split
into integers and floats, and the declared curve of reading errors. Live, a table is a list of lists; compiled, a
two-dimensional array. Both are read as `row = table[i]; row[COLUMN]`, so the same source serves both.

Columns marked *derived* can be rebuilt from the others; they are bookkeeping that `settle` keeps up to date. All
other columns change only through the moves of `turn.py`. A pull is known by its row (pull id − 1), −1 means none.
"""

from typing import NamedTuple

Ints = list[int]
Floats = list[float]

# Codes ----------------------------------------------------------------------------------------------------------
EVIDENCE, PAPER = 0, 1  # method
FULL, INCREMENTAL, UNBIASED, BIASED, CORRELATED = 0, 1, 2, 3, 4  # feedback; from BIASED on readings have an offset
INDEPENDENT, REFINING = 0, 1  # pooling of the readings of one pull
SIMULTANEOUS, AS_PRINTED = 0, 1  # ledger
SURVIVING, ACCEPTED, REJECTED = 0, 1, 2  # an arm's verdict
CLEAR, RISING, FALLING = 0, 1, 2  # an arm's doubt (verdict.py)
RUNNING, FINISHED, LOST, FAILED, CANCELLED, CUT = 0, 1, 2, 3, 4, 5  # a pull's state
SEVERAL = -2  # more than one pull

# Arms, integers -------------------------------------------------------------------------------------------------
STATUS = 0  # the verdict that stands
JUDGED = 1  # derived: the verdict the last `judge` came to; a decision makes it the status
RIVAL = 2  # derived: the arm that was hardest to tell apart when the verdict fell
STARTED = 3  # pulls ever started; the j of the ledger's shares
PULLED = 4  # pulls started and not lost: the paper's N_i
ACTIVE = 5  # pulls that hold a slot: the paper's a_i
DONE = 6  # finished pulls: F
SPEAKING = 7  # unfinished pulls with a reading, whatever their state
HEAD = 8  # first and last pull of the arm that hold a slot, in start order; linked by LEFT and RIGHT
LAST = 9
TAIL = 10  # last pull started
FULL_NEXT = 11  # first pull in start order that is not in the finished prefix
POOL_NEXT = 12  # first pull in start order that has said nothing yet
FULL_COUNT = 13  # pulls in the finished prefix
BIAS_COUNT = 14  # of these, the ones with enough readings to speak about the bias
POOL_DONE = 15  # finished pulls before POOL_NEXT
POOL_OPEN = 16  # unfinished pulls before POOL_NEXT
MOVED = 17  # 1 while the arm waits for `settle`
QUEUE = 18  # row p holds the p-th arm that waits for `settle`
ALIVE = 19  # derived: row p holds the p-th arm that survives, in order
LEADER = 20  # derived: 1 for the k_t best means among the survivors
NEWS_OF = 21  # the pull that moved the arm since the last turn, or SEVERAL
DOUBT = 22  # derived: RISING or FALLING while its interval says accept or reject and its pairs do not
SCORE = 23  # derived: of an arm in doubt, the survivors it beats, or that beat it
IN_DOUBT = 24  # derived: row p holds the p-th arm in doubt
FIRST = 25  # first pull started; NEXT leads on from it
ARM_INTS = 26

# Arms, floats ---------------------------------------------------------------------------------------------------
SIGMA = 0  # sd of the full feedback
TAU = 1  # prior precision of the mean
TAU_BIAS = 2  # prior precision of the bias
A = 3  # finished pulls: Σ 1/σ²
AX = 4  # finished pulls: Σ X/σ²
W = 5  # other pulls: Σ w
WY = 6  # other pulls: Σ w·Ȳ
Q = 7  # finished pulls with readings: Σ q, the precision of Ȳ − X
QZ = 8  # finished pulls with readings: Σ q·(Ȳ − X)
W_LEFT = 9  # the part of W said by pulls that hold no slot
FULL_SUM = 10  # Σ X over the finished prefix
BIAS_SUM = 11  # Σ (Ȳ − X) over the BIAS_COUNT pulls
POOL_SUM = 12  # Σ X over POOL_DONE
POOL_MEANS = 13  # Σ Ȳ over POOL_OPEN
POOL_TERMS = 14  # Σ C(s, P_j, ·) over POOL_OPEN
MEAN = 15  # derived: μ̂
SPREAD = 16  # derived: 1/J (evidence), the radius (paper); inf while nothing is known
PENALTY = 17  # derived: pen (evidence)
LOW = 18  # derived: lower end of the interval
HIGH = 19  # derived: upper end of the interval
PROMISE = 20  # derived: information once the running pulls have brought what they will
PLANNED = 21  # derived: information that a fresh pull is planned to bring
FRESH = 22  # derived: the same per step of slot time, `setup` included
SLOPE = 23  # β: a reading is an unknown offset + β·X + an error of its own; 1 but for Correlated
SCRATCH = 24  # derived: row p is a work place of `select`
ARM_FLOATS = 25

# Pulls, integers ------------------------------------------------------------------------------------------------
ARM = 0
STATE = 1
STEP = 2  # last step reported
READINGS = 3  # how many were reported
ORDINAL = 4  # j: the arm's j-th started pull
NEXT = 5  # the arm's next pull in start order
LEFT = 6  # neighbours among the arm's pulls that hold a slot
RIGHT = 7
OUT = 8  # 1: left the start order (lost before it said anything)
POOLED = 9  # 1: counted before POOL_NEXT
PULL_INTS = 10

# Pulls, floats --------------------------------------------------------------------------------------------------
ESTIMATE = 0  # Ȳ: what its readings say about its full feedback
PRECISION = 1  # q: 1/Var(Ȳ − X) from the declared sds
WEIGHT = 2  # w: information about the mean
TERM = 3  # C(s, P, ·), the paper's partial radius
BETA = 4  # β at the share of δ of this pull
LENGTH = 5  # Incremental: the D of this pull
TOTAL = 6  # Incremental: Σ of the increments
VALUE = 7  # X once finished
WITHIN = 8  # Σ s⁻²(y − Ȳ)²: how far its readings (its increments) lie apart, in variances of theirs
PULL_FLOATS = 9

# The race, integers ---------------------------------------------------------------------------------------------
QUEUED = 0  # arms that wait for `settle`
BUSY = 1  # slots held
OPENED = 2  # pulls ever started
SURVIVORS = 3  # derived: |S|
TAKEN = 4  # derived: |A|
FENCED = 5  # derived: 1 while the fences of verdict.py stand
ACCEPT_COUNT = 6  # derived: survivors with HIGH ≥ ACCEPT_AT
REJECT_COUNT = 7  # derived: survivors with LOW > REJECT_AT
CLOSE_HIGH = 8  # derived: survivors with HIGH ≥ CLOSE_AT + ε
CLOSE_LOW = 9  # derived: survivors with LOW > CLOSE_AT
DOUBTS = 10  # derived: arms in doubt
RACE_INTS = 11

# The race, floats -----------------------------------------------------------------------------------------------
ACCEPT_AT = 0  # derived: the three fences
REJECT_AT = 1
CLOSE_AT = 2
RACE_FLOATS = 3

# The curve: readings from FROM_STEP on have precision CURVE_PRECISION -----------------------------------------------
FROM_STEP = 0
CURVE_PRECISION = 1


class Rules(NamedTuple):
    """The settings of a race as numbers; codes are those above."""

    arms: int  # n
    k: int
    slots: int  # b
    per_arm: int  # r
    method: int
    feedback: int
    pooling: int
    ledger: int
    steps: int  # declared length of a pull in steps; 0: not declared
    min_readings: int  # readings a finished pull needs to speak about the bias (paper)
    epsilon: float
    setup: float  # cost of a fresh pull in steps; below 0: pulls are never cut
    delta: float
    level: float  # L = ln(k(n−k)/δ)
    widen: float  # 2, or 1 for the radius as printed
    log_budget: float  # ln(2ζ(2a/c)·n/δ)
    share_full: float  # fractions of δ/n
    share_partial: float
    share_bias: float
    reading_sd: float  # the largest declared sd of a reading; 0 where there are none


class Tables(NamedTuple):
    """The tables of one race."""

    arms: list[Ints]
    armf: list[Floats]
    pulls: list[Ints]
    pullf: list[Floats]
    race: Ints
    racef: Floats
    curve: list[Floats]
