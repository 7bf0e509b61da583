"""Where Slurm comes from: the system's own packages, or Debian's packages unpacked into a cache folder."""

from __future__ import annotations

import importlib.machinery
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from walltime.core.errors import InputError
from walltime.slurm.dialect import DIALECTS, Dialect

PACKAGES = (
    *("slurmctld", "slurm-client", "slurm-wlm-basic-plugins", "libslurm38", "libmunge2", "libhwloc15"),
    *("liblua5.1-0", "libreadline8", "liblz4-1"),
)
"""Debian 12's packages: the controller, the commands, and what they link to. No daemon is installed or started."""
PLUGINS = ("auth_none.so", "cred_none.so", "select_linear.so", "select_cons_tres.so", "sched_backfill.so")
CLIENTS = ("squeue", "sinfo", "sprio", "sshare", "sdiag", "scontrol", "sbatch", "scancel")
HOW = "`walltime slurm install` fetches Debian's packages into a cache folder, without root; or install slurmctld"


@dataclass(frozen=True)
class Installation:
    """A controller that can be run, and what belongs to it."""

    controller: Path
    clients: Path
    plugins: Path
    libraries: tuple[Path, ...]
    product: str
    origin: str

    @property
    def dialect(self) -> Dialect:
        """How it speaks; raises InputError for a release that is not spoken here."""
        from walltime.slurm.dialect import find_dialect

        return find_dialect(self.product)


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's: what was looked at, whether it is well, and what was found or how to get it."""

    what: str
    well: bool
    detail: str


def cache_folder() -> Path:
    """Where packages are unpacked: $WALLTIME_CACHE, or the person's cache."""
    base = os.environ.get("WALLTIME_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return Path(base or Path.home() / ".cache").expanduser() / "walltime" / "slurm"


def find_library() -> Path:
    """The virtual-time library, which is built with the package; raises InputError where it was not."""
    here = Path(__file__).parent
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        if (here / f"libvtime{suffix}").exists():
            return here / f"libvtime{suffix}"
    raise InputError("the virtual-time library was not built (make build does it)", file=here / "libvtime.so")


def find_installation() -> Installation:
    """The system's Slurm if its release is spoken here, else the cached one; raises InputError where there is none."""
    other = None
    for root, origin in ((Path("/"), "system"), (cache_folder(), "cache")):
        found = _look(root, origin)
        if found is None:
            continue
        if ".".join(found.product.split(".")[:2]) in DIALECTS:
            return found
        other = found
    if other is not None:
        what = f"Slurm {other.product} is installed, but this engine speaks {', '.join(DIALECTS)}; {HOW}"
        raise InputError(what, file=other.controller)
    raise InputError(f"Slurm was not found; {HOW}")


def _look(root: Path, origin: str) -> Installation | None:
    """The controller below a root folder; None where there is none that runs."""
    triplet = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"
    library = root / "usr" / "lib" / triplet
    for name in ("slurmctld-wlm", "slurmctld"):
        binary = root / "usr" / "sbin" / name
        if not binary.exists():
            continue
        libraries = (library / "slurm-wlm", library)
        environment = dict(os.environ, LD_LIBRARY_PATH=os.pathsep.join(map(str, libraries)))
        try:
            told = subprocess.run([binary, "-V"], capture_output=True, text=True, env=environment, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            return None
        release = re.search(r"\b(\d+\.\d+(?:\.\d+)?)", told.stdout)
        if release:
            return Installation(
                binary.resolve(), root / "usr" / "bin", library / "slurm-wlm", libraries, release[1], origin
            )
    return None


def install() -> Path:
    """Download Debian's packages with apt-get and unpack them into the cache; returns the folder."""
    for tool in ("apt-get", "dpkg"):
        if shutil.which(tool) is None:
            raise InputError("the packages are Debian's, and this machine lacks", value=tool)
    target = cache_folder()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="slurm-", dir=target.parent) as work:
        unpacked = Path(work) / "root"
        _run(["apt-get", "download", "-q", *PACKAGES], work)
        for package in sorted(Path(work).glob("*.deb")):
            _run(["dpkg", "-x", str(package), str(unpacked)], work)
        if target.exists():
            shutil.rmtree(target)
        unpacked.rename(target)
    return target


def _run(command: list[str], folder: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.startswith("E:")] or done.stderr.splitlines()[-1:]
        reason = "; ".join(last) or f"code {done.returncode}"
        raise InputError(f"{command[0]} failed ({reason}); `apt-get update` may be needed first, or the network")


def examine() -> list[Finding]:
    """Everything that a run needs, one finding each; the doctor shows them."""
    findings = []
    try:
        found = find_installation()
    except InputError as error:
        findings.append(Finding("slurmctld", False, str(error)))
    else:
        findings.append(Finding("slurmctld", True, f"{found.product} ({found.origin}: {found.controller})"))
        lacking = [name for name in PLUGINS if not (found.plugins / name).exists()]
        what = f"missing {', '.join(lacking)}: install slurm-wlm-basic-plugins" if lacking else str(found.plugins)
        findings.append(Finding("plug-ins", not lacking, what))
        lacking = [name for name in CLIENTS if not (found.clients / name).exists()]
        what = f"missing {', '.join(lacking)}: install slurm-client" if lacking else str(found.clients)
        findings.append(Finding("commands", not lacking, what))
    try:
        findings.append(Finding("virtual time", True, str(find_library())))
    except InputError as error:
        findings.append(Finding("virtual time", False, str(error)))
    return findings
