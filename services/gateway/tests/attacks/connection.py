"""A bare HTTP/2 connection: sends whatever bytes it is given, and tells what the server made of them."""

import select
import socket
import time
from dataclasses import dataclass, field

from hpack import Decoder
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD_BYTES = 9
OUR_PING = b"answered"
# Longer than an answer takes on a busy machine.
SOON = 15.0


@dataclass
class Outcome:
    """What came back."""

    ended: bool = False
    pong: bool = False
    error: int | None = None
    resets: dict = field(default_factory=dict)
    answers: dict = field(default_factory=dict)
    finished: set = field(default_factory=set)
    first_bytes: bytes = b""

    def is_done(self, stream):
        return stream in self.finished or stream in self.resets

    def is_taken(self, stream):
        """Whether a request was answered as an honest one is."""
        answer = self.answers.get(stream, {})
        return answer.get(":status") == "200" and answer.get("grpc-status", "0") == "0" and stream not in self.resets

    def faults(self):
        """What no input may cause: an answer that says that the fault is the server's."""
        for stream, headers in self.answers.items():
            if headers.get(":status", "").startswith("5"):
                yield f"stream {stream} was answered {headers[':status']}"
            # UNKNOWN and INTERNAL.
            if headers.get("grpc-status") in ("2", "13"):
                yield f"stream {stream}: grpc-status {headers['grpc-status']}, {headers.get('grpc-message')}"
        if self.first_bytes.startswith(b"HTTP/1.1 5"):
            yield self.first_bytes[:40].decode(errors="replace")


class Connection:
    """A connection to a server at `(host, port)`."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, timeout=SOON)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.outcome = Outcome()
        self._decoder = Decoder()
        self._received = bytearray()
        self._block = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *parts):
        """Sends frames and bytes, and reads meanwhile what comes. A server may end the connection before all is sent."""
        left = memoryview(b"".join(part if isinstance(part, bytes) else part.serialize() for part in parts))
        deadline = time.monotonic() + SOON
        while left and not self.outcome.ended and time.monotonic() < deadline:
            readable, writable, _ = select.select([self.socket], [self.socket], [], 1)
            if readable:
                self._read()
            if writable and not self.outcome.ended:
                try:
                    left = left[self.socket.send(left) :]
                except OSError:
                    self.outcome.ended = True

    def end_sending(self):
        """Half-closes it."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.outcome.ended = True

    def wait(self, is_done, seconds=SOON):
        """Reads until this holds of the outcome, or the connection ends; whether one of them came in time."""
        deadline = time.monotonic() + seconds
        while not self.outcome.ended and not is_done(self.outcome):
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if select.select([self.socket], [], [], left)[0]:
                self._read()
        return True

    def settle(self, streams=(), seconds=SOON):
        """Whether the server ends the connection, or answers a ping and these streams."""
        ping = PingFrame(0)
        ping.opaque_data = OUR_PING
        self.send(ping)
        return self.wait(lambda outcome: outcome.pong and all(map(outcome.is_done, streams)), seconds)

    def _read(self):
        try:
            received = self.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            self.outcome.ended = True
        if len(self.outcome.first_bytes) < 64:
            self.outcome.first_bytes += received[:64]
        self._received += received
        self._take_frames()

    def _take_frames(self):
        while len(self._received) >= HEAD_BYTES and not self.outcome.first_bytes.startswith(b"HTTP/1.1"):
            frame, length = Frame.parse_frame_header(memoryview(self._received)[:HEAD_BYTES])
            end = HEAD_BYTES + length
            if len(self._received) < end:
                return
            frame.parse_body(memoryview(bytes(self._received[HEAD_BYTES:end])))
            del self._received[:end]
            self._note(frame)

    def _note(self, frame):
        outcome = self.outcome
        if isinstance(frame, (HeadersFrame, ContinuationFrame)):
            self._block += frame.data
            if "END_HEADERS" in frame.flags:
                headers = self._decoder.decode(self._block)
                self._block = b""
                outcome.answers.setdefault(frame.stream_id, {}).update(headers)
        elif isinstance(frame, RstStreamFrame):
            outcome.resets[frame.stream_id] = frame.error_code
        elif isinstance(frame, GoAwayFrame):
            outcome.error = frame.error_code
        elif isinstance(frame, PingFrame) and "ACK" in frame.flags:
            outcome.pong |= frame.opaque_data == OUR_PING
        if isinstance(frame, (HeadersFrame, DataFrame)) and "END_STREAM" in frame.flags:
            outcome.finished.add(frame.stream_id)


def block(*fields):
    """A header list as an HPACK block that changes no table, so that it may be sent in any order."""
    return b"".join(literal(name, value) for name, value in fields)


def literal(name, value):
    """A field of a header list as a literal that is not indexed (RFC 7541, 6.2.2)."""
    return b"\0" + _string(name) + _string(value)


def _string(text):
    data = text if isinstance(text, bytes) else text.encode()
    length = len(data)
    if length < 127:
        return bytes([length]) + data
    prefix, length = b"\x7f", length - 127
    while length >= 128:
        prefix, length = prefix + bytes([length % 128 + 128]), length // 128
    return prefix + bytes([length]) + data


def hello(settings=None):
    """How a client begins (RFC 9113, 3.4)."""
    return PREFACE + SettingsFrame(0, settings=settings or {}).serialize()


def headers(stream, block, end_stream=True, end_headers=True):
    """A HEADERS frame."""
    return HeadersFrame(stream, block, flags=["END_STREAM"] * end_stream + ["END_HEADERS"] * end_headers)


def data(stream, payload, end_stream=True):
    """A DATA frame."""
    return DataFrame(stream, payload, flags=["END_STREAM"] * end_stream)


def raw(kind, flags, stream, payload):
    """A frame of any type, which need not be valid."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
