"""Orders and estimates of the slow twin: the formulas once more, one job at a time, in plain Python.

Nothing here is shared with the compiled parts. Times are microseconds; a rank is a number, lower first. Floating-point
operations come in the same order as in the fast parts.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from twin.fairshare import FairShare, Multifactor
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.scenario import Cluster

if TYPE_CHECKING:
    from twin.jobs import Job

LAST = math.inf


class Order:
    """Ranks of jobs by one of the RANKS; `dynamic` ones are asked for at each pass."""

    def __init__(self, part: str | Mapping[str, Any], cluster: Cluster | None = None) -> None:
        self.name, self.parameters = split(part)
        if self.name not in RANKS:
            raise InputError("unknown order", value=self.name, choices=RANKS)
        self.sum: Multifactor | None = None
        self.fair: FairShare | None = None
        if cluster is not None and self.name == "multifactor":
            self.sum = Multifactor(self.parameters, cluster)
            self.fair = self.sum.fair
        elif cluster is not None and self.name == "fairshare":
            self.fair = FairShare(self.parameters, cluster, "alea")
        self.origin: int | None = None  # when the first job that was asked about became eligible
        self.dynamic = self.name in ("expansion", "wfp3", "unicef", "drf")
        if self.name == "formula":
            names = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
            self.dynamic = bool(names & {"wait", "now"})

    @property
    def tree(self) -> ast.expr:
        return ast.parse(str(self.parameters["value"]), mode="eval").body

    def rank(self, job: Job, now: int) -> tuple[bool, float, int]:
        """What the queue is sorted by: nan last, ties by order of entry."""
        if self.origin is None:
            self.origin = job.eligible
        value = RANKS[self.name](self, job, now)
        return (True, 0.0, job.turn) if math.isnan(value) else (False, value, job.turn)


def split(part: str | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A part's name and its parameters."""
    if isinstance(part, str):
        return part, {}
    return part["name"], {name: value for name, value in part.items() if name != "name"}


# ---------------------------------------------------------------------------------------------------- orders


def _fairshare(order: Order, job: Job, now: int) -> float:
    assert order.fair is not None
    return order.fair.standing.get(order.fair.who(job), 0.0)


def _multifactor(order: Order, job: Job, now: int) -> float:
    assert order.sum is not None
    return -order.sum.priority(job)


def _expansion(order: Order, job: Job, now: int) -> float:
    estimate = max(job.estimate, 1)
    return -(float(now - job.eligible + estimate) / float(estimate))


def _wfp3(order: Order, job: Job, now: int) -> float:
    x = float(now - job.eligible) / float(max(job.requested, 1))
    return -(x * x * x * float(job.cores))


def _unicef(order: Order, job: Job, now: int) -> float:
    return -(float(now - job.eligible) / (math.log2(max(job.cores, 2)) * float(max(job.requested, 1))))


def _learned(formula: Callable[[float, float, float], float]) -> Callable[[Order, Job, int], float]:
    def rank(order: Order, job: Job, now: int) -> float:
        assert order.origin is not None
        s = max(float(job.eligible - order.origin) / 1e6 + 1.0, 1.0)
        return formula(max(float(job.estimate) / 1e6, 1.0), float(job.cores), s)

    return rank


def _formula(order: Order, job: Job, now: int) -> float:
    values = {
        "wait": now / SECOND - job.eligible / SECOND,
        "now": now / SECOND,
        "submit": job.submit / SECOND,
        "eligible": job.eligible / SECOND,
        "requested_time": job.requested / SECOND,
        "estimate": job.estimate / SECOND,
        "cores": float(job.cores),
        "nodes": math.nan if job.nodes is None else float(job.nodes),
        "priority": float(job.priority),
        "deadline": math.inf if job.deadline is None else job.deadline / SECOND,
    }
    value = _evaluate(order.tree, values)
    return value if order.parameters.get("first", "highest") == "lowest" else -value


RANKS: dict[str, Callable[[Order, Job, int], float]] = {
    "fcfs": lambda order, job, now: job.eligible,
    "submission": lambda order, job, now: job.submit,
    "sjf": lambda order, job, now: job.estimate,
    "ljf": lambda order, job, now: -job.estimate,
    "smallest": lambda order, job, now: job.cores,
    "largest": lambda order, job, now: -job.cores,
    "smallest-area": lambda order, job, now: float(job.estimate) * float(job.cores),
    "largest-area": lambda order, job, now: -float(job.estimate) * float(job.cores),
    "edf": lambda order, job, now: LAST if job.deadline is None else job.deadline,
    "priority": lambda order, job, now: -job.priority,
    "expansion": _expansion,
    "wfp3": _wfp3,
    "unicef": _unicef,
    "fairshare": _fairshare,
    "multifactor": _multifactor,
    "drf": lambda order, job, now: 0.0,  # of all together, by `packing.rank_jointly`
    "f1": _learned(lambda r, n, s: math.log10(r) * n + 870.0 * math.log10(s)),
    "f2": _learned(lambda r, n, s: math.sqrt(r) * n + 25600.0 * math.log10(s)),
    "f3": _learned(lambda r, n, s: r * n + 6860000.0 * math.log10(s)),
    "f4": _learned(lambda r, n, s: r * math.sqrt(n) + 530000.0 * math.log10(s)),
    "formula": _formula,
}
"""The rank of a job under each order."""


def _evaluate(node: ast.expr, values: Mapping[str, float]) -> float:
    """The value of a formula for one job, with infinities and nan instead of errors."""
    match node:
        case ast.Constant():
            return float(node.value)  # type: ignore[arg-type]
        case ast.Name():
            return values[node.id]
        case ast.UnaryOp():
            inner = _evaluate(node.operand, values)
            return -inner if isinstance(node.op, ast.USub) else inner
        case ast.BinOp():
            return _combine(node.op, _evaluate(node.left, values), _evaluate(node.right, values))
        case ast.Call(func=ast.Name(id=name)):
            return _apply(name, [_evaluate(argument, values) for argument in node.args])
    raise InputError("not a formula", value=ast.unparse(node))


def _combine(sign: ast.operator, x: float, y: float) -> float:
    if isinstance(sign, ast.Add):
        return x + y
    if isinstance(sign, ast.Sub):
        return x - y
    if isinstance(sign, ast.Mult):
        return x * y
    if isinstance(sign, ast.Mod):
        return x % y if y != 0 else math.nan
    if isinstance(sign, ast.Pow):
        return _power(x, y)
    if y != 0:
        return x / y
    return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1.0, y)


def _power(x: float, y: float) -> float:
    odd = y % 2 == 1
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and odd else math.inf
    except ValueError:  # a root of a negative number, or zero to a negative power
        return math.nan if x != 0 else math.copysign(math.inf, x) if odd else math.inf


def _apply(name: str, values: list[float]) -> float:
    x = values[0]
    if name in ("min", "max"):
        return math.nan if any(map(math.isnan, values)) else min(values) if name == "min" else max(values)
    if name == "abs":
        return abs(x)
    if name == "exp":
        try:
            return math.exp(x)
        except OverflowError:
            return math.inf
    if x < 0 or math.isnan(x):
        return math.nan
    if x == 0:
        return 0.0 if name == "sqrt" else -math.inf
    return float({"sqrt": math.sqrt, "log": math.log, "log2": math.log2, "log10": math.log10}[name](x))


# ------------------------------------------------------------------------------------------------- estimates


class Estimate:
    """How long a job is believed to run: request, perfect, factor or last-two."""

    def __init__(self, part: str | Mapping[str, Any], kill: bool) -> None:
        self.name, self.parameters = split(part)
        if self.name not in ("request", "perfect", "factor", "last-two"):
            raise InputError("unknown estimate", value=self.name, choices=("request", "perfect", "factor", "last-two"))
        self.kill = kill
        self.ran: dict[str | None, list[int]] = {}  # by user: how long jobs ran, in the order in which they ended

    def of(self, job: Job) -> int:
        """The estimate of a job that joins the queue."""
        requested = job.requested
        if self.name == "perfect" and job.run_time is not None:
            return min(job.run_time, requested) if self.kill else job.run_time
        if self.name == "factor":
            return int(float(requested) * self.parameters["factor"] + 0.5)
        known = self.ran.get(job.user, [])
        if self.name == "last-two" and job.user is not None and len(known) >= 2:
            return min(requested, sum(known[-2:]) // 2)
        return requested

    def ended(self, job: Job, run: int) -> None:
        """A job that had started has left the system."""
        self.ran.setdefault(job.user, []).append(run)
