cdef packed struct ResourceFields:
    double capacity
    double usage
    double left
    double weight
    long long first
    long long count
    long long open
    long long seen
    long long whole
    long long tight
    long long dirty
    long long curve
    long long updates

cdef packed struct FlowFields:
    double weight
    double bound
    double rate
    double before
    double share
    long long first
    long long mark
    long long fixed
    long long active

cdef packed struct UseFields:
    double coefficient
    long long flow
    long long resource
    long long next
    long long after
    long long behind

cdef class FairShares:
    cdef object resources
    cdef object flows
    cdef object uses
    cdef ResourceFields[::1] resource
    cdef FlowFields[::1] flow
    cdef UseFields[::1] use
    cdef readonly Py_ssize_t size
    cdef Py_ssize_t uses_made
    cdef Py_ssize_t spare_use
    cdef list curves
    cdef long long[::1] dirty
    cdef Py_ssize_t dirties
    cdef long long[::1] waiting
    cdef Py_ssize_t waits
    cdef long long[::1] group
    cdef readonly Py_ssize_t grouped
    cdef Py_ssize_t expanded
    cdef long long[::1] touched
    cdef Py_ssize_t touches
    cdef double[::1] key
    cdef long long[::1] item
    cdef Py_ssize_t heaped
    cdef readonly long long[::1] changed
    cdef readonly Py_ssize_t changes
    cdef long long epoch
    cdef long long round
    cpdef Py_ssize_t add_resource(self, double capacity, object curve=*) except -1
    cpdef int set_capacity(self, Py_ssize_t r, double capacity) except -1
    cpdef int open(self, Py_ssize_t f, double weight, double bound) except -1
    cpdef int use_resource(self, Py_ssize_t f, Py_ssize_t r, double coefficient) except -1
    cpdef int start(self, Py_ssize_t f) except -1
    cpdef int stop(self, Py_ssize_t f) except -1
    cpdef int drop(self, Py_ssize_t f) except -1
    cpdef int settle(self) except -1
    cpdef double rate_of(self, Py_ssize_t f) noexcept
    cdef int mark_dirty(self, Py_ssize_t r) except -1
    cdef double room(self, Py_ssize_t r) except? -1
    cdef int take(self, Py_ssize_t f) except -1
    cdef int take_all(self, Py_ssize_t r) except -1
    cdef int expand(self) except -1
    cdef Py_ssize_t solve(self) except? -2
    cdef int prepare(self) except -1
    cdef Py_ssize_t saturate(self, Py_ssize_t r, double level) except? -2
    cdef double recount(self, Py_ssize_t r) except? -1
    cdef int fix(self, Py_ssize_t f, double rate) except -1
    cdef int apply(self) except -1
    cdef int refresh(self, Py_ssize_t r) except -1
    cdef int push(self, double key, long long item) except -1
    cdef int sink(self) noexcept
