# A view costs two locked instructions each time a local name is given to it, its address none. Void once it has grown.
cdef inline long long *words(long long[::1] view) noexcept:
    return &view[0]

# How many of n ascending numbers, `step` words apart, are less than x. Without a branch on what is found, which cannot
# be foretold; three at a time are looked at, as each has to be waited for.
cdef inline Py_ssize_t count_below(long long *a, Py_ssize_t step, Py_ssize_t n, long long x) noexcept:
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t quarter, later
    while n > 3:
        quarter = n >> 2
        later = count
        later = count + quarter if a[step * (count + quarter - 1)] < x else later
        later = count + 2 * quarter if a[step * (count + 2 * quarter - 1)] < x else later
        later = count + 3 * quarter if a[step * (count + 3 * quarter - 1)] < x else later
        count = later
        n -= 3 * quarter
    later = 0
    if n > 0:
        later = a[step * count] < x
    if n > 1:
        later += a[step * (count + 1)] < x
    if n > 2:
        later += a[step * (count + 2)] < x
    return count + later
