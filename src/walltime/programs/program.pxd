from walltime.programs.activities cimport Activities, Waiter
from walltime.programs.platform cimport DiskState, Platform

cdef class Pending(Waiter):
    cdef readonly Program program
    cdef readonly bint over
    cdef readonly object result
    cdef readonly object error
    cdef list listeners
    cdef int listen(self, Pending other) except -1
    cpdef int told(self, Pending child) except -1
    cpdef int finish(self, object result, object error) except -1
    cpdef int cancel(self) except -1

cdef class Operation(Pending):
    cdef set numbers
    cdef Py_ssize_t add(self, double amount, double delay, double weight, double bound) except -1
    cdef int add_together(self, double amount, double delay, double weight, double bound, dict uses, dict sizes) except -1
    cdef int begun(self) except -1
    cpdef int wake(self, Py_ssize_t a) except -1

cdef class Task(Pending):
    cdef readonly object coroutine
    cdef Pending awaited
    cdef bint running
    cpdef int step(self) except -1

cdef class Several(Pending):
    cdef list children
    cdef int cancel_children(self) except -1

cdef class Together(Several):
    cdef Py_ssize_t open

cdef class Race(Several):
    pass

cdef class Timed(Pending):
    cdef Pending child
    cdef Pending timer

cdef class Program:
    cdef readonly Platform platform
    cdef readonly object label
    cdef readonly object profile
    cdef readonly list processes
    cdef readonly Pending root
    cdef readonly bint over
    cdef readonly bint paused
    cdef readonly object error
    cdef readonly object on_end
    cdef public object on_release
    cdef public object on_checkpoint
    cdef readonly object restored
    cdef Pending inside
    cdef list resume
    cdef bint fresh
    cdef public Py_ssize_t slot
    cdef dict operations
    cdef dict written
    cdef double moment
    cdef long long begun
    cdef long long all_begun
    cdef public long long most
    cpdef int settle(self) except -1
    cpdef int begin_operation(self) except -1
    cpdef object standing(self)
    cpdef int close(self) except -1
    cdef int save(self, object state) except -1

cdef class Process:
    cdef readonly Program program
    cdef readonly Py_ssize_t rank
    cdef readonly Py_ssize_t node
    cdef readonly long long cores
    cdef readonly bint gone
    cdef double speed
    cdef double full
    cdef Py_ssize_t own
    cdef Activities activities
    cpdef Operation sleep(self, object seconds)
    cpdef Operation compute(self, object flops, object speedup=*)
    cpdef Operation transfer(self, object size, object other)
    cpdef Operation receive(self, object size, object source)
    cpdef Operation read(self, object size, object where=*)
    cpdef Operation write(self, object size, object where=*)
    cdef int add_sleep(self, Operation made, double seconds) except -1
    cdef int add_compute(self, Operation made, double flops, double speedup) except -1
    cdef int add_work(self, dict uses, double flops) except -1
    cdef int add_transfer(self, Operation made, double size, Py_ssize_t source, Py_ssize_t target) except -1
    cdef int add_disk(self, Operation made, double size, object where, bint writes) except -1
    cdef int check(self) except -1
    cpdef Py_ssize_t end_of(self, object other) except -1
