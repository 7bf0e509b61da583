"""What queueing theory says of the simplest systems: the yardstick that the simulator is held against.

Rates are jobs a second, times seconds; a *response* is the mean time from submission to end. Kleinrock, "Queueing
systems", volumes 1 and 2; Cobham, "Priority assignment in waiting line problems", Operations Research 2, 1954.
"""

from __future__ import annotations

import math

from walltime.core.errors import InputError


def erlang_b(servers: int, load: float) -> float:
    """The share of jobs that find all servers busy and are lost; `load` is arrival rate times mean service."""
    blocked = 1.0
    for busy in range(1, servers + 1):
        blocked = load * blocked / (busy + load * blocked)
    return blocked


def erlang_c(servers: int, load: float) -> float:
    """The share of jobs that have to wait in M/M/c."""
    _stable(load / servers)
    lost = erlang_b(servers, load)
    return lost / (1 - load / servers * (1 - lost))


def response_mmc(rate: float, service: float, servers: int = 1) -> float:
    """M/M/c, first come first served; `service` is the mean."""
    load = rate * service
    return service + erlang_c(servers, load) * service / (servers - load)


def response_mg1(rate: float, service: float, variation: float) -> float:
    """M/G/1, first come first served, after Pollaczek and Khinchine; `variation` is the variance over the squared
    mean: 1 for exponential service, 0 for constant."""
    load = _stable(rate * service)
    return service + load * service * (1 + variation) / (2 * (1 - load))


def response_sharing(rate: float, service: float) -> float:
    """M/G/1 with processor sharing: only the mean of the service matters."""
    return service / (1 - _stable(rate * service))


def blocked_mmck(rate: float, service: float, servers: int, places: int) -> float:
    """The share of jobs that M/M/c/K turns away: `places` jobs are in the system already."""
    return _states(rate * service, servers, places)[-1]


def response_mmck(rate: float, service: float, servers: int, places: int) -> float:
    """The mean response of the jobs that M/M/c/K lets in, by Little's law."""
    states = _states(rate * service, servers, places)
    return sum(jobs * share for jobs, share in enumerate(states)) / (rate * (1 - states[-1]))


def response_repairman(users: int, think: float, service: float, servers: int = 1) -> float:
    """The mean response in a closed system: so many users, each of whom thinks for a while and then waits for one job;
    thinking and service exponential with these means, first come first served. The machine-repairman model."""
    shares = [1.0]  # of time with so many jobs in the system
    for jobs in range(1, users + 1):
        shares.append(shares[-1] * (users - jobs + 1) * service / (think * min(jobs, servers)))
    busy = math.fsum(min(jobs, servers) * share for jobs, share in enumerate(shares)) / math.fsum(shares)
    return users * service / busy - think


def responses_priority(rates: list[float], service: float, preemptive: bool) -> list[float]:
    """M/M/1 with classes of jobs that need the same mean service, the most urgent class first.

    Without preemption after Cobham; with it, a displaced job goes on later from where it was.
    """
    _stable(sum(rates) * service)
    found, above = [], 0.0
    for index, rate in enumerate(rates):
        within = above + rate * service
        remains = sum(rates[: index + 1] if preemptive else rates) * service * service  # work met: rate E[S^2] / 2
        wait = remains / ((1 - above) * (1 - within))
        found.append(wait + (service / (1 - above) if preemptive else service))
        above = within
    return found


def _states(load: float, servers: int, places: int) -> list[float]:
    """The share of time with each number of jobs in M/M/c/K."""
    if places < servers:
        raise InputError("fewer places than servers", value=places)
    weights = [1.0]
    for jobs in range(1, places + 1):
        weights.append(weights[-1] * load / min(jobs, servers))
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _stable(load: float) -> float:
    if not 0 <= load < 1:
        raise InputError("a queue whose load is not below 1 grows without end", value=load)
    return load
