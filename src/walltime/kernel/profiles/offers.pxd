from walltime.kernel.profiles.availability cimport Availability
from walltime.kernel.heap cimport EventHeap
from walltime.kernel.jobs cimport JobTable
from walltime.kernel.profiles.promises cimport Promises, SameCores
from walltime.kernel.queue.waiting cimport Queue

cdef class Offers(Promises):
    cdef Availability plan
    cdef long long now
    cdef readonly long long rises
    # by active kind: in which rise it was last offered a run, and up to when
    cdef long long[::1] stamp
    cdef long long[::1] done
    # the offers; those not in use; those for the next pass; those for the job whose turn it is
    cdef long long[::1] start
    cdef long long[::1] end
    cdef long long[::1] of
    cdef Py_ssize_t made
    cdef long long[::1] unused
    cdef Py_ssize_t unuseds
    cdef long long[::1] kept
    cdef Py_ssize_t keeps
    cdef long long[::1] mine
    cdef Py_ssize_t mines
    cdef list heaps
    # a pass
    cdef bint passing
    cdef Py_ssize_t mover
    cdef long long mover_key
    cdef long long mover_seq
    cdef long long mover_tier
    cdef long long target

    cdef int rise(self, long long start, long long end, long long cores) except -1
    cdef int rise_step(self, Py_ssize_t p, Py_ssize_t k, long long risen, long long cores) except -1
    cdef int offer(self, Py_ssize_t k, long long start, long long end, long long risen) except -1
    cdef int offer_everything(self) except -1
    cdef int begin(self) except -1
    cdef Py_ssize_t next(self) except? -1
    cdef EventHeap first_heap(self)
    cdef int collect(self, EventHeap heap) except -1
    cdef long long search(self, Py_ssize_t slot, long long promise) noexcept
    cdef int pass_on(self) except -1
    cdef int again(self, Py_ssize_t offer) except -1
    cdef int find(self, SameCores kind, long long start, long long end, long long risen) noexcept
    cdef int push(self, SameCores kind, Py_ssize_t offer) except -1
    cdef Py_ssize_t note(self, Py_ssize_t k, long long start, long long end) except -1
    cdef int keep(self, Py_ssize_t offer) except -1
