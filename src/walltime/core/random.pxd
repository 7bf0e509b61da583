cimport cython

# SplitMix64. Numbers wrap on purpose, also in the checked build.

@cython.overflowcheck(False)
cdef inline unsigned long long wrap(unsigned long long number) noexcept:
    return number

@cython.overflowcheck(False)
cdef inline unsigned long long advance(unsigned long long state) noexcept:
    return state + 0x9E3779B97F4A7C15ULL

@cython.overflowcheck(False)
cdef inline unsigned long long mix(unsigned long long state) noexcept:
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ULL
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBULL
    return state ^ (state >> 31)

@cython.overflowcheck(False)
cdef inline unsigned long long scatter(unsigned long long number) noexcept:
    return mix(number * 0x9E3779B97F4A7C15ULL)

cdef inline double as_uniform(unsigned long long draw) noexcept:
    return <double>(draw >> 11) * (1.0 / 9007199254740992.0)
