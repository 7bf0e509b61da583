"""The virtual-time library on its own: a little threaded program, and a manager of a few lines."""

import mmap
import os
import socket
import struct
import subprocess

import pytest

from walltime.slurm.packages import find_library

START = 1_700_000_000 * 1_000_000
NEVER = (1 << 63) - 1


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    path = tmp_path_factory.mktemp("probe") / "probe"
    source = os.path.join(os.path.dirname(__file__), "probe.c")
    subprocess.run(["cc", "-O1", "-pthread", "-Wno-unused-result", source, "-o", path], check=True)
    return path


class Manager:
    """Starts the probe under the library, and grants it time."""

    def __init__(self, probe, folder, *words, cost=0.0, files=()):
        (folder / "clock").write_bytes(bytes(4096))
        with (folder / "clock").open("r+b") as file:
            self.clock = mmap.mmap(file.fileno(), 4096)
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server.bind(str(folder / "control"))
        server.listen(1)
        environment = {
            "LD_PRELOAD": str(find_library()),
            "VTIME_CONTROL": str(folder / "control"),
            "VTIME_CLOCK": str(folder / "clock"),
            "VTIME_START": str(START),
            "VTIME_COST": str(cost),
        }
        self.process = subprocess.Popen(
            [probe, *words], env=environment, stdout=subprocess.PIPE, text=True, pass_fds=files
        )
        self.control = server.accept()[0]
        server.close()

    def report(self):
        """(now, next, sequence, connections), or None when the program has ended."""
        data = self.control.recv(32)
        return struct.unpack("qqqq", data) if len(data) == 32 else None

    def grant(self, until, sequence):
        self.control.send(struct.pack("qq", until, sequence))

    def run(self):
        """To the end, one event at a time; the program's lines and the number of grants."""
        grants = 0
        while report := self.report():
            self.grant(report[1], report[2])
            grants += 1
        return self.process.communicate()[0].splitlines(), grants

    def now(self):
        return struct.unpack_from("q", self.clock)[0]


def run(probe, folder, *words, **options):
    folder.mkdir()
    manager = Manager(probe, folder, *words, **options)
    return (*manager.run(), manager)


def test_threads_wake_in_the_order_of_the_virtual_clock(probe, tmp_path):
    lines, _, manager = run(probe, tmp_path / "a", "threads")
    times = [int(line.split()[0]) for line in lines]
    assert times == sorted(times)
    wakes = [line for line in lines if "wakes" in line]
    assert wakes == [
        *["300 s300 wakes"] * 2,
        *["600 s300 wakes"] * 2,
        "700 s700 wakes",
        *["900 s300 wakes"] * 2,
        "1400 s700 wakes",
        "2100 s700 wakes",
    ]
    assert lines[-1] == "1000300000 main ends"  # eleven days in an instant
    assert manager.now() == START + 1_000_300 * 1_000_000


def test_conditions_and_locks(probe, tmp_path):
    lines, _, _ = run(probe, tmp_path / "a", "threads")
    consumer = [line for line in lines if " c " in line]
    assert consumer == [
        "70000 c is impatient",
        "100000 c takes",
        "170000 c is impatient",
        "200000 c takes",
        "270000 c is impatient",
        "300000 c takes",
    ]
    assert [line for line in lines if line.split()[1] in ("w1", "r1", "r2", "w2")] == [
        "0 w1 writes",
        "5000 r1 reads",
        "5000 r2 reads",
        "7000 w2 writes",
    ]
    assert "12345 l heard nothing" in lines


def test_the_same_every_time(probe, tmp_path):
    first = run(probe, tmp_path / "0", "threads")[0]
    assert all(run(probe, tmp_path / str(i), "threads")[0] == first for i in range(1, 4))


def test_time_stands_still_without_a_grant(probe, tmp_path):
    manager = Manager(probe, tmp_path, "threads")
    now, following, sequence, _ = manager.report()
    assert (now, following) == (START, START + 300_000)
    manager.grant(START + 200_000, sequence)  # nothing is due by then
    now, following, sequence, _ = manager.report()
    assert (now, following) == (START + 200_000, START + 300_000)
    manager.grant(START + 700_000, sequence)  # three wake-ups, and it comes back at the horizon
    now, following, sequence, _ = manager.report()
    assert (now, following) == (START + 700_000, START + 900_000)
    manager.control.close()
    manager.process.communicate()


def test_a_stale_grant_is_ignored(probe, tmp_path):
    manager = Manager(probe, tmp_path, "threads")
    sequence = manager.report()[2]
    manager.grant(NEVER - 1, sequence - 1)
    manager.grant(START + 100_000, sequence)
    report = manager.report()
    assert report[0] == START + 100_000
    assert report[2] == sequence + 1
    manager.control.close()
    manager.process.communicate()


def test_the_program_ends_with_its_manager(probe, tmp_path):
    manager = Manager(probe, tmp_path, "forever")
    manager.report()
    manager.control.close()
    assert manager.process.wait() == 0


def test_no_time_passes_while_a_peer_answers(probe, tmp_path):
    ours, theirs = socket.socketpair()
    manager = Manager(probe, tmp_path, "talk", str(theirs.fileno()), files=[theirs.fileno()])
    assert ours.recv(4) == b"ping"
    ours.send(b"pong")
    assert manager.run()[0] == ["0 main pong"]


def test_timers_and_pipes_of_its_own_wake_whoever_polls(probe, tmp_path):
    lines, _, _ = run(probe, tmp_path / "a", "hear")
    assert lines == ["40000 main a", "100000 main k", "300000 main a"]


def test_computing_is_free_unless_it_is_charged(probe, tmp_path):
    lines, _, manager = run(probe, tmp_path / "a", "spin", "20", cost=1000.0)  # a spin ends only if it costs something
    assert lines == []
    assert manager.now() >= START + 20_000


def test_a_client_reads_the_clock_and_knows_the_users(probe, tmp_path):
    (tmp_path / "clock").write_bytes(struct.pack("q", START) + bytes(4088))
    (tmp_path / "people").write_text("ann:20000:20000\nbo:20001:20000\n")
    environment = {
        "LD_PRELOAD": str(find_library()),
        "VTIME_CLOCK": str(tmp_path / "clock"),
        "VTIME_PEOPLE": str(tmp_path / "people"),
    }

    def ask(*words):
        return subprocess.run([probe, *words], env=environment, stdout=subprocess.PIPE, text=True).stdout

    assert ask("date") == "1700000000\n"
    assert ask("who", "ann") == "ann 20000 bo\n"


def test_blocks_of_memory_keep_their_contents(probe, tmp_path):
    lines, _, _ = run(probe, tmp_path / "a", "memory")
    assert lines[0] == "0 faults, refused"
    first, second = (int(text, 16) for text in lines[1].split())
    assert abs(first - second) >= 40
