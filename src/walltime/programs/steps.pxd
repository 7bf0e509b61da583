from walltime.programs.program cimport Operation, Pending, Process, Program, Together

cdef class Step:
    cdef public object file
    cdef public object line
    cpdef Pending begin(self, Program program, list processes)
    cdef list all_of(self, list processes)

cdef class Idle(Step):
    cdef double seconds

cdef class Compute(Step):
    cdef double each
    cdef list works

cdef class Exchange(Step):
    cdef double size

cdef class Matrix(Step):
    cdef list rows

cdef class SourceTarget(Step):
    cdef list sources
    cdef list targets
    cdef double size

cdef class External(Step):
    cdef list ranks
    cdef double incoming
    cdef double outgoing
    cdef str component
    cdef bint total

cdef class ParallelTask(Step):
    cdef double each
    cdef double size
    cdef list works
    cdef list rows
    cdef bint total

cdef class Exit(Step):
    cdef long long code

cdef class Checkpoint(Step):
    pass

cdef class DiskUse(Step):
    cdef list ranks
    cdef double incoming
    cdef double outgoing
    cdef object where

cdef class Sequence(Step):
    cdef readonly list steps
    cdef readonly long long repeat

cdef class Parallel(Step):
    cdef readonly list steps
    cdef readonly long long repeat

cdef class Custom(Step):
    cdef readonly object profile

cdef class Rounds(Pending):
    cdef list steps
    cdef list processes
    cdef long long total
    cdef long long at
    cdef bint abreast
    cdef bint rooted
    cdef Rounds parent
    cdef Pending child
    cdef int go(self) except -1
    cdef Pending begin(self, Step step)
