cdef enum:
    NOTHING = 0
    COMPUTE = 1
    SPIN = 2

cdef packed struct TaskFields:
    long long job
    long long node
    long long sibling
    long long state
    long long left
    long long position
    long long quantum
    long long over
    long long running
    double finish

cdef packed struct CourseFields:
    long long first
    long long count
    long long arrived
    long long work
    long long done
    long long burst
    long long pattern
    long long meeting
    long long sync
    long long lap
    long long laps
    long long since
    long long ticket

cdef class TaskTable:
    cdef TaskFields[::1] at
    cdef CourseFields[::1] course
    cdef object tasks
    cdef object courses
    cdef Py_ssize_t size
    cdef Py_ssize_t spare
    cdef int view(self) except -1
    cdef Py_ssize_t add(self, Py_ssize_t job, Py_ssize_t node) except -1
    cdef int drop(self, Py_ssize_t t) noexcept
    cdef int open(self, Py_ssize_t slot) except -1
