from walltime.workload.formats.sacct.fields cimport (
    JOB, JOB_RAW, USER, GROUP, ACCOUNT, PARTITION, QOS, SUBMIT, ELIGIBLE, START, END, ELAPSED, ELAPSED_RAW, ALLOCATED_NODES, REQUESTED_NODES, REQUESTED_TRES, ALLOCATED_TRES, NO_SUBMIT, NO_RUN, NO_CORES, NO_LIMIT, ARRAY, MALFORMED, ENDED, CANCELLED, UNKNOWN, BAD, Fields
)

cdef class Scanner(Fields):
    cdef readonly str file
    cdef readonly long long line
    cdef readonly long long records
    cdef readonly long long steps
    cdef readonly bint in_order
    cdef readonly list problems
    cdef bint ordered_only
    cdef Py_ssize_t capacity
    cdef Py_ssize_t rows
    cdef long long zero
    cdef long long previous_submit
    cdef long long batch_records
    cdef long long batch_steps
    cdef long long[16] dropped
    cdef list dropped_at
    cdef long long overlong
    cdef long long missing_request
    cdef long long delayed
    cdef bint named
    cdef bint plain
    cdef dict arrays
    cdef list texts
    cdef list codes
    cdef list names
    cdef Py_ssize_t[6] label_first
    cdef Py_ssize_t[6] label_length
    cdef int[6] label_code
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
    cdef int[::1] licences
    cdef int allocate(self) except -1
    cdef int reset_counts(self) except -1
    cdef int keep(self, const unsigned char[::1] data, Py_ssize_t begin) except -1
    cdef int drop(self, int reason, long long submit) except -1
    cdef int tell(self, const unsigned char[::1] data, Py_ssize_t begin, str problem, long long submit) except -1
    cdef int store(
        self, const unsigned char[::1] data, Py_ssize_t begin, int state, long long submit, long long run
    ) except -1
    cdef int keep_name(self) except -1
    cdef long long read_id(self, const unsigned char[::1] data) except -3
    cdef int encode(self, const unsigned char[::1] data, int column, int role) except? -2
    cdef int encode_licences(self, const unsigned char[::1] data) except? -2
