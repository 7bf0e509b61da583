"""The protocol of one Slurm release: numbers and layouts of the few messages that a simulation exchanges.

Another release is another `Dialect` in `releases.DIALECTS`, which says what it has otherwise; nothing else knows a
message's layout. The layouts here are facts of Slurm 22.05 (protocol 38): every field in its order, with its width.
"""

from __future__ import annotations

from dataclasses import dataclass

from walltime.site.gres import Gres
from walltime.slurm.protocol.wire import NO_VAL, BodyLayout, Reader, blob, text, u8, u16, u32, u64

WITHOUT_INDEX = 38 << 8
"""The protocol that has one field less in its envelopes."""
GRES_MAGIC = 0x438A34D4
HAS_FILE, HAS_TYPE = 1 << 1, 1 << 2

JOB_DESCRIPTION_38 = BodyLayout("""
    site_factor:32:none batch_features:s cluster_features:s clusters:s contiguous:16:none container:s
    core_spec:16:none task_dist:32:none kill_on_node_fail:16:none features:s fed_active:64 fed_viable:64
    job_id:32:none job_id_str:s name:s alloc_node:s alloc_sid:32:none array:s burst_buffer:s min_cpus_node:16:none
    memory:64:none min_tmp_disk:32:none power_flags:8 prefer:s cpu_freq_min:32:none cpu_freq_max:32:none
    cpu_freq_gov:32:none partition:s priority:32:none dependency:s account:s admin_comment:s comment:s
    nice:32:none profile:32 qos:s mcs_label:s origin_cluster:s open_mode:8 overcommit:8:none acctg_freq:s
    tasks:32:none req_context:s req_nodes:s exc_nodes:s environment:a spank:a script:s argv:a std_err:s std_in:s
    std_out:s submit_line:s work_dir:s immediate:16 reboot:16:none requeue:16:none shared:16:none
    cpus_per_task:16:none tasks_per_node:16:none tasks_per_board:16 tasks_per_socket:16:none tasks_per_core:16:none
    tasks_per_tres:16:none plane_size:16:none cpu_bind_type:16:none mem_bind_type:16:none cpu_bind:s mem_bind:s
    time_limit:32:none time_min:32:none min_cpus:32:none max_cpus:32:none min_nodes:32:none max_nodes:32:none
    boards_per_node:16 sockets_per_board:16 sockets_per_node:16:none cores_per_socket:16:none
    threads_per_core:16:none user:32:none group:32:none response_port:16 response_host:s other_port:16 network:s
    begin:64 end:64 deadline:64 licenses:s mail_type:16:none mail_user:s reservation:s restarts:16 warn_flags:16
    warn_signal:16 warn_time:16 wckey:s req_switch:32:none wait_switch:32:none select_plugin:32
    wait_all_nodes:16:none flags:64 delay_boot:32:none extra:s x11:16 x11_cookie:s x11_target:s x11_port:16
    cpus_per_tres:s mem_per_tres:s tres_bind:s tres_freq:s tres_per_job:s tres_per_node:s tres_per_socket:s
    tres_per_task:s cron:8
""")


@dataclass(frozen=True)
class Launch:
    """What the controller tells the first node of a job that starts."""

    job: int
    array: int | None
    task: int | None
    restarts: int
    cpus: tuple[int, ...]
    nodes: str
    partition: str
    environment: tuple[str, ...]


@dataclass(frozen=True)
class IncomingMessage:
    """A message that came off the wire."""

    msg_type: int
    body: bytes
    forward: str | None
    version: int


@dataclass(frozen=True)
class Registration:
    """What a node says of itself when it reports for service."""

    name: str
    time: int
    booted: int
    cpus: int
    boards: int
    sockets: int
    cores: int
    threads: int
    memory: int
    tmp_disk: int
    features: str | None = None
    gres: tuple[Gres, ...] = ()
    jobs: tuple[int, ...] = ()
    """Numbers of the jobs that run on it; one that the controller misses counts as lost."""


@dataclass(frozen=True)
class End:
    """A request to end a job on some nodes; the state is the one that the controller has given it."""

    job: int
    state: int
    nodes: str


@dataclass(frozen=True)
class Dialect:
    """Numbers of one release. `product` is what its packages call themselves."""

    product: str
    version: int
    job_description: BodyLayout

    @property
    def release(self) -> str:
        """Its first two numbers, as 22.05."""
        return ".".join(self.product.split(".")[:2])

    RESTARTS = False
    """Whether it starts another controller in its place to read its configuration again."""

    # requests that nodes receive
    REGISTER_YOURSELF = 1001
    PING = 1008
    BATCH_LAUNCH = 4005
    SUSPEND = 5031
    KILL_TIME_LIMIT = 6009
    TERMINATE_JOB = 6011
    ABORT_JOB = 6013
    KILL_PREEMPTED = 6016
    # requests to the controller
    NODE_REGISTRATION = 1002
    SUBMIT = 4003
    SUBMITTED = 4004
    BATCH_COMPLETE = 5018
    KILL_JOB = 5032
    EPILOG_COMPLETE = 6012
    # answers
    PING_ANSWER = 1016
    RETURN_CODE = 8001
    ALREADY_COMPLETE = 4002
    """The answer to a request to end a job that frees the node at once, without an epilog's message."""

    DEFAULT_ACCOUNT, DEFAULT_PARTITION, DEFAULT_QOS, DEFAULT_KEY = 1 << 25, 1 << 26, 1 << 27, 1 << 28
    MEMORY_PER_CPU = 1 << 63
    STATES = ("PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL",
              "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY")  # fmt: skip
    """By the low byte of a job's state."""
    REQUEUE = 0x0400
    BATCH_SCRIPT = 0xFFFFFFFB
    """The number of the step that a job's script is."""
    SELECT_LINEAR, SELECT_CONS_TRES = 102, 109
    ENERGY = 40
    """Bytes for the energy that a node has used, which is none."""
    STEP = 12
    """Bytes that name a step of a job."""
    LAUNCH_IDENTITY, LAUNCH_USER_NAME, LAUNCH_BINDINGS = 12, True, 2
    """In a launch: bytes of numbers after the job's, whether a user's name follows, texts before the nodes."""

    # ---- envelopes

    def pack(
        self, msg_type: int, body: bytes, user: int = 0, version: int | None = None, answers: bytes = b""
    ) -> bytes:
        """A whole message. `answers` are a count and the answers of nodes to which a request was to be passed on."""
        version = version or self.version
        older = b"" if version >= WITHOUT_INDEX else u16(0)
        head = u16(version) + u16(0) + older + u16(msg_type) + u32(len(body)) + u16(0)
        return frame(head + (answers or u16(0)) + u16(0) + authenticate(user) + body)

    def pack_answer(self, msg_type: int, body: bytes, others: list[str], version: int) -> bytes:
        """The answer to a request, also in the name of the other nodes that it was meant for."""
        each = b"".join(u32(0) + u16(msg_type) + text(node) + body for node in others)
        return self.pack(msg_type, body, version=version, answers=u16(len(others)) + each)

    def unpack(self, data: bytes) -> IncomingMessage:
        """A message without its length; raises ValueError for one that this dialect does not speak."""
        reader = Reader(data)
        version = reader.u16()
        reader.u16()
        if version < WITHOUT_INDEX:
            reader.u16()  # a node not yet registered is addressed in the oldest form that the release speaks
        msg_type, length, forwards = reader.u16(), reader.u32(), reader.u16()
        nodes = None
        if forwards:
            nodes = reader.text()
            reader.take(6)
        if length > len(data):
            raise ValueError(f"a message of {len(data)} bytes claims a body of {length}")
        return IncomingMessage(msg_type, data[len(data) - length :], nodes, version)

    # ---- bodies

    def pack_return_code(self, code: int) -> bytes:
        return u32(code)

    def read_return_code(self, body: bytes) -> int:
        return int.from_bytes(body[:4], "big")

    def pack_ping_answer(self) -> bytes:
        return u32(0) + u64(1000)

    def pack_registration(self, node: Registration) -> bytes:
        shape = u16(node.cpus) + u16(node.boards) + u16(node.sockets) + u16(node.cores) + u16(node.threads)
        return b"".join(
            (
                u64(node.time) + u64(node.booted) + u32(0) + self._pack_names(node) + text("x86_64"),
                text(None) + text("Linux") + shape,
                u64(node.memory) + u32(node.tmp_disk) + u32(max(0, node.time - node.booted)) + u32(NO_VAL) + u32(0),
                u64(node.memory) + u32(len(node.jobs)),
                *(self._pack_step(job, self.BATCH_SCRIPT) for job in node.jobs),
                u16(0),
                self._pack_gres(node),
                bytes(self.ENERGY) + text(self.product) + u8(0) + text(None) + text(None),
            )
        )

    def _pack_names(self, node: Registration) -> bytes:
        return text(node.features) + text(node.features) + text(node.name) + text(node.name)

    def _pack_step(self, job: int, step: int) -> bytes:
        return u32(job) + u32(step) + u32(NO_VAL)

    def _pack_gres(self, node: Registration) -> bytes:
        records = b"".join(
            u32(GRES_MAGIC)
            + u64(one.count)
            + u32(node.sockets * node.cores)
            + u32((HAS_FILE if one.files else 0) | (HAS_TYPE if one.type else 0))
            + u32(gres_number(one.name))
            + text(one.cores)
            + text(None)
            + text(one.name)
            + text(one.type)
            + text(None)
            for one in node.gres
        )
        packed = u16(self.version) + u16(len(node.gres)) + records
        return u32(len(packed)) + blob(packed)

    def pack_completion(self, job: int, host: str) -> bytes:
        return u8(0) + u32(job) + u32(0) + u32(0) + u32(0) + text(host)

    def pack_epilog(self, job: int, node: str) -> bytes:
        """What a node says when its epilog for a job is over; nothing is answered to it."""
        return u32(job) + u32(0) + text(node)

    def pack_kill(self, job: str, signal: int = 9) -> bytes:
        """For a job by its number or, as a task of an array, by `12_3`."""
        number = int(job.partition("_")[0])
        return self._pack_step(number, NO_VAL) + text(job) + text(None) + u16(signal) + u16(0)

    def read_submission(self, body: bytes) -> tuple[int, int]:
        """(job number, code): what the controller answers to a submission."""
        reader = Reader(body)
        job = reader.u32()
        reader.u32()
        return job, reader.u32()

    def read_launch(self, body: bytes) -> Launch:
        reader = Reader(body)
        job = reader.u32()
        reader.take(self.LAUNCH_IDENTITY)
        if self.LAUNCH_USER_NAME:
            reader.text()
        reader.integers(32)
        partition = reader.text()
        reader.take(4 + 8 + 2)
        array, task = reader.u32(), reader.u32()
        reader.text()
        reader.text()
        reader.take(4)
        restarts = reader.u16()
        reader.take(2)
        cpus: list[int] = []
        if reader.u32():
            each = reader.integers(16)
            for count, times in zip(each, reader.integers(32), strict=True):
                cpus += [count] * times
        for _ in range(self.LAUNCH_BINDINGS):
            reader.text()
        nodes = reader.text() or ""
        for _ in range(5):  # script, folder, standard files
            reader.text()
        reader.u32()
        reader.texts()
        reader.texts()
        reader.u32()
        environment = reader.texts()
        whole = task == NO_VAL
        return Launch(
            job,
            None if whole else array,
            None if whole else task,
            restarts,
            tuple(cpus),
            nodes,
            partition or "",
            tuple(environment),
        )

    def read_end(self, body: bytes) -> End:
        """What a request to end a job says.

        A credential comes first, which is of no interest here; it begins with the same three numbers that stand in
        front of the state, and these three are not found further on.
        """
        step = body[1 : 1 + self.STEP]
        reader = Reader(body, body.rindex(step) + self.STEP - 12)
        job = reader.u32()
        reader.take(12)
        state = reader.u32()
        reader.take(8)
        return End(job, state, reader.text() or "")

    def read_suspension(self, body: bytes) -> tuple[int, bool]:
        """(job, whether it is stopped rather than continued)."""
        reader = Reader(body)
        reader.take(3)
        job = reader.u32()
        return job, reader.u16() == 0


def frame(message: bytes) -> bytes:
    return u32(len(message)) + message


def authenticate(user: int) -> bytes:
    """The token of auth/none: the user that one claims to be."""
    return u32(100) + u32(user) + u32(0) + text("walltime")


def gres_number(name: str) -> int:
    """The controller's number for a kind of generic resource: its letters, shifted and summed."""
    total = shift = 0
    for letter in name.encode():
        total += letter << shift
        shift = (shift + 8) % 32
    return total & 0xFFFFFFFF
