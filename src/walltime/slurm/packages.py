"""Where Slurm comes from: the system's own packages, Debian's packages unpacked into a cache folder, a site's build."""

from __future__ import annotations

import importlib.machinery
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from walltime.core.errors import InputError
from walltime.slurm.protocol.dialect import Dialect
from walltime.slurm.protocol.releases import DIALECTS, find_dialect, find_release

COMMON = ("slurmctld", "slurm-client", "slurm-wlm-basic-plugins", "libmunge2", "libhwloc15", "liblua5.1-0", "liblz4-1")
PACKAGES = {
    "22.05": ("bookworm", (*COMMON, "libslurm38", "libreadline8")),
    "24.11": ("trixie", (*COMMON, "libslurm42t64", "libreadline8t64", "libc6")),
}
"""By release, the suite of Debian's that has it, and its packages: the controller, the commands, and what they link to.
No daemon is installed or started."""
USUAL = "22.05"
PLUGINS = ("auth_none.so", "cred_none.so", "select_linear.so", "select_cons_tres.so", "sched_backfill.so")
CLIENTS = ("squeue", "sinfo", "sprio", "sshare", "sdiag", "scontrol", "sbatch", "scancel")
HOW = "`walltime slurm install` fetches Debian's packages into a cache folder, without root; or install slurmctld"
TRIPLET = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"


@dataclass(frozen=True)
class Installation:
    """A controller that can be run, and what belongs to it.

    `loader` is the dynamic linker that starts its programs, where they come with a C library of their own.
    """

    controller: Path
    clients: Path
    plugins: Path
    libraries: tuple[Path, ...]
    product: str
    origin: str
    loader: Path | None = None

    @property
    def dialect(self) -> Dialect:
        """How it speaks; raises InputError for a release that is not spoken here."""
        return find_dialect(self.product)

    @property
    def search_path(self) -> str:
        """Where its libraries are looked for."""
        return os.pathsep.join(map(str, self.libraries))

    def command(self, program: Path, name: str | None = None, preload: Path | None = None) -> list[str]:
        """The words that start a program of it; under another name and with a library, where it has a loader."""
        if self.loader is None:
            return [str(program)]
        words = [str(self.loader), "--library-path", self.search_path, "--argv0", name or str(program)]
        return [*words, *(["--preload", str(preload)] if preload else []), str(program)]

    def environment(self, preload: Path | None = None) -> dict[str, str]:
        """What has to be set for the words to work: nothing where a loader is told everything."""
        if self.loader is not None:
            return {}
        return {"LD_LIBRARY_PATH": self.search_path, **({"LD_PRELOAD": str(preload)} if preload else {})}


@dataclass(frozen=True)
class DoctorFinding:
    """One line of the doctor's: what was looked at, whether it is well, and what was found or how to get it."""

    what: str
    well: bool
    detail: str


def cache_folder(release: str = USUAL) -> Path:
    """Where packages are unpacked: $WALLTIME_CACHE, or the person's cache."""
    base = os.environ.get("WALLTIME_CACHE") or os.environ.get("XDG_CACHE_HOME")
    name = "slurm" if release == USUAL else f"slurm-{release}"
    return Path(base or Path.home() / ".cache").expanduser() / "walltime" / name


def find_library() -> Path:
    """The virtual-time library, which is built with the package; raises InputError where it was not."""
    here = Path(__file__).parent
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        if (here / f"libvtime{suffix}").exists():
            return here / f"libvtime{suffix}"
    raise InputError("the virtual-time library was not built (make build does it)", file=here / "libvtime.so")


def find_installation(release: str | None = None, controller: str | Path | None = None) -> Installation:
    """A Slurm of the release, or of any that is spoken here: the system's, else a cached one; or that of a controller.

    $WALLTIME_SLURM_RELEASE says which, where the caller does not. Raises InputError where there is none, or one that is
    not spoken.
    """
    release = release or os.environ.get("WALLTIME_SLURM_RELEASE") or None
    if controller is not None:
        return _find_own(Path(controller), release)
    if release is not None and release not in DIALECTS:
        find_dialect(release)
    other = None
    for root, origin in ((Path("/"), "system"), *((cache_folder(name), "cache") for name in DIALECTS)):
        found = _look(root, origin)
        if found is None:
            continue
        if find_release(found.product) in (DIALECTS if release is None else (release,)):
            return found
        other = other or found
    if release is not None:
        raise InputError(f"Slurm {release} was not found; `walltime slurm install --release {release}` fetches it")
    if other is not None:
        what = f"Slurm {other.product} is installed, but this engine speaks {', '.join(DIALECTS)}; {HOW}"
        raise InputError(what, file=other.controller)
    raise InputError(f"Slurm was not found; {HOW}")


def _look(root: Path, origin: str) -> Installation | None:
    """The controller below a root folder; None where there is none that runs."""
    library = root / "usr" / "lib" / TRIPLET
    loader = None if root == Path("/") else next(iter(sorted(library.glob("ld-linux*.so.*"))), None)
    for name in ("slurmctld-wlm", "slurmctld"):
        binary = root / "usr" / "sbin" / name
        if binary.exists():
            libraries = (library / "slurm-wlm", library)
            found = Installation(binary.resolve(), root / "usr/bin", libraries[0], libraries, "", origin, loader)
            return _ask_release(found)
    return None


def _ask_release(found: Installation) -> Installation | None:
    """The installation with what its controller calls itself; None where it does not run."""
    environment = os.environ | found.environment()
    try:
        command = [*found.command(found.controller), "-V"]
        told = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    release = re.search(r"\b(\d+\.\d+(?:\.\d+)?)", told.stdout)
    return replace(found, product=release[1]) if release else None


def _find_own(controller: Path, release: str | None) -> Installation:
    """A site's own build, with its plug-ins and commands where an installation of its kind puts them."""
    if not controller.is_file():
        raise InputError("there is no controller", file=controller)
    prefix = controller.resolve().parent.parent
    places = [prefix / "lib" / TRIPLET / "slurm-wlm", prefix / "lib" / "slurm", prefix / "lib64" / "slurm"]
    plugins = next((place for place in places if (place / "auth_none.so").exists()), None)
    if plugins is None:
        looked = ", ".join(map(str, places))
        raise InputError(f"its plug-ins are not in {looked} (auth_none.so is needed)", file=controller)
    libraries = (plugins, plugins.parent)
    loader = next(iter(sorted(plugins.parent.glob("ld-linux*.so.*"))), None) if prefix != Path("/usr") else None
    found = _ask_release(
        Installation(controller.resolve(), prefix / "bin", plugins, libraries, "", "own build", loader)
    )
    if found is None:
        raise InputError("does not say its release (-V)", file=controller)
    spoken = find_dialect(found.product).release
    if release is not None and spoken != release:
        raise InputError(f"this controller is of release {spoken}, not {release}", file=controller)
    return found


def install(release: str = USUAL) -> Path:
    """Download Debian's packages of a release with apt-get and unpack them into the cache; returns the folder."""
    find_dialect(release)
    for tool in ("apt-get", "dpkg"):
        if shutil.which(tool) is None:
            raise InputError("the packages are Debian's, and this machine lacks", value=tool)
    _, packages = PACKAGES[release]
    return fetch(packages, cache_folder(release), release)


def fetch(packages: Iterable[str], target: Path, release: str = USUAL) -> Path:
    """Unpack Debian's packages, of the suite that has a release, into a folder, in place of what was there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="slurm-", dir=target.parent) as work:
        unpacked = Path(work) / "root"
        settings = {} if _offers(release) else _point_to(PACKAGES[release][0], Path(work))
        _run(["apt-get", "download", "-q", *packages], work, settings)
        for package in sorted(Path(work).glob("*.deb")):
            _run(["dpkg", "-x", str(package), str(unpacked)], work)
        if target.exists():
            shutil.rmtree(target)
        unpacked.rename(target)
    return target


def _offers(release: str) -> bool:
    """Whether the machine's own sources have the release."""
    told = subprocess.run(["apt-cache", "show", "--no-all-versions", "slurmctld"], capture_output=True, text=True)
    return re.search(rf"^Version: {re.escape(release)}\.", told.stdout, re.MULTILINE) is not None


def _point_to(suite: str, work: Path) -> dict[str, str]:
    """A configuration of apt's that knows one suite of Debian's, from where this machine has its packages."""
    columns = "--format=$(REPO_URI) $(ORIGIN) $(LABEL) $(COMPONENT)"
    told = subprocess.run(["apt-get", "indextargets", columns, "Created-By: Packages"], capture_output=True, text=True)
    rows = [line.split() for line in told.stdout.splitlines()]
    places = [row[0] for row in rows if row[1:] == ["Debian", "Debian", "main"]]
    if not places:
        raise InputError("this machine's apt knows no source of Debian's packages (`apt-get update` may be needed)")
    keys = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    signed = f" [signed-by={keys}]" if keys.exists() else ""
    for name in ("lists/partial", "cache/archives/partial"):
        (work / "apt" / name).mkdir(parents=True)
    (work / "apt" / "sources").write_text(f"deb{signed} {places[0]} {suite} main\n")
    (work / "apt" / "status").touch()
    lines = {"Etc::SourceList": "sources", "State::Lists": "lists", "Cache": "cache", "State::Status": "status"}
    text = "".join(f'Dir::{key} "{work}/apt/{name}";\n' for key, name in lines.items())
    (work / "apt" / "settings").write_text(f'{text}Dir::Etc::SourceParts "-";\n')
    settings = {"APT_CONFIG": str(work / "apt" / "settings")}
    _run(["apt-get", "update", "-q"], str(work), settings)
    return settings


def _run(command: list[str], folder: str, settings: dict[str, str] | None = None) -> None:
    environment = os.environ | (settings or {})
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.startswith("E:")] or done.stderr.splitlines()[-1:]
        reason = "; ".join(last) or f"code {done.returncode}"
        raise InputError(f"{command[0]} failed ({reason}); `apt-get update` may be needed first, or the network")


def examine(release: str | None = None) -> list[DoctorFinding]:
    """Everything that a run needs, one finding each; the doctor shows them."""
    findings = []
    try:
        found = find_installation(release)
    except InputError as error:
        findings.append(DoctorFinding("slurmctld", False, str(error)))
    else:
        findings.append(DoctorFinding("slurmctld", True, f"{found.product} ({found.origin}: {found.controller})"))
        lacking = [name for name in PLUGINS if not (found.plugins / name).exists()]
        what = f"missing {', '.join(lacking)}: install slurm-wlm-basic-plugins" if lacking else str(found.plugins)
        findings.append(DoctorFinding("plug-ins", not lacking, what))
        lacking = [name for name in CLIENTS if not (found.clients / name).exists()]
        what = f"missing {', '.join(lacking)}: install slurm-client" if lacking else str(found.clients)
        findings.append(DoctorFinding("commands", not lacking, what))
    try:
        findings.append(DoctorFinding("virtual time", True, str(find_library())))
    except InputError as error:
        findings.append(DoctorFinding("virtual time", False, str(error)))
    return findings
