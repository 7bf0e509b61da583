"""What a scenario's users do, for whichever engine runs them."""

from __future__ import annotations

from walltime.core.workload import Workload
from walltime.scenario import Scenario
from walltime.workload.users.alea import read_files, wait_without_thinking
from walltime.workload.users.plan import Presence, UserPlan, draw_think_times, infer_waits, make_plan
from walltime.workload.users.sessions import Thresholds, infer_acts


def plan_users(scenario: Scenario, workload: Workload) -> UserPlan | None:
    """When users submit what; None where they do so at the recorded times. Raises InputError."""
    users = scenario.users
    if users is None or not users.reacts:
        return None
    if users.files is not None:
        acts, waits, sessions = read_files(workload, users.files, users.waits)
        return make_plan(acts, Presence.SESSIONS, waits, sessions)
    acts = infer_acts(workload, Thresholds(users.session_gap, users.campaign, users.overlap, users.waits))
    if users.mode == "alea":
        return make_plan(acts, Presence.SESSIONS, wait_without_thinking(acts))
    think = draw_think_times(acts, scenario.seed, users.session_gap) if users.think == "drawn" else None
    presence = Presence.HOURS if users.hours == "own" else Presence.ALWAYS
    return make_plan(acts, presence, infer_waits(acts, think))
