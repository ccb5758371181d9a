"""HTTP/2 frames that are broken on purpose, by the sections of RFC 9113 that forbid them."""

from dataclasses import dataclass
from typing import Callable

from connection import PREFACE, Connection, block, data, headers, hello, raw

# Types of frames, and flags (RFC 9113, 6).
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED = 0x1, 0x1, 0x4, 0x8

ENDS = "the connection ends"
STREAM_FAILS = "the stream is reset or refused, or the connection ends"
ANY = "the connection ends, or goes on"
# Longer than a server waits for headers that do not end, a ping that is not answered included.
MOST = 45.0


@dataclass
class Case:
    """What is sent once the connection has begun, and what must come of it."""

    section: str
    name: str
    frames: Callable[["Server"], list]
    outcome: str
    begins: bytes = hello()
    seconds: float = 15.0
    # Behind the gateway a server has no deadline for those who begin and say nothing more: nobody else reaches it.
    gateway_only: bool = False

    def run(self, server):
        """What is wrong with what came of it."""
        with Connection(server.address) as connection:
            connection.send(self.begins, *self.frames(server))
            if self.outcome == ENDS:
                in_time = connection.wait(lambda _: False, self.seconds)
            else:
                in_time = connection.settle([1] if self.outcome == STREAM_FAILS else [], self.seconds)
            outcome = connection.outcome
        faults = list(outcome.faults())
        if not in_time:
            faults.append(f"not within {self.seconds:.0f} s: {self.outcome}")
        elif self.outcome == STREAM_FAILS and outcome.is_taken(1):
            faults.append(f"it was taken: {outcome.answers[1]}")
        return faults


@dataclass
class Server:
    """Whom the frames are for, and requests that it takes: one that may have no body, and one that has."""

    name: str
    address: tuple
    fields: list
    body: bytes
    fields_of_body: list
    long_body: bytes


def number(value):
    return value.to_bytes(4, "big")


def setting(name, value):
    return raw(SETTINGS, 0, 0, name.to_bytes(2, "big") + number(value))


def request(server, *more, without=(), before=(), stream=1):
    """The request that the server takes, with more fields, or without some."""
    fields = [*before, *[field for field in server.fields if field[0] not in without], *more]
    opening = headers(stream, block(*fields), not server.body)
    return [opening, data(stream, server.body)] if server.body else [opening]


def opened(server, stream=1):
    """A request whose body is to come."""
    return headers(stream, block(*server.fields_of_body), False)


def unfinished(server):
    """Headers whose continuation is to come."""
    return headers(1, block(*server.fields), True, False)


def late_pseudo_headers(server):
    pseudo = [field for field in server.fields if field[0].startswith(":")]
    return request(server, *pseudo, before=[("x-first", "1")], without=[name for name, _ in pseudo])


def of_length(length):
    def frames(server):
        fields = [*server.fields_of_body, ("content-length", str(length))]
        return [headers(1, block(*fields), False), data(1, server.long_body)]

    return frames


def bomb(server):
    # A field of 3 kB goes into the table once and is then referred to by a byte each (RFC 7541, 6.1 and 6.2.1).
    entry = b"\x40" + block(("x-bomb", "x" * 3000))[1:]
    return [headers(1, block(*server.fields) + entry + b"\xbe" * 16_000)]


def resets(server):
    pairs = ([opened(server, stream), raw(RST_STREAM, 0, stream, number(8))] for stream in range(1, 20_001, 2))
    return [frame for pair in pairs for frame in pair]


CASES = [
    Case("3.4", "a preface that goes wrong at its end", lambda _: [b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"], ENDS, b""),
    # `h2` takes it, which harms nobody: the settings that it goes by are the usual ones.
    Case("3.4", "a preface without settings", request, ANY, PREFACE),
    Case("3.4", "a preface that stops half-way", lambda _: [], ENDS, PREFACE[:20], MOST, gateway_only=True),
    Case("3.4", "garbage", lambda _: [b"\xff" * 200], ENDS, b""),
    Case("4.1", "a frame of an unknown type", lambda _: [raw(0x42, 0xFF, 0, b"x" * 100)], ANY),
    Case("4.2", "a frame that is too large", lambda _: [raw(DATA, 0, 1, b"x" * 20_000)], ENDS),
    Case("4.2", "a frame that announces 16 MB", lambda _: [b"\xff\xff\xff\x00\x00\x00\x00\x00\x01"], ENDS),
    Case("4.3", "headers that are no HPACK", lambda _: [headers(1, b"\xff" * 100)], ENDS),
    Case("4.3", "an index that no table has", lambda _: [headers(1, b"\xfe")], ENDS),
    Case("4.3", "a table that is larger than allowed", lambda s: [headers(1, b"\x3f\xff\xff\xff\x07" + block(*s.fields))], ENDS),
    Case("4.3", "one field a million times over", bomb, STREAM_FAILS),
    Case("4.3", "a frame between headers and their continuation", lambda s: [unfinished(s), raw(PING, 0, 0, b"x" * 8)], ENDS),
    Case("5.1", "data on an idle stream", lambda _: [data(1, b"x")], ENDS),
    Case("5.1", "a reset of an idle stream", lambda _: [raw(RST_STREAM, 0, 1, number(8))], ENDS),
    Case("5.1", "a window of an idle stream", lambda _: [raw(WINDOW_UPDATE, 0, 1, number(1))], ENDS),
    Case("5.1", "data after the end of a request", lambda s: [*request(s), data(1, b"x")], ANY),
    Case("5.1", "headers after the end of a request", lambda s: [*request(s), *request(s)], ANY),
    Case("5.1.1", "a stream with an even number", lambda s: request(s, stream=2), ENDS),
    Case("5.1.1", "a stream with a lower number than the last", lambda s: [*request(s, stream=5), *request(s, stream=3)], ENDS),
    Case("5.1.2", "more streams than allowed", lambda s: [opened(s, n) for n in range(1, 801, 2)], ANY),
    Case("5.3.1", "a stream that depends on itself", lambda _: [raw(PRIORITY, 0, 1, number(1) + b"\x10")], ANY),
    Case("6.1", "data on stream 0", lambda _: [raw(DATA, 0, 0, b"x")], ENDS),
    Case("6.1", "more padding than payload", lambda s: [opened(s), raw(DATA, PADDED, 1, b"\xffxx")], ENDS),
    Case("6.2", "headers on stream 0", lambda s: [raw(HEADERS, END_STREAM | END_HEADERS, 0, block(*s.fields))], ENDS),
    Case("6.2", "headers with more padding than payload", lambda _: [raw(HEADERS, PADDED | END_HEADERS, 1, b"\xff\x82")], ENDS),
    Case("6.3", "a priority of stream 0", lambda _: [raw(PRIORITY, 0, 0, number(1) + b"\x10")], ENDS),
    Case("6.3", "a priority that is too short", lambda _: [raw(PRIORITY, 0, 1, b"\0\0")], ANY),
    Case("6.4", "a reset of stream 0", lambda _: [raw(RST_STREAM, 0, 0, number(8))], ENDS),
    Case("6.4", "a reset that is too short", lambda s: [opened(s), raw(RST_STREAM, 0, 1, b"\0")], ENDS),
    Case("6.4", "thousands of streams, each reset at once", resets, ENDS, gateway_only=True),
    # All visitors of a gateway share its connection, and may leave at once: there it goes on, after thousands of calls of a debug build.
    Case("6.4", "thousands of streams, each reset at once, of a gateway's", resets, ANY, seconds=MOST),
    Case("6.5", "settings on a stream", lambda _: [raw(SETTINGS, 0, 1, b"")], ENDS),
    Case("6.5", "settings of half an entry", lambda _: [raw(SETTINGS, 0, 0, b"\0\0\0")], ENDS),
    Case("6.5", "an acknowledgement with a payload", lambda _: [raw(SETTINGS, ACK, 0, b"\0\x03" + number(1))], ENDS),
    Case("6.5.2", "ENABLE_PUSH of 2", lambda _: [setting(2, 2)], ENDS),
    Case("6.5.2", "a window of more than 2^31 - 1", lambda _: [setting(4, 1 << 31)], ENDS),
    Case("6.5.2", "frames of 1 byte", lambda _: [setting(5, 1)], ENDS),
    Case("6.5.2", "frames of more than 2^24 - 1", lambda _: [setting(5, 1 << 24)], ENDS),
    Case("6.5.3", "thousands of settings", lambda _: [raw(SETTINGS, 0, 0, b"")] * 10_000, ANY),
    Case("6.6", "a promise of a push", lambda s: [raw(PUSH_PROMISE, END_HEADERS, 1, number(2) + block(*s.fields))], ENDS),
    Case("6.7", "a ping on a stream", lambda _: [raw(PING, 0, 1, b"x" * 8)], ENDS),
    Case("6.7", "a ping that is too short", lambda _: [raw(PING, 0, 0, b"x" * 7)], ENDS),
    Case("6.7", "thousands of pings", lambda _: [raw(PING, 0, 0, b"x" * 8)] * 10_000, ANY),
    Case("6.8", "a farewell on a stream", lambda _: [raw(GOAWAY, 0, 1, number(0) * 2)], ENDS),
    Case("6.9", "a window that grows by nothing", lambda _: [raw(WINDOW_UPDATE, 0, 0, number(0))], ENDS),
    Case("6.9", "a stream's window that grows by nothing", lambda s: [opened(s), raw(WINDOW_UPDATE, 0, 1, number(0))], STREAM_FAILS),
    Case("6.9", "a window that is too short", lambda _: [raw(WINDOW_UPDATE, 0, 0, b"\0\0\0")], ENDS),
    Case("6.9.1", "a window beyond 2^31 - 1", lambda _: [raw(WINDOW_UPDATE, 0, 0, number((1 << 31) - 1))] * 2, ENDS),
    Case("6.9.1", "more data than the window", lambda s: [opened(s), *[data(1, b"x" * 16_000, False)] * 1500], ANY),
    Case("6.10", "a continuation of nothing", lambda s: [raw(CONTINUATION, END_HEADERS, 1, block(*s.fields))], ENDS),
    Case("6.10", "a continuation on stream 0", lambda s: [unfinished(s), raw(CONTINUATION, 0, 0, b"")], ENDS),
    Case("6.10", "continuations without end", lambda s: [unfinished(s)] + [raw(CONTINUATION, 0, 1, block(("x-fill", "x" * 4000)) * 4)] * 300, ENDS),
    Case("6.10", "headers whose continuation does not come", lambda s: [unfinished(s)], ENDS, seconds=MOST, gateway_only=True),
    Case("8.1", "empty data without end", lambda s: [opened(s), *[data(1, b"", False)] * 10_000], ANY),
    Case("8.1", "trailers that do not end the stream", lambda s: [opened(s), headers(1, block(("x-late", "1")), False)], STREAM_FAILS),
    # `h2` drops it, and nobody here reads trailers.
    Case("8.1", "trailers with a pseudo-header", lambda s: [opened(s), data(1, s.long_body, False), headers(1, block((":status", "200")))], ANY),
    Case("8.1.1", "a body that is longer than it says", of_length(1), STREAM_FAILS),
    Case("8.1.1", "a body that is shorter than it says", of_length(100_000), STREAM_FAILS),
    Case("8.1.1", "a length that is no number", of_length("many"), STREAM_FAILS),
    Case("8.2.1", "a name in capitals", lambda s: request(s, ("X-Capital", "1")), STREAM_FAILS),
    Case("8.2.1", "a name with a space", lambda s: request(s, ("x y", "1")), STREAM_FAILS),
    Case("8.2.1", "a value with a line break", lambda s: request(s, ("x-break", "a\r\nx-smuggled: 1")), STREAM_FAILS),
    Case("8.2.1", "an empty name", lambda s: request(s, ("", "1")), STREAM_FAILS),
    Case("8.2.2", "connection: close", lambda s: request(s, ("connection", "close")), STREAM_FAILS),
    Case("8.2.2", "transfer-encoding: chunked", lambda s: request(s, ("transfer-encoding", "chunked")), STREAM_FAILS),
    Case("8.2.2", "te: gzip", lambda s: request(s, ("te", "gzip"), without=("te",)), STREAM_FAILS),
    Case("8.3", "an unknown pseudo-header", lambda s: request(s, before=[(":unknown", "1")]), STREAM_FAILS),
    Case("8.3", "a pseudo-header of answers", lambda s: request(s, before=[(":status", "200")]), STREAM_FAILS),
    Case("8.3", "a pseudo-header after a field", late_pseudo_headers, STREAM_FAILS),
    Case("8.3.1", "no method", lambda s: request(s, without=(":method",)), STREAM_FAILS),
    Case("8.3.1", "no scheme", lambda s: request(s, without=(":scheme",)), STREAM_FAILS),
    Case("8.3.1", "no path", lambda s: request(s, without=(":path",)), STREAM_FAILS),
    Case("8.3.1", "an empty path", lambda s: request(s, without=(":path",), before=[(":path", "")]), STREAM_FAILS),
    Case("8.3.1", "two methods", lambda s: request(s, before=[(":method", "GET")]), STREAM_FAILS),
    Case("8.3.1", "two paths", lambda s: request(s, before=[(":path", "/")]), STREAM_FAILS),
    Case("8.5", "a tunnel", lambda _: [headers(1, block((":method", "CONNECT"), (":authority", "example.org:25")), False)], STREAM_FAILS),
]
