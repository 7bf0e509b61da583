"""Python with Walltime imported already: most of a short command's time is spent on importing.

`Warm` is that process. `python warm.py SOCKET -m walltime run ...` has it run what Python would run with these words,
in a process forked off, with the caller's standard streams, folder and environment, and ends with its exit code. What
a new interpreter does differently (signals, options of Python) is tested with `command_line.start`.
"""

import array
import json
import os
import socket
import struct
import sys

ROOMS = ("scenario", "workload", "policies", "engine", "analysis", "cli")  # what most commands need
OTHERS = ("matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "rich.table")
"""What commands import only where they draw or print: half a second each time."""
TIMES = struct.Struct("d")


def ask(path, words, folder, environment, streams=(0, 1, 2)):
    """Have it run what Python would run with these words, with these standard streams; the exit code."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        server.sendmsg([b"!"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))])
        server.sendall(json.dumps({"words": words, "folder": folder, "environment": environment}).encode())
        server.shutdown(socket.SHUT_WR)
        return int(server.makefile().read())


def serve(path, times):
    """Answer until the pipe on standard input is closed; CPU seconds of all commands so far are kept in `times`."""
    import functools
    import gc
    import importlib
    import pkgutil
    import selectors

    for room in ROOMS:
        package = importlib.import_module(f"walltime.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"walltime.{room}."):
            importlib.import_module(module.name)
    for name in OTHERS:
        importlib.import_module(name)
    typer = importlib.import_module("typer.main")
    typer.get_command = functools.cache(typer.get_command)  # a tenth of a second, for each command
    typer.get_command(importlib.import_module("walltime.cli.app").app)
    runner = importlib.import_module("walltime.experiments.runner")
    runner.count_cores = lambda: 1  # a sweep starts one process, which imports all for itself
    gc.freeze()  # what is collected here would be copied there
    used = 0.0
    with socket.socket(socket.AF_UNIX) as door, selectors.DefaultSelector() as waiting:
        door.bind(path)
        door.listen(8)
        os.write(1, b"ready")
        waiting.register(door, selectors.EVENT_READ)
        waiting.register(sys.stdin, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is sys.stdin:
                    return
                if key.fileobj is door:
                    client, _ = door.accept()
                    child = os.fork()
                    if child == 0:
                        obey(client)
                    waiting.register(os.pidfd_open(child), selectors.EVENT_READ, (child, client))
                    continue
                child, client = key.data
                _, status, usage = os.wait4(child, 0)
                used += usage.ru_utime + usage.ru_stime
                with open(times, "wb") as file:
                    file.write(TIMES.pack(used))
                waiting.unregister(key.fileobj)
                os.close(key.fd)
                with client:
                    client.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def obey(client):
    """In the new process: become what was asked for, and never return."""
    import atexit
    import traceback

    _, streams, _, _ = socket.recv_fds(client, 1, 3)
    wish = json.loads(client.makefile().read())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    client.close()
    os.chdir(wish["folder"])
    os.environ.clear()
    os.environ.update(wish["environment"])
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        kind = errors or ("backslashreplace" if name == "stderr" else "strict")
        stream = open(number, "r" if number == 0 else "w", encoding=encoding or "utf-8", errors=kind, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    code = 0
    try:
        be_python(wish["words"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120
    os._exit(code)


def be_python(words):
    """What Python does with these words: `-m MODULE ...`, `-c CODE ...` or `FILE ...`."""
    import runpy
    import types

    if words[0] == "-m":
        sys.path.insert(0, os.getcwd())
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        sys.path.insert(0, "")
        sys.argv = ["-c", *words[2:]]
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(words[1], "<string>", "exec"), main.__dict__)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
        sys.argv = list(words)
        runpy.run_path(words[0], run_name="__main__")


class Warm:
    """The process, as a test has it."""

    def __init__(self, folder, environment):
        import subprocess

        self.path, self.times = f"{folder}/warm", f"{folder}/times"
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", self.path, self.times],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout.read(5) == b"ready"

    def words(self):
        """What to write in place of `python`."""
        return [sys.executable, "-S", "-E", __file__, self.path]

    def run(self, words, folder, environment):
        """Run what Python would run with these words, without a process to ask for it: exit code, output, errors."""
        import tempfile

        with open(os.devnull) as none, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            streams = [file.fileno() for file in (none, out, err)]
            code = ask(self.path, list(words), str(folder), environment, streams)
            return code, *(os.pread(n, os.fstat(n).st_size, 0).decode() for n in streams[1:])

    def used(self):
        """CPU seconds of all commands so far."""
        if not os.path.exists(self.times):
            return 0.0
        with open(self.times, "rb") as file:
            return TIMES.unpack(file.read())[0]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(*sys.argv[2:])
    else:
        sys.exit(ask(sys.argv[1], sys.argv[2:], os.getcwd(), dict(os.environ)))
