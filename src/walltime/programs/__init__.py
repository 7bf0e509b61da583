"""Jobs as programs: profiles that compute, communicate and use disks, on the simulator's clock."""

from walltime.programs.errors import ProfileError, StorageError
from walltime.programs.profiles import Profile, register
from walltime.programs.program import Process, gather, race, timeout

__all__ = ["Process", "Profile", "ProfileError", "StorageError", "gather", "race", "register", "timeout"]
