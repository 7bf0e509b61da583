"""What Slurm 24.11 (protocol 42) has otherwise than 22.05 in the messages of a simulation."""

from __future__ import annotations

from walltime.slurm.protocol.dialect import Dialect, Registration
from walltime.slurm.protocol.wire import BodyLayout, Reader, text, u64

JOB_DESCRIPTION_42 = BodyLayout("""
    site_factor:32:none batch_features:s cluster_features:s clusters:s contiguous:16:none container:s container_id:s
    core_spec:16:none task_dist:32:none kill_on_node_fail:16:none features:s fed_active:64 fed_viable:64
    job_id:32:none job_id_str:s name:s alloc_node:s alloc_sid:32:none array:s burst_buffer:s min_cpus_node:16:none
    memory:64:none oom_kill_step:16:none min_tmp_disk:32:none prefer:s cpu_freq_min:32:none cpu_freq_max:32:none
    cpu_freq_gov:32:none partition:s priority:32:none dependency:s account:s admin_comment:s comment:s
    nice:32:none profile:32 qos:s mcs_label:s origin_cluster:s open_mode:8 overcommit:8:none acctg_freq:s
    tasks:32:none req_context:s req_nodes:s exc_nodes:s environment:a spank:a script:s argv:a std_err:s std_in:s
    std_out:s submit_line:s work_dir:s immediate:16 reboot:16:none requeue:16:none shared:16:none
    cpus_per_task:16:none tasks_per_node:16:none tasks_per_board:16 tasks_per_socket:16:none tasks_per_core:16:none
    tasks_per_tres:16:none plane_size:16:none cpu_bind_type:16:none mem_bind_type:16:none cpu_bind:s mem_bind:s
    time_limit:32:none time_min:32:none min_cpus:32:none max_cpus:32:none min_nodes:32:none max_nodes:32:none
    job_size:s boards_per_node:16 sockets_per_board:16 sockets_per_node:16:none cores_per_socket:16:none
    threads_per_core:16:none user:32:none group:32:none response_port:16 response_host:s other_port:16
    reserved_ports:16:none network:s begin:64 end:64 deadline:64 licenses:s mail_type:16:none mail_user:s reservation:s
    restarts:16 warn_flags:16 warn_signal:16 warn_time:16 wckey:s req_switch:32:none wait_switch:32:none
    wait_all_nodes:16:none flags:64 delay_boot:32:none extra:s x11:16 x11_cookie:s x11_target:s x11_port:16
    cpus_per_tres:s mem_per_tres:s tres_bind:s tres_freq:s tres_per_job:s tres_per_node:s tres_per_socket:s
    tres_per_task:s cron:8 segment_size:16:none
""")


class Dialect42(Dialect):
    """Slurm 24.11."""

    RESTARTS = True
    ENERGY = 48
    STEP = 20
    LAUNCH_IDENTITY, LAUNCH_USER_NAME, LAUNCH_BINDINGS = 4, False, 1

    def _pack_names(self, node: Registration) -> bytes:
        cloud = text(None) * 2  # an instance and its type
        return text(None) + text(node.features) * 2 + text(node.name) + cloud + text(node.name)

    def _pack_step(self, job: int, step: int) -> bytes:
        return u64(0) + super()._pack_step(job, step)

    def read_suspension(self, body: bytes) -> tuple[int, bool]:
        """(job, whether it is stopped rather than continued)."""
        reader = Reader(body)
        return reader.u32(), reader.u16() == 0
