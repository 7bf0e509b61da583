cdef class Scanner:
    cdef readonly str file
    cdef readonly long long line
    cdef readonly bint in_order
    cdef readonly list comments
    cdef readonly long long records
    cdef bint ordered_only
    cdef Py_ssize_t capacity
    cdef Py_ssize_t rows
    cdef long long latest
    cdef long long previous_submit
    cdef long long powers[19]
    cdef long long values[18]
    cdef int kinds[18]
    cdef long long scales[18]
    cdef long long batch_records
    cdef long long dropped[4]
    cdef readonly list skipped_at
    cdef long long extra_columns
    cdef long long overlong
    cdef long long missing_request
    cdef long long unusable_memory
    cdef Py_ssize_t extra_at
    cdef list extras
    cdef dict arrays
    cdef long long[::1] job_id
    cdef long long[::1] submit
    cdef long long[::1] run_time
    cdef long long[::1] requested_time
    cdef long long[::1] cores
    cdef long long[::1] memory
    cdef long long[::1] cancel
    cdef long long[::1] recorded_wait
    cdef long long[::1] preceding_job
    cdef long long[::1] think_time
    cdef int[::1] user
    cdef int[::1] group
    cdef int[::1] queue
    cdef int[::1] small_codes
    cdef list large_codes
    cdef list names
    cdef int allocate(self) except -1
    cdef int reset_counts(self) except -1
    cdef Py_ssize_t skip_line(self, const unsigned char *data, Py_ssize_t at) except -1
    cdef Py_ssize_t read_record(self, const unsigned char *data, Py_ssize_t at, Py_ssize_t first) except -1
    cdef Py_ssize_t read_number(
        self, const unsigned char *data, Py_ssize_t at, Py_ssize_t first, int field
    ) except -1
    cdef Py_ssize_t count_extra(self, const unsigned char *data, Py_ssize_t at) except -1
    cdef int scale(
        self, const unsigned char *data, Py_ssize_t at, Py_ssize_t first, int field, long long mantissa, int exponent
    ) except -1
    cdef int keep(self) except -1
    cdef int drop(self, int reason) except -1
    cdef int store(self, long long cores, bint cancelled) except -1
    cdef int encode(self, int column, long long number) except? -1
    cdef int refuse(
        self, const unsigned char *data, Py_ssize_t at, Py_ssize_t first, int field, str problem
    ) except -1
