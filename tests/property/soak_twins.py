"""Many random cases of the engine and its twin, on cores, on nodes and on sites, other ones each day:
`python tests/property/soak_twins.py [--first SEED] [--count N]`.

Prints each case that fails, with its seed, and how many ran; exit code 1 where one failed.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import test_aware_twin as aware  # noqa: E402 - found by the path above
import test_conditions_twin as conditions  # noqa: E402
import test_disruptions_twin as disruptions  # noqa: E402
import test_engine_twin as on_cores  # noqa: E402
import test_fairshare_twin as fair_share  # noqa: E402
import test_nodes_twin as on_nodes  # noqa: E402
import test_orders_twin as by_order  # noqa: E402
import test_packing_twin as packing  # noqa: E402
import test_parts_twin as parts  # noqa: E402
import test_queue_places_twin as places  # noqa: E402
import test_rhythm_twin as rhythm  # noqa: E402
import test_site_twin as sites  # noqa: E402
import test_slurm_rhythm_twin as slurm_rhythm  # noqa: E402
import test_timeshare_twin as shared_time  # noqa: E402
from site_runs import compare  # noqa: E402
from site_scenarios import KINDS  # noqa: E402

ON_SITES = [module.draw_scenario for module in (sites, aware, conditions, fair_share, packing, rhythm)]
ON_NODES = [slurm_rhythm.draw_scenario, slurm_rhythm.draw_contiguous, parts.draw_scenario]
ON_NODES += [places.draw_places, places.draw_planned]
DAILY = 1_000_000
"""Seeds from one day to the next."""


def cases(seed: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every kind of case with this seed: its name, and what checks it."""
    for policy in on_cores.POLICIES:
        case = replace(on_cores.draw_case(seed, 3, 30), policy=policy)
        yield f"{policy} on cores", partial(on_cores.check_agreement, case)
    for policy in on_cores.QUICK if seed % 10 == 0 else ():
        case = replace(on_cores.draw_case(seed, 300, 500), policy=policy)
        yield f"{policy} on cores, a long queue", partial(on_cores.check_agreement, case)
    for policy, depth in on_nodes.POLICIES:
        yield f"{policy} {depth} on nodes", partial(on_nodes.check, on_nodes.draw_case(seed, policy, depth))
    yield "any parts", partial(by_order.check_agreement, by_order.draw_case(seed))
    for order in by_order.ORDERS:
        yield f"order {order}", partial(by_order.check_agreement, by_order.draw_case(seed, order=order))
    kind = KINDS[seed % len(KINDS)]
    for draw in ON_SITES:
        yield f"{draw.__module__} {kind}", partial(compare, draw, seed, kind, audited=True)
    for draw in ON_NODES if kind != "cores" else ():
        yield f"{draw.__module__} {kind}", partial(compare, draw, seed, kind, audited=True)
    yield f"disruptions {kind}", partial(disruptions.compare, seed, kind)
    yield "conditions on cores", partial(conditions.compare_plain, seed)
    for model in shared_time.MODELS:
        yield f"time that is shared, {model}", partial(compare, shared_time.draw_scenario, seed, model, audited=True)


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=datetime.datetime.now(datetime.UTC).toordinal() * DAILY)
    parser.add_argument("--count", type=int, default=2000)
    given = parser.parse_args()
    ran, failed = 0, 0
    for seed in range(given.first, given.first + given.count):
        for name, check in cases(seed):
            try:
                check()
                ran += 1
            except BaseException as error:  # the outcome of a test that fails is no Exception
                if isinstance(error, KeyboardInterrupt):
                    raise
                failed += 1
                tell(f"seed {seed}, {name}: {type(error).__name__}: {str(error)[:300]}")
    tell(f"{given.count:,} seeds from {given.first}: {ran:,} cases agreed, {failed:,} did not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
