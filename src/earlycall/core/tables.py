"""The tables a race is kept in, and the numbers its rules come down to.

The kernel sees a race as tables: one row per arm, one row per pull, one row for the race itself, each split into
integers and floats, and the declared curve of reading errors. Where arms are compared in order (order.py) there are
also the walk, one row per observation, and the duels and meetings, one row per arm or pair; elsewhere these are empty.
Live, a table is a list of lists; compiled, a two-dimensional array. Both are read as `row = table[i]; row[COLUMN]`, so
the same source serves both.

Columns marked *derived* can be rebuilt from the others; they are bookkeeping that `settle` keeps up to date. All
other columns change only through the moves of `turn.py`. A pull is known by its row (pull id − 1), −1 means none.
"""

from typing import NamedTuple

Ints = list[int]
Floats = list[float]

# Codes ----------------------------------------------------------------------------------------------------------
EVIDENCE, PAPER = 0, 1  # method
EVEN, CONTENDERS = 0, 1  # allocation
FULL, INCREMENTAL, UNBIASED, BIASED, CORRELATED = 0, 1, 2, 3, 4  # feedback; from BIASED on readings have an offset
INDEPENDENT, REFINING = 0, 1  # pooling of the readings of one pull
SIMULTANEOUS, AS_PRINTED = 0, 1  # ledger
FREE, ORDERED, BLOCKED = 0, 1, 2  # how pulls of two arms meet: as they come, in start order, block by block
EVERY, ONCE = 0, 1  # looks: at every reading, or once at a pull's planned length
SURVIVING, ACCEPTED, REJECTED = 0, 1, 2  # an arm's verdict
ABSENT, WITHDRAWN = 3, 4  # in its place: a row kept for an arm that may come, an arm that has left
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
WON = 25  # derived: survivors that it may beat, and that may beat it (duels.py)
LOST_TO = 26
EARLY_END = 27  # last row of the arm's walk; the last one all of whose pulls are over; −1: none (order.py)
FULL_END = 28
FIRST = 29  # first pull started; NEXT leads on from it
ARM_INTS = 30

# Arms, floats ---------------------------------------------------------------------------------------------------
SIGMA = 0  # sd of the full feedback
TAU = 1  # prior precision of the mean, wide prior
TAU_BIAS = 2  # prior precision of the bias, both priors
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
SPREAD = 16  # derived: 1/J (evidence, wide prior), the radius (paper); inf while nothing is known
PENALTY = 17  # derived: pen (evidence, wide prior)
LOW = 18  # derived: lower end of the interval
HIGH = 19  # derived: upper end of the interval
PROMISE = 20  # derived: information once the running pulls have brought what they will
PLANNED = 21  # derived: information that a fresh pull is planned to bring
FRESH = 22  # derived: the same per step of slot time, `setup` included
SLOPE = 23  # β: a reading is an unknown offset + β·X + an error of its own; 1 but for Correlated
NARROW_TAU = 24  # the same three of the narrow prior
NARROW_SPREAD = 25
NARROW_PENALTY = 26
PLAN = 27  # derived: the length every pull of the arm is planned to; 0: to its end (looks once, informative delays)
SCRATCH = 28  # derived: row p is a work place of `select`, an arm's own of `weigh_pairs`
ARM_FLOATS = 29

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
COUNTED = 10  # 0 not yet, 1 with its readings for good, 2 with its full feedback, 3 never (looks once, informative)
FIRST_ROW = 11  # its first and last row in the walk; −1: none
LAST_ROW = 12
PULL_INTS = 13

# Pulls, floats --------------------------------------------------------------------------------------------------
ESTIMATE = 0  # Ȳ: what its readings say about its full feedback
PRECISION = 1  # q: 1/Var(Ȳ − X) from the declared sds
WEIGHT = 2  # w: information about the mean
TERM = 3  # C(s, P, ·), the paper's partial radius
BETA = 4  # β at the share of δ of this pull
LENGTH = 5  # Incremental: the D of this pull
TOTAL = 6  # Incremental: Σ of the increments
VALUE = 7  # X once finished
EARLY = 8  # w and w·Ȳ of its readings up to the step that every pull outlives
EARLY_Y = 9
WITHIN = 10  # Σ s⁻²(y − Ȳ)²: how far its readings (its increments) lie apart, in variances of theirs
PULL_FLOATS = 11

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
PRESENT = 11  # derived: arms that are in the race, judged or not
CHANGES = 12  # arms that came or left since the last turn
WALKED = 13  # rows of the walk in use
PILOTING = 14  # 1 until the pilot has measured the sds (pilot.py)
RACE_INTS = 15

# The race, floats -----------------------------------------------------------------------------------------------
ACCEPT_AT = 0  # derived: the three fences
REJECT_AT = 1
CLOSE_AT = 2
RACE_FLOATS = 3

# The curve: readings from FROM_STEP on have precision CURVE_PRECISION -----------------------------------------------
FROM_STEP = 0
CURVE_PRECISION = 1

# The walk, integers: one row per observation, linked per arm in start order (order.py) -------------------------------
BEFORE = 0  # the observation before it
JUMP = 1  # one further back: any depth is found in a logarithm of steps
DEPTH = 2  # 1 for the arm's first observation; 0 while it waits for the pulls started before its own
AFTER = 3  # the observation after it: of the arm once it is in order, of its pull while it waits
BLOCK = 4  # its block
WALK_INTS = 5

# The walk, floats: sums over the arm's observations up to this one ---------------------------------------------------
SHARE = 0  # of this observation: its weight, 1 for a full feedback
SEEN = 1  # of this observation: its value
TO_WEIGHT = 2  # σ unknown: Σ weight, the weighted mean, Σ weight·(value − mean)²
TO_MEAN = 3
TO_SQUARES = 4
TO_A = 5  # σ known: the same sums as in the arms table, over pulls that are over
TO_AX = 6
TO_W = 7
TO_WY = 8
TO_Q = 9
TO_QZ = 10
TO_EARLY = 11  # σ known: Σ EARLY and Σ EARLY_Y
TO_EARLY_Y = 12
WALK_FLOATS = 13

# Meetings: one row per pair (first·n + second, first < second), block by block (pairs.py) -----------------------------
NEXT_FIRST = 0  # the next observation of each arm that they have not met at; −1: begin with the arm's first
NEXT_SECOND = 1
MET = 2  # blocks on which both finished
MEET_INTS = 3
DIFFERENCE = 0  # mean of first − second over these blocks, and Σ (difference − mean)²
SQUARES = 1
MEET_FLOATS = 2


class Rules(NamedTuple):
    """The settings of a race as numbers; codes are those above."""

    arms: int  # n, and the rows kept for newcomers
    k: int
    slots: int  # b
    per_arm: int  # r
    method: int
    allocation: int
    feedback: int
    pooling: int
    ledger: int
    steps: int  # declared length of a pull in steps; 0: not declared
    min_readings: int  # readings a finished pull needs to speak about the bias (paper)
    epsilon: float
    setup: float  # cost of a fresh pull in steps; below 0: pulls are never cut
    delta: float  # what the verdicts may spend
    spent: float  # what the pilot has spent
    level: float  # L = ln(pairs/δ): k(n−k) of them, or all N(N−1)/2 where arms come and go
    widen: float  # 2, or 1 for the radius as printed
    log_budget: float  # ln(2ζ(2a/c)·arms/δ)
    share_full: float  # fractions of δ/n
    share_partial: float
    share_bias: float
    reading_sd: float  # the largest declared sd of a reading; 0 where there are none
    order: int  # FREE, ORDERED or BLOCKED
    unknown: int  # 1: σ is not known
    looks: int
    min_delay: int  # a step that every pull outlives; 0: none is known
    pilot: int  # pulls of every arm that measure the sds; 0: they are known, or not needed
    pilot_readings: int  # 1: the sd of a reading is measured, too
    pilot_risk: float  # the chance that each of its bounds is too low
    blocks: int  # how many blocks there are; 0: no end of them, or none
    lags: int  # how many numbers of early pulls are tried beyond those that are over (pairs.py)


class Tables(NamedTuple):
    """The tables of one race; those of order.py and duels.py are empty where arms are not compared in order."""

    arms: list[Ints]
    armf: list[Floats]
    pulls: list[Ints]
    pullf: list[Floats]
    race: Ints
    racef: Floats
    curve: list[Floats]
    walk: list[Ints]
    walkf: list[Floats]
    duels: list[Ints]  # row i, column j: 1 while i may beat j
    meets: list[Ints]
    meetf: list[Floats]
    spare: list[Floats]  # two rows like an arm's, to work in
