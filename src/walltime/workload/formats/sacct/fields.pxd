cdef enum:
    JOB = 0
    JOB_RAW = 1
    USER = 2
    GROUP = 3
    ACCOUNT = 4
    PARTITION = 5
    QOS = 6
    SUBMIT = 7
    ELIGIBLE = 8
    START = 9
    END = 10
    ELAPSED = 11
    ELAPSED_RAW = 12
    LIMIT = 13
    LIMIT_RAW = 14
    STATE = 15
    ALLOCATED_CPUS = 16
    REQUESTED_CPUS = 17
    ALLOCATED_NODES = 18
    REQUESTED_NODES = 19
    MEMORY = 20
    REQUESTED_TRES = 21
    ALLOCATED_TRES = 22
    REQUESTED_GRES = 23
    ALLOCATED_GRES = 24

cdef enum:
    BAD = -2
    UNKNOWN = -1
    PENDING = 0
    RUNNING = 1
    PARTIAL = 2
    NO_SUBMIT = 3
    NO_RUN = 4
    NO_CORES = 5
    NO_LIMIT = 6
    ARRAY = 7
    MALFORMED = 8
    ENDED = 10
    CANCELLED = 11

cdef class Fields:
    cdef int delimiter
    cdef int columns
    cdef int free_text
    cdef object texts_apart
    cdef int[256] role_of
    cdef Py_ssize_t[40] first
    cdef Py_ssize_t[40] last
    cdef bint present[40]
    cdef long long delimiters_in_text
    cdef object offset
    cdef dict offsets
    cdef long long last_quarter
    cdef long long last_offset
    cdef bytes block
    cdef Py_ssize_t split(self, const unsigned char[::1] data, Py_ssize_t at) except -2
    cdef Py_ssize_t split_apart(self, const unsigned char[::1] data, Py_ssize_t at) except -2
    cdef int close(self, const unsigned char[::1] data, int role, Py_ssize_t begin, Py_ssize_t end) except -1
    cdef int read_state(self, const unsigned char[::1] data) except -1
    cdef long long read_time(self, const unsigned char[::1] data, int role) except -3
    cdef long long read_offset(self, const unsigned char[::1] data, Py_ssize_t at, Py_ssize_t end) except? -99999999
    cdef long long to_utc(self, long long naive) except? -1
    cdef long long read_span(self, const unsigned char[::1] data, int role) except -3
    cdef long long read_limit(self, const unsigned char[::1] data) except -3
    cdef long long read_whole(self, const unsigned char[::1] data, int role) except -3
    cdef long long read_cores(self, const unsigned char[::1] data) except -3
    cdef long long read_memory(self, const unsigned char[::1] data, long long cores, long long nodes) except -3
    cdef double read_amount(self, const unsigned char[::1] data, Py_ssize_t at, Py_ssize_t end) except? -3
    cdef double find_tres(
        self, const unsigned char[::1] data, int role, const unsigned char *key, Py_ssize_t size
    ) except? -3
    cdef long long read_gpus(self, const unsigned char[::1] data) except -3
