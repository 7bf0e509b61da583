# A view costs two locked instructions each time a local name is given to it, its address none. Void once it has grown.
cdef inline long long *words(long long[::1] view) noexcept:
    return &view[0]
