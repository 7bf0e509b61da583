"""Programs whose times can be worked out by hand: operations, waiting for several, errors and what they tell."""

import asyncio

import pytest
from machine import Runner, make_platform, run

from walltime.cluster.network import Constant, Link, Shared, Star
from walltime.cluster.storage import Component, Disk
from walltime.programs import StorageError, gather, race, timeout
from walltime.programs.speedup import Amdahl, linear, read_speedup

FOUR = ((0, 1), (1, 1), (2, 1), (3, 1))


def test_operations_one_after_the_other_add_up():
    async def program(processes):
        p, q = processes
        await p.sleep(1.5)
        await p.compute(2e9)
        await p.transfer(50.0, q)

    assert run(program, ((0, 1), (1, 1))) == pytest.approx(1.5 + 2 + 0.5)


def test_a_computation_takes_work_over_speed_over_speed_up():
    async def program(processes):
        await processes[0].compute(8e9)

    assert run(program, ((0, 2),)) == pytest.approx(4.0)
    assert run(program, ((0, 2),), speedup=Amdahl(0.5)) == pytest.approx(6.0)
    assert run(program, ((0, 2),), speedup=read_speedup([1, 1.6])) == pytest.approx(5.0)
    assert run(program, ((0, 2),), make_platform(speed=4e9)) == pytest.approx(1.0)


def test_a_computation_may_have_a_speed_up_of_its_own():
    async def program(processes):
        await processes[0].compute(8e9, speedup=Amdahl(1.0))

    assert run(program, ((0, 2),)) == pytest.approx(8.0)


def test_amdahl():
    assert [Amdahl(0.1)(cores) for cores in (1, 2, 10)] == pytest.approx([1, 1 / 0.55, 1 / 0.19])
    assert linear(7) == 7


def test_computations_of_one_process_share_its_cores():
    async def program(processes):
        p = processes[0]
        await gather(p.compute(1e9), p.compute(1e9))

    assert run(program, ((0, 1),)) == pytest.approx(2.0)


def test_jobs_on_a_crowded_node_share_its_cores():
    """Two cores; one job wants both, two want one each: 4 of 2, so that all take twice as long."""
    runner = Runner(make_platform(crowded=True))
    for label, cores in ((1, 2), (2, 1), (3, 1)):

        async def program(processes, cores=cores):
            await processes[0].compute(cores * 1e9)

        runner.add(label, program, ((0, cores),))
    runner.run()
    assert runner.ends == pytest.approx({1: 2.0, 2: 2.0, 3: 2.0})


def test_transfers_share_links():
    async def program(processes):
        first, *others = processes
        await gather(*(first.transfer(100.0, other) for other in others))

    assert run(program, FOUR) == pytest.approx(3.0)
    assert run(program, FOUR, make_platform(network=Constant(4, Link(100.0, 0.25)))) == pytest.approx(1.25)
    assert run(program, FOUR, make_platform(network=Shared(4, Link(50.0, 0.5)))) == pytest.approx(6.5)


def test_transfers_there_and_back_share_a_half_duplex_link():
    async def program(processes):
        p, q = processes
        await gather(p.transfer(100.0, q), q.transfer(100.0, p))

    assert run(program, FOUR[:2]) == pytest.approx(1.0)
    half = make_platform(network=Star(4, Link(100.0, duplex=False)))
    assert run(program, FOUR[:2], half) == pytest.approx(2.0)


def test_traffic_inside_a_node():
    async def program(processes):
        p, q = processes
        await p.transfer(100.0, q)

    assert run(program, ((0, 1), (0, 1)), make_platform(network=Star(4, Link(1.0), local=Link(200.0, 1.0)))) == 1.5


def test_components_outside_are_named():
    store = Component("store", Link(20.0), Disk(capacity=1000.0, read=10.0, write=40.0))
    platform = make_platform(network=Star(4, Link(100.0), outside=[store.link]), components=[store])

    async def program(processes):
        p = processes[0]
        await p.transfer(40.0, "store")
        await p.receive(40.0, "store")
        await p.read(40.0, "store")
        await p.write(40.0, "store")

    assert run(program, platform=platform) == pytest.approx(2 + 2 + 4 + 2)
    assert platform.disk_of(4).used == 40.0


def test_disks_are_shared_by_reads_and_by_writes():
    disk = Disk(capacity=1000.0, read=10.0, write=5.0)
    platform = make_platform(disks=[disk] * 4)

    async def program(processes):
        p = processes[0]
        await gather(p.read(20.0), p.read(20.0), p.write(20.0))

    assert run(program, platform=platform) == pytest.approx(4.0)
    assert platform.disk_of(0).used == 0.0  # what the job had written went with it


def test_a_disk_takes_so_many_operations_at_a_time():
    platform = make_platform(disks=[Disk(read=10.0, operations=1)])
    seen = []

    async def read(p, name):
        await p.read(10.0)
        seen.append((name, p.now))

    async def program(processes):
        await gather(*(read(processes[0], name) for name in "abc"))

    assert run(program, platform=platform) == pytest.approx(3.0)
    assert seen == [("a", 1.0), ("b", 2.0), ("c", 3.0)]


def test_a_disk_that_slows_down_with_the_operations_on_it():
    platform = make_platform(disks=[Disk(read=10.0, falling=(1.0, 0.5))])

    async def program(processes):
        await gather(*(processes[0].read(10.0) for _ in range(2)))

    assert run(program, platform=platform) == pytest.approx(4.0)


def test_a_full_disk_is_an_error_that_the_program_sees():
    platform = make_platform(disks=[Disk(capacity=30.0, read=10.0, write=10.0)])
    seen = []

    async def program(processes):
        p = processes[0]
        await p.write(20.0)
        try:
            await p.write(20.0)
        except StorageError as error:
            seen.append(str(error))
        try:
            await p.read(31.0)
        except StorageError as error:
            seen.append(str(error))
        await p.sleep(1)

    assert run(program, platform=platform) == pytest.approx(3.0)
    assert seen == ["cannot write 20 bytes on a disk that has 10", "cannot read 31 bytes on a disk that has 30"]


def test_a_race_is_over_with_the_first_and_cancels_the_others():
    async def program(processes):
        p, q = processes
        place, _ = await race(p.sleep(5), q.compute(1e9), slow(p))
        assert place == 1
        await p.sleep(1)

    async def slow(p):
        await p.sleep(3)
        raise AssertionError("cancelled, it goes no further")

    assert run(program, FOUR[:2]) == pytest.approx(2.0)


def test_a_timeout_cancels_what_is_late():
    seen = []

    async def program(processes):
        p = processes[0]
        try:
            await timeout(p.compute(10e9), 3)
        except TimeoutError:
            seen.append(p.now)
        assert await timeout(answer(p), 3) == 42
        seen.append(p.now)

    async def answer(p):
        await p.sleep(2)
        return 42

    assert run(program) == pytest.approx(5.0)
    assert seen == [3.0, 5.0]


def test_gather_gives_results_in_order():
    async def wait(p, seconds):
        await p.sleep(seconds)
        return seconds

    async def program(processes):
        p = processes[0]
        assert await gather(wait(p, 3), wait(p, 1), p.sleep(2)) == [3, 1, None]

    assert run(program) == pytest.approx(3.0)


def test_an_operation_that_is_not_awaited_goes_on_until_the_job_ends():
    async def program(processes):
        p, q = processes
        p.transfer(100.0, q)
        await p.transfer(25.0, q)

    runner = Runner()
    runner.add(1, program, FOUR[:2])
    runner.run()
    assert runner.ends[1] == pytest.approx(0.5)
    assert runner.platform.activities.live == 0


def broken(processes):
    async def fails(processes):
        await processes[0].sleep(1)
        raise ValueError("out of ideas")

    return fails(processes)


async def sends_to_one_that_is_gone(processes):
    p, q = processes
    q.release()
    await p.transfer(1.0, q)


async def waits_for_itself(processes):
    never = []

    async def one():
        await processes[0].sleep(1)
        await never[0]

    never.append(gather(one()))
    await never[0]


async def takes_no_time(processes):
    while True:
        await processes[0].sleep(0)


async def awaits_asyncio(processes):
    await asyncio.sleep(0)


async def wrong_number(processes):
    await processes[0].compute(-1)


async def unknown_component(processes):
    await processes[0].transfer(1, "moon")


@pytest.mark.parametrize(
    ("program", "line", "tells"),
    [
        (broken, "raise ValueError", "ValueError: out of ideas"),
        (sends_to_one_that_is_gone, "await p.transfer(1.0, q)", "process 1 is gone"),
        (waits_for_itself, "    await never[0]", "waits for something that never happens"),
        (takes_no_time, "await processes[0].sleep(0)", "a loop that takes no time"),
        (awaits_asyncio, "await asyncio.sleep(0)", "awaits what is none of the simulation's: NoneType"),
        (wrong_number, "await processes[0].compute(-1)", "flops must be a number from 0 on"),
        (unknown_component, 'await processes[0].transfer(1, "moon")', "there is no component 'moon'"),
    ],
)
def test_errors_tell_job_profile_and_line_and_the_rest_goes_on(program, line, tells):
    runner = Runner()
    runner.add("bad", program, FOUR[:2])
    runner.add("good", good)
    runner.run()
    with open(__file__, encoding="utf-8") as file:
        lines = file.read().splitlines()
    message = runner.errors.pop("bad")
    place, _, said = message.partition(": job bad, profile test: ")
    assert place.rpartition(":")[0] == __file__, message
    assert line in lines[int(place.rpartition(":")[2]) - 1], message
    assert tells in said
    assert runner.errors == {}
    assert runner.ends["good"] == pytest.approx(2.0)
    assert runner.platform.activities.live == 0


async def good(processes):
    await processes[0].compute(2e9)


def test_a_pause_stops_everything_and_goes_on_where_it_was():
    async def program(processes):
        p, q = processes
        await p.transfer(100.0, q)
        await p.sleep(1)

    runner = Runner(make_platform(network=Star(4, Link(100.0, 0.25))))
    first = runner.add("first", program, FOUR[:2])
    runner.run(0.3)
    first.pause()
    runner.run(1.3)
    first.go_on()
    runner.run(3.0)  # 0.2 of latency, 1 of transfer, then it sleeps
    first.pause()
    runner.run(10.3)
    first.go_on()
    runner.run()
    assert runner.ends["first"] == pytest.approx(0.5 + 1 + 1 + 1.0 + 7.3)


def test_closed_programs_leave_everything():
    disk = Disk(capacity=100.0, write=1.0, operations=1)
    runner = Runner(make_platform(disks=[disk] * 4))
    ended = []

    async def program(processes):
        p, q = processes
        try:
            await gather(p.write(50.0), p.write(50.0), q.transfer(1e9, p), p.compute(1e12))
        finally:
            ended.append(p.now)

    first = runner.add("first", program, FOUR[:2])
    runner.run(10)
    first.close()
    assert runner.platform.activities.live == 0
    assert runner.platform.disk_of(0).used == 0.0
    assert ended == [10.0]
    assert runner.ends == {}

    async def write(processes):
        await processes[0].write(50.0)

    runner.add("second", write)
    runner.run()
    assert runner.ends["second"] == pytest.approx(60.0)


def test_runs_are_the_same_every_time():
    def once():
        runner = Runner(make_platform(nodes=8, network=Star(8, Link(70.0, 0.01))))
        for label in range(12):

            async def program(processes, label=label):
                p, q = processes
                for turn in range(20):
                    await gather(p.compute((label + turn) * 1e8), p.transfer(3.0 * label, q), q.compute(turn * 7e7))
                    await race(p.sleep(0.1 * label), q.transfer(11.0, p))

            runner.add(label, program, ((label % 8, 1), ((label * 3 + 1) % 8, 1)))
        return runner.run().ends

    first = once()
    assert len(first) == 12
    assert once() == first
