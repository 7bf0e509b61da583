cdef class Scanner:
    cdef readonly str file
    cdef readonly long long line
    cdef readonly long long records
    cdef readonly long long steps
    cdef readonly bint in_order
    cdef readonly list problems
    cdef bint ordered_only
    cdef Py_ssize_t capacity
    cdef Py_ssize_t rows
    cdef int delimiter
    cdef int columns
    cdef int free_text
    cdef int[256] role_of
    cdef Py_ssize_t[40] first
    cdef Py_ssize_t[40] last
    cdef bint present[40]
    cdef long long zero
    cdef long long previous_submit
    cdef long long batch_records
    cdef long long batch_steps
    cdef long long[16] dropped
    cdef long long overlong
    cdef long long missing_request
    cdef long long delayed
    cdef long long delimiters_in_text
    cdef object offset
    cdef dict offsets
    cdef long long last_quarter
    cdef long long last_offset
    cdef bint named
    cdef bint plain
    cdef dict arrays
    cdef list texts
    cdef bytes block
    cdef list codes
    cdef list names
    cdef Py_ssize_t[5] label_first
    cdef Py_ssize_t[5] label_length
    cdef int[5] label_code
    cdef long long[::1] job_id
    cdef long long[::1] submit
    cdef long long[::1] run_time
    cdef long long[::1] requested_time
    cdef long long[::1] cores
    cdef long long[::1] nodes
    cdef long long[::1] memory
    cdef long long[::1] gpus
    cdef long long[::1] begin
    cdef long long[::1] cancel
    cdef long long[::1] recorded_wait
    cdef int[::1] user
    cdef int[::1] group
    cdef int[::1] account
    cdef int[::1] queue
    cdef int[::1] qos
    cdef int allocate(self) except -1
    cdef int reset_counts(self) except -1
    cdef Py_ssize_t split(self, const unsigned char[::1] data, Py_ssize_t at) except -2
    cdef int close(self, const unsigned char[::1] data, int role, Py_ssize_t begin, Py_ssize_t end) except -1
    cdef int keep(self, const unsigned char[::1] data, Py_ssize_t begin) except -1
    cdef int drop(self, int reason) except -1
    cdef int tell(self, const unsigned char[::1] data, Py_ssize_t begin, str problem) except -1
    cdef int store(
        self, const unsigned char[::1] data, Py_ssize_t begin, int state, long long submit, long long run
    ) except -1
    cdef int read_state(self, const unsigned char[::1] data) except -1
    cdef int keep_name(self, const unsigned char[::1] data) except -1
    cdef long long read_id(self, const unsigned char[::1] data) except -3
    cdef long long read_time(self, const unsigned char[::1] data, int role) except -3
    cdef long long read_offset(self, const unsigned char[::1] data, Py_ssize_t at, Py_ssize_t end) except? -99999999
    cdef long long to_utc(self, long long naive) except? -1
    cdef long long read_span(self, const unsigned char[::1] data, int role) except -3
    cdef long long read_whole(self, const unsigned char[::1] data, int role) except -3
    cdef long long read_cores(self, const unsigned char[::1] data) except -3
    cdef long long read_memory(self, const unsigned char[::1] data, long long cores, long long nodes) except -3
    cdef double read_amount(self, const unsigned char[::1] data, Py_ssize_t at, Py_ssize_t end) except? -3
    cdef double find_tres(
        self, const unsigned char[::1] data, int role, const unsigned char *key, Py_ssize_t size
    ) except? -3
    cdef long long read_gpus(self, const unsigned char[::1] data) except -3
    cdef int encode(self, const unsigned char[::1] data, int column, int role) except? -2
