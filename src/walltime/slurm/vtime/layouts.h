/* Where releases of Slurm keep what answers.c looks at. Offsets come from each release's own headers, by a compiler.
   The sizes of the records are compared with those that the controller allocates. */
#ifndef WALLTIME_LAYOUTS_H
#define WALLTIME_LAYOUTS_H

#include <stdint.h>

struct range {
    uint32_t from, to;
};

/* Where a release keeps what is looked at. Bytes in `job_free` and so on are not looked at: the plug-in reads none of
   them when it answers. They are in order, and end with a range beyond the record. */
struct layout {
    const char *release;
    uint32_t job_size, details_size, node_size;
    uint32_t details, end_time, job_state, node_bitmap, job_resources, partition, start_time, cpus, switches;
    uint32_t weight, node_state, required, excluded, cores_asked, gres, gres_asked;
    uint32_t share;      /* of a job: whether it would share its nodes */
    uint32_t tasks_each; /* of a job: tasks on a node, where `share` matters to such jobs; 0: it does not */
    int sets_low;        /* of the weights of nodes the plug-in sets the low byte alone, and that for jobs with GPUs */
    uint32_t licenses;   /* of a job, where the plug-in reads them: such jobs are not known; 0: it does not */
    uint32_t exceptions; /* how many pointers the argument with reserved resources points to; 0: it is one itself */
    /* for trials.c; 0: all trials are made. Of a partition, of a job and its details, of a node, of the settings. */
    uint32_t max_share, partition_by, flags, overcommit, cpus_needed, cpus_each, gres_cpus;
    uint32_t node_cores, node_threads, select_by;
    int window;          /* whether a question says from when and until when */
    struct range job_free[12], details_free[4], node_free[12];
};

static const struct layout layouts[] __attribute__((unused)) = {
    {
        .release = "22.05.8",
        .job_size = 1048, .details_size = 504, .node_size = 472,
        .details = 208, .end_time = 224, .job_state = 408, .node_bitmap = 520, .job_resources = 400,
        .partition = 608, .start_time = 816, .cpus = 888, .switches = 1024,
        .weight = 376, .node_state = 280,
        .required = 352, .excluded = 160, .cores_asked = 240, .gres = 264, .gres_asked = 80,
        .share = 386, .sets_low = 1,
        .max_share = 184, .partition_by = 300, .flags = 112, .overcommit = 293, .cpus_needed = 260,
        .cpus_each = 296, .gres_cpus = 268, .node_cores = 448, .node_threads = 464, .select_by = 1136,
        /* last_sched_eval; priority; sched_nodes; start_time, state_desc, state_reason; total_cpus */
        .job_free = {{416, 424}, {656, 660}, {768, 776}, {816, 836}, {888, 892}, {1048, 1048}},
        .details_free = {{386, 387}, {504, 504}},
        /* boot_time; cpu_load; cpu_load_time; free_mem and its time; last_busy, last_response; node_state (looked at
           but for one bit); sched_weight; up_time */
        .node_free = {{32, 40}, {80, 84}, {88, 96}, {152, 168}, {192, 208}, {280, 284}, {376, 384}, {452, 456},
                      {472, 472}},
    },
    {
        .release = "24.11.5",
        .job_size = 1160, .details_size = 528, .node_size = 536,
        .details = 216, .end_time = 232, .job_state = 448, .node_bitmap = 584, .job_resources = 440,
        .partition = 680, .start_time = 920, .cpus = 1000, .switches = 1136,
        .weight = 440, .node_state = 320,
        .required = 376, .excluded = 168, .cores_asked = 248, .gres = 296, .gres_asked = 80,
        .share = 414, .tasks_each = 292,
        .licenses = 472, .exceptions = 6, .window = 1,
        .job_free = {{456, 464}, {728, 732}, {872, 880}, {920, 940}, {1000, 1004}, {1160, 1160}},
        .details_free = {{414, 415}, {528, 528}},
        .node_free = {{32, 40}, {88, 92}, {96, 104}, {160, 176}, {232, 248}, {320, 324}, {440, 448}, {516, 520},
                      {536, 536}},
    },
};
#endif
