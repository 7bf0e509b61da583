"""What the hand-checked scenarios need."""

import pytest
from disrupted_schedule import tell_fast, tell_slowly
from site_schedule import schedule_fast, schedule_slowly


@pytest.fixture(params=[schedule_slowly, schedule_fast], ids=["twin", "engine"])
def schedule(request):
    """`schedule(cluster, *jobs)`: the same question to the slow twin and to the compiled engine."""
    return request.param


@pytest.fixture(params=[tell_slowly, tell_fast], ids=["twin", "engine"])
def tell(request):
    """`tell(scenario, *jobs)`: the same where jobs are interrupted."""
    return request.param
