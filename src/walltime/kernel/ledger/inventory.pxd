from walltime.kernel.jobs cimport JobTable
from walltime.kernel.ledger.holds cimport Holds
from walltime.kernel.ledger.node_pool cimport NodePool, RoughRoom
from walltime.kernel.ledger.place cimport Place
from walltime.kernel.ledger.shares cimport Shares
from walltime.kernel.profiles.node_starts cimport NodeStarts, Smallest
from walltime.kernel.profiles.release_profile cimport ReleaseProfile
from walltime.kernel.profiles.timelines cimport Timelines

# What is known of a set of nodes, in one line of the cache.
cdef struct SetFields:
    long long planned_free  # how many cores are free if its plan is still true
    long long counted  # holds without names
    # for its bounds: when they were measured, the first hold, the only one (or -1), what cannot be had beside it
    long long measured
    long long first_hold
    long long lone
    long long barred
    long long spared  # when `spare` was counted
    long long spare  # cores that are left at the start of the only hold, which is a number

cdef inline SetFields *sets_in(long long[::1] table) noexcept:
    return <SetFields *>&table[0]

cdef class Inventory(Holds):
    # What most questions look at, side by side in a few lines of the cache: a view takes three lines of them.
    cdef readonly Place place
    cdef readonly bint whole
    cdef readonly Py_ssize_t n
    cdef readonly Timelines timelines
    cdef readonly Timelines licensing
    cdef bint tells_room  # whether `rough` is told what is free
    cdef Shares shares
    cdef bint paced
    cdef readonly Py_ssize_t shapes
    cdef readonly Py_ssize_t licences
    cdef readonly Py_ssize_t sets
    cdef readonly list pools
    cdef NodePool everything  # the pool of set 0
    cdef SetFields *of_set
    cdef readonly bint timed  # whether `timelines` knows what runs where until when, or only how much
    cdef Py_ssize_t follows
    cdef readonly Py_ssize_t few
    cdef Py_ssize_t counted  # holds without names, and with
    cdef Py_ssize_t named
    cdef Py_ssize_t over  # nodes on which more is in use than there is
    cdef bint planned  # whether some set has one of the `plans`
    cdef ReleaseProfile ending  # the `ends` of set 0
    cdef long long version
    cdef long long edge  # when next a hold begins or ends, or before
    # what there is
    cdef readonly bint names_all  # whether a hold has names also where a number would do
    cdef readonly tuple resources
    cdef readonly NodeStarts node_starts
    cdef Smallest smallest
    cdef readonly RoughRoom rough  # where more than cores is asked for
    cdef long long[::1] pace
    cdef double[::1] most_of  # of each resource, the most that a node has
    cdef double[::1] scale  # the same of those that a job has had: what no job asks for is not weighed
    # requests, by the number of their shape
    cdef dict shape_numbers
    cdef tuple nothing  # of each resource but cores
    cdef list set_sizes  # by set: the sizes of its nodes, the largest first, below zero
    cdef list models  # by set: what nodes that are alike have, and how many they are
    cdef list model_rows  # what nodes have, each once; and the place of each node's there
    cdef object model_of
    cdef long long[::1] cores_of
    cdef long long[::1] nodes_of
    cdef long long[::1] demand_of
    cdef long long[::1] set_of
    cdef long long[::1] can
    cdef long long[::1] licensed_of
    cdef long long[::1] parts_in  # of a request whose nodes differ: its parts, whose shapes follow; else 0
    cdef dict parts_on  # by slot, of such jobs: its number in the order of entry, and what it wants of each node it has
    cdef long long[::1] any_of  # whether any cores, or any whole nodes, of its set serve it in full health; never if all have names
    cdef long long[::1] plain_of  # the cores of a request that the set of all nodes serves, and that asks for nothing else; else 0
    cdef readonly Py_ssize_t unlike  # requests of which that is not true, or that want licences
    cdef long long[::1] licence_of
    # node sets: a pool and the ranges of nodes of each, and to which sets a node belongs
    cdef dict set_numbers
    cdef list masks
    cdef long long[::1] member
    cdef long long[::1] range_of
    cdef long long[::1] range_first
    cdef long long[::1] range_last
    cdef long long[::1] sets_from
    cdef long long[::1] sets_at
    # running jobs of a set by expected end, for the sets that were asked about
    cdef list profiles
    cdef long long[::1] followed
    cdef Py_ssize_t made  # the hold that is being made
    cdef long long valid_from  # a look before so many nodes were eased tells nothing
    # nodes on which more is in use than there is
    cdef long long[::1] short
    cdef list plans  # by set: its cores over time, beside running jobs and holds without names, where there were many
    cdef list ends  # by set: the cores of its running jobs by expected end, where it was asked for
    cdef long long glance
    cdef long long[::1] glanced
    cdef long long[::1] crosses  # whether two sets have a node in common
    cdef long long[::1] alike  # whether all nodes of a set have as many cores
    cdef long long[::1] largest
    cdef readonly Py_ssize_t drained
    cdef long long[::1] set_cores
    cdef long long[::1] set_table  # the memory of `of_set`
    # by set and number of cores: how many nodes have so many free and fewer beside the only hold, less those that have
    # so many beside it and more free
    cdef long long[::1] lost
    cdef Py_ssize_t levels
    # nodes that a question has met
    cdef long long[::1] mark
    cdef long long stamp
    cdef long long[::1] met
    cdef Py_ssize_t meets
    cpdef int share_licences(self, Inventory other) except -1
    cpdef Py_ssize_t add_set(self, object mask) except -1
    cpdef Py_ssize_t intern(self, object request, Py_ssize_t node_set) except -1
    cpdef Py_ssize_t intern_plain(self, long long cores, long long nodes, long long per_node, Py_ssize_t node_set) except -2
    cpdef object intern_packed(self, object cores, object memory, Py_ssize_t node_set)
    cdef Py_ssize_t add_shape(self, object key, long long cores, long long nodes, Py_ssize_t d, Py_ssize_t node_set) except -1
    cdef int add_parts(self, object request, bint alone, Py_ssize_t node_set) except -1
    cdef Py_ssize_t demand_on(self, Py_ssize_t slot, Py_ssize_t x, Py_ssize_t i, long long cores) except -1
    cdef Py_ssize_t demand_kept(self, Py_ssize_t x, long long e) noexcept
    cpdef object count_nodes(self, object shapes)
    cdef int time_nodes(self) except -1
    cpdef long long units(self, Py_ssize_t slot) noexcept
    cpdef long long need(self, Py_ssize_t slot) except? -1
    cdef bint any_serve(self, Py_ssize_t x) noexcept
    cdef long long takes(self, Py_ssize_t x) noexcept
    cpdef bint possible(self, Py_ssize_t slot) except? -1
    cpdef Py_ssize_t describe(self, Py_ssize_t slot) except -1
    cdef int know_room(self) noexcept
    cdef int tell_room(self, Py_ssize_t i) noexcept
    cdef bint within(self, Py_ssize_t slot, Py_ssize_t s) noexcept
    cdef long long cores_within(self, Py_ssize_t slot, Py_ssize_t s) noexcept
