"""Valid files of other simulators and of published traces, made by hand after their formats."""

from typing import Any

GOOGLE = b"""time,type,collection_id,collection_type,priority,instance_index,resource_request.cpus,memory
0,0,7,0,103,0,0.25,0.125
1000000,SUBMIT,9,0,,1,0.5,
2000000,3,7,0,103,0,0.25,0.125
3000000,3,9,0,103,1,,
4000000,6,7,0,103,0,,
5000000,4,9,0,103,1,,
5000000,0,9,0,103,1,0.5,0.1
6000000,3,9,0,103,1,0.5,0.1
7000000,5,9,0,103,1,,
"""
GOOGLE_LINES = b"""\
{"time":"0","type":"0","collection_id":"7","instance_index":"0","resource_request":{"cpus":1}}
{"time":"5","type":3,"collection_id":"7","instance_index":"0"}
{"time":"9","type":"6","collection_id":"7","instance_index":"0","priority":"3"}
"""
ALIBABA_TASKS = b"M1,2,j_1,1,Terminated,100,150,50,0.5\nR2_1,1,j_1,1,Failed,20,30,200,\nx,3,j_2,2,Running,10,0,100,1\n"
ALIBABA_INSTANCES = (
    b"ins_1,M1,j_1,1,Terminated,100,150,m_1,1,2,20,50.5,0.2,0.5\nins_2,M1,j_1,1,Terminated,90,150,m_2,2,2,20,100,0.2,\n"
)
ALIBABA_CONTAINERS = b"""c_1,m_1,10,app_1,started,400,800,1.56
c_2,m_1,0,app_2,started,100,800,3.13
c_1,m_1,30,app_1,stopped,400,8,1.56
"""
BATSIM: dict[str, Any] = {
    "nb_res": 4,
    "jobs": [
        {"id": "a", "subtime": 0, "walltime": 30, "res": 4, "profile": "task"},
        {"id": "b", "subtime": 1.5, "res": 1, "profile": "chain"},
    ],
    "profiles": {
        "chain": {"type": "composed", "repeat": 2, "seq": ["wait", "even"]},
        "wait": {"type": "delay", "delay": 20.5, "ret": 1},
        "task": {"type": "parallel", "cpu": [5e6, 0, 0, 0], "com": [0.0] * 16},
        "even": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e6, "com": 1e3,
                 "generation_strategy": "DefinedAmountsSpreadUniformly"},
        "pfs": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e5, "storage": "nfs"},
    },
}  # fmt: skip
DSLAB: list[Any] = [
    {"id": 3, "name": "x", "submit_time": 10.5, "schedule_after": 20, "wall_time_limit": 30, "priority": 2,
     "collection_id": 5, "execution_index": 0, "profile": "named",
     "resources": {"nodes_count": 2, "cpu_per_node": 3, "memory_per_node": 4}},
    {"submit_time": 1, "resources": {"cpu_per_node": 1}, "profile": {"type": "idle", "args": {"time": 20}}},
]  # fmt: skip
RANDOM = {
    **{"execution_count": 3, "cpu_min": 1, "cpu_max": 2, "memory_min": 1, "memory_max": 9},
    **{"delay_min": 1, "delay_max": 4, "duration_mean": 9, "duration_dev": 2},
}
CONFIGURATION = {
    "workload": [
        {"type": "Native", "path": "trace", "options": {"profiles_path": "profiles"}},
        {"type": "Random", "options": RANDOM},
        {"type": "Google", "options": {"instances_path": "i", "resources_multiplier": 100, "time_scale": "1e6"}},
    ],
    "hosts": [{"count": 5, "cpus": 20, "memory": 20, "name_prefix": "c", "cpu_speed": 2, "disk_capacity": 9,
               "disk_read_bw": 1, "disk_write_bw": 2.5}],
    "network": {"type": "shared", "local": {"bandwidth": 9, "latency": 0}, "global": {"bandwidth": 9, "latency": 0}},
    "monitoring": {"host_load_compression_time_interval": 100, "collect_user_queues": True},
    "scheduler": {"hosts_invoke_interval": 10},
}  # fmt: skip
