"""The wires between a simulation and its controller: calls to it, calls from it, and the grant of time."""

from __future__ import annotations

import functools
import selectors
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from walltime.core.time import NEVER
from walltime.slurm.controller import Controller
from walltime.slurm.protocol.dialect import Dialect, IncomingMessage

PATIENCE = 60.0
"""Real seconds without a word and without computing after which a controller counts as hung."""
ENDLESS = 3600.0
"""Seconds of computing without a word, at one simulated instant, after which it counts as caught in a loop."""
_REPORT = struct.Struct("qqqq")
_GRANT = struct.Struct("qq")


class NodeResponder(Protocol):
    """What answers in the name of all nodes."""

    def answer(self, request: IncomingMessage) -> bytes:
        """The whole answer to a request from the controller."""


class Call:
    """A request to the controller whose answer is awaited."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.received = b""
        self.answer: bytes | None = None

    def read(self) -> bool:
        """Take what has come; whether the answer is whole (empty where the controller hung up)."""
        piece = self.connection.recv(65536)
        self.received += piece
        size = int.from_bytes(self.received[:4], "big") + 4 if len(self.received) >= 4 else None
        if not piece or (size is not None and len(self.received) >= size):
            self.answer = self.received[4:]
            return True
        return False


class ControllerLink:
    """A controller in virtual time. It runs only inside `advance` and `call`, and is frozen otherwise."""

    def __init__(self, controller: Controller, dialect: Dialect, nodes: NodeResponder) -> None:
        self.controller = controller
        self.dialect = dialect
        self.nodes = nodes
        self.tick: Callable[[], None] = lambda: None  # called now and then while the controller computes
        self._selector = selectors.DefaultSelector()
        self._selector.register(controller.nodes, selectors.EVENT_READ, self._accept)
        self._idle: tuple[int, int, int, int] | None = None
        if controller.control is not None:
            self._selector.register(controller.control, selectors.EVENT_READ, self._read_report)

    @property
    def now(self) -> int:
        """Microseconds since 1970 on the controller's clock."""
        return self.controller.now

    def start(self) -> None:
        """Wait until the controller has come up and has nothing more to do at its first instant."""
        self._pump(lambda: self._idle is not None)

    def advance(self, until: int) -> None:
        """Let time run to `until`, or to the instant at which the controller last exchanged a word with a node."""
        with self._noticing_the_end():
            self._grant(until)
            self._pump(lambda: self._idle is not None)

    def call(self, msg_type: int, body: bytes, user: int = 0) -> IncomingMessage:
        """A request's answer; time moves only as far as the controller's own short naps while it answers."""
        with self._noticing_the_end():
            call = self.send(msg_type, body, user)
            while call.answer is None:
                self._pump(lambda: self._idle is not None or call.answer is not None)
                self._pump_once(0)
                if call.answer is None and self._idle is not None:
                    self._grant(self._next())
            self._pump(lambda: self._idle is not None)
        return self.dialect.unpack(call.answer) if call.answer else IncomingMessage(0, b"", None, 0)

    def send(self, msg_type: int, body: bytes, user: int = 0) -> Call:
        """Begin a call; its answer comes while the link is pumped."""
        connection = socket.create_connection(("127.0.0.1", self.controller.port))
        self._idle = None
        connection.sendall(self.dialect.pack(msg_type, body, user))
        call = Call(connection)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._read_answer(call))
        return call

    def attend(self, *files: Any) -> None:
        """Stay at this instant and serve all that ask the controller, until one of the files is readable.

        Time moves only by the short naps that the controller takes while it answers.
        """
        ready: list[Any] = []
        for file in files:
            self._selector.register(file, selectors.EVENT_READ, functools.partial(ready.append, file))
        try:
            while not ready:
                self._pump_once(None)
                if self._idle is not None and self._idle[3] > 0:  # a caller waits while its handler naps
                    self._grant(self._next())
            self._pump(lambda: self._idle is not None)
        finally:
            for file in files:
                self._selector.unregister(file)

    # ---- inside

    @contextmanager
    def _noticing_the_end(self) -> Iterator[None]:
        """A connection that breaks means that the controller has ended."""
        try:
            yield
        except ConnectionError:
            raise self.controller.fail("the controller ended") from None

    def _next(self) -> int:
        assert self._idle is not None
        now, following = self._idle[0], self._idle[1]
        return following if following < NEVER else now

    def _grant(self, until: int) -> None:
        assert self._idle is not None
        assert self.controller.control is not None
        sequence, now = self._idle[2], self._idle[0]
        self._idle = None
        self.controller.control.send(_GRANT.pack(max(until, now), sequence))

    def _pump(self, done: Callable[[], bool]) -> None:
        silent_since, computed = None, 0.0
        while not done():
            if self._pump_once(0.1):
                silent_since = None
                continue
            self.tick()
            now, spent = time.monotonic(), self.controller.cpu_seconds()
            if silent_since is None:
                silent_since, computed, quiet_at, quiet = now, spent, now, spent
            elif spent - computed > ENDLESS:
                raise self.controller.fail(f"the controller computes without end ({spent - computed:.0f} s by now)")
            elif now - quiet_at > PATIENCE:
                if spent - quiet < 0.5:
                    raise self.controller.fail("the controller hangs: it neither computes nor answers")
                quiet_at, quiet = now, spent

    def _pump_once(self, timeout: float | None) -> bool:
        ready = self._selector.select(timeout)
        for key, _ in ready:
            key.data()
        return bool(ready)

    def _read_report(self) -> None:
        assert self.controller.control is not None
        data = self.controller.control.recv(_REPORT.size)
        if len(data) != _REPORT.size:
            raise self.controller.fail("the controller ended")
        self._idle = _REPORT.unpack(data)

    def _read_answer(self, call: Call) -> None:
        if call.read():
            self._selector.unregister(call.connection)
            call.connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.controller.nodes.accept()
            except BlockingIOError:
                return
            with connection:
                connection.setblocking(True)
                self._serve(connection)

    def _serve(self, connection: socket.socket) -> None:
        head = _receive(connection, 4)
        if head is None:
            return
        data = _receive(connection, int.from_bytes(head, "big"))
        if data is None:
            return
        connection.sendall(self.nodes.answer(self.dialect.unpack(data)))


def _receive(connection: socket.socket, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            return None
        data += piece
    return data
