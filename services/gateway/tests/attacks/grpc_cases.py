"""gRPC calls that are broken on purpose: their framing, their messages, their headers."""

from dataclasses import dataclass, field

from connection import Connection, block, data, headers, hello

SUBMIT = "/contact.v1.ContactService/Submit"
APPLY = "/careers.v1.CareersService/Apply"
SUBSCRIBE = "/newsletter.v1.NewsletterService/Subscribe"
CONFIRM = "/newsletter.v1.NewsletterService/Confirm"
UNSUBSCRIBE = "/newsletter.v1.NewsletterService/Unsubscribe"
# More than a server decodes at once.
LARGE = 5_000_000


@dataclass
class Call:
    """A call, which must be refused, and not as the server's fault."""

    name: str
    path: str
    chunks: list
    method: str = "POST"
    changed: dict = field(default_factory=dict)
    may_be_taken: bool = False

    section = "gRPC"
    gateway_only = False

    def run(self, server):
        """What is wrong with what came of it."""
        with Connection(server.address) as connection:
            opening = headers(1, block(*fields_of(self.path, self.method, self.changed)), not self.chunks)
            connection.send(hello(), opening, *frames_of(self.chunks))
            in_time = connection.settle([1])
            outcome = connection.outcome
        faults = list(outcome.faults())
        if not in_time:
            faults.append("it is not answered")
        elif outcome.is_taken(1) and not self.may_be_taken:
            faults.append(f"it was taken: {outcome.answers[1]}")
        return faults


def fields_of(path, method="POST", changed=None):
    """The header list of a call; a field that is changed to nothing is left out."""
    usual = {
        ":method": method,
        ":scheme": "http",
        ":path": path,
        ":authority": "service",
        "content-type": "application/grpc",
        "te": "trailers",
    }
    return [(name, value) for name, value in (usual | (changed or {})).items() if value is not None]


def frames_of(chunks):
    """DATA frames, none of them larger than a server must take (RFC 9113, 4.2)."""
    body = b"".join(chunks)
    pieces = [body[start : start + 16_000] for start in range(0, len(body), 16_000)] or [b""] * bool(chunks)
    return [data(1, piece, index == len(pieces) - 1) for index, piece in enumerate(pieces)]


def message(content, flag=0, length=None):
    """A message as gRPC frames it."""
    return bytes([flag]) + (len(content) if length is None else length).to_bytes(4, "big") + content


def entry(number, value):
    """A field of a message that holds text, bytes or a message."""
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value):
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(high) if high else bytes([low])


CONTACT = entry(1, "Ada Lovelace") + entry(2, "ada@example.org") + entry(3, "How many cameras?")
SUBSCRIBER = entry(1, "ada@example.org")
TEXT_FIELD = entry(1, varint(1 << 3) + varint(1) + entry(2, "Ada Lovelace"))
RESUME = entry(2, entry(1, "cv.pdf"))
CHUNK = entry(3, b"%PDF-1.4")
COMMIT = entry(4, entry(1, "5a0ce3a4-6d0c-4bb3-9d28-6c1f2a1f1c11"))

CALLS = [
    Call("a message that is cut off", SUBMIT, [message(CONTACT[:-3])]),
    Call("a message of garbage", SUBMIT, [message(b"\xff" * 100)]),
    Call("an empty message", SUBMIT, [message(b"")]),
    Call("text that is no UTF-8", SUBMIT, [message(entry(1, b"\xff\xfe") + CONTACT)]),
    Call("a field that is longer than its message", SUBMIT, [message(b"\x0a\xff\xff\xff\xff\x0f")]),
    Call("a number that does not end", SUBMIT, [message(b"\x08" + b"\xff" * 20)]),
    Call("groups in groups", SUBMIT, [message(b"\x0b" * 5000)]),
    Call("a length that is too large", SUBMIT, [message(CONTACT, length=len(CONTACT) + 9)]),
    Call("a length that is too small", SUBMIT, [message(CONTACT, length=len(CONTACT) - 9)]),
    Call("a length of 4 GB", SUBMIT, [message(b"", length=0xFFFFFFFF)]),
    Call("half a prefix", SUBMIT, [b"\0\0"]),
    Call("no message", SUBMIT, []),
    Call("nothing but the end", SUBMIT, [b""]),
    Call("two messages", SUBMIT, [message(CONTACT), message(CONTACT)], may_be_taken=True),
    Call("a message and half another", SUBMIT, [message(CONTACT), b"\0\0\0"], may_be_taken=True),
    Call("a message that is too large", SUBMIT, [message(entry(3, "x" * LARGE))]),
    Call("a compressed message without an encoding", SUBMIT, [message(CONTACT, flag=1)]),
    Call("a flag that is none", SUBMIT, [message(CONTACT, flag=7)]),
    Call("a compressed message", SUBMIT, [message(CONTACT, flag=1)], changed={"grpc-encoding": "gzip"}),
    Call("an unknown encoding", SUBMIT, [message(CONTACT, flag=1)], changed={"grpc-encoding": "x"}),
    Call("an unknown method", "/contact.v1.ContactService/Nothing", [message(CONTACT)]),
    Call("an unknown service", "/nothing.v1.Nothing/Nothing", [message(CONTACT)]),
    Call("a path without a method", "/", [message(CONTACT)]),
    Call("another method of HTTP", SUBMIT, [], method="GET"),
    Call("another content type", SUBMIT, [message(CONTACT)], changed={"content-type": "text/plain"}, may_be_taken=True),
    Call("no content type", SUBMIT, [message(CONTACT)], changed={"content-type": None}, may_be_taken=True),
    Call("no te", SUBMIT, [message(CONTACT)], changed={"te": None}, may_be_taken=True),
    Call("a timeout that is none", SUBMIT, [message(CONTACT)], changed={"grpc-timeout": "soon"}, may_be_taken=True),
    Call("metadata that is no base64", SUBMIT, [message(CONTACT)], changed={"x-request-bin": "%%"}, may_be_taken=True),
    Call("a trace that is none", SUBMIT, [message(CONTACT)], changed={"traceparent": "00-zz"}, may_be_taken=True),
    Call("an application without a part", APPLY, [message(b"")]),
    Call("an application that is cut off", APPLY, [message(TEXT_FIELD), message(RESUME)[:-2]]),
    Call("an application of garbage", APPLY, [message(TEXT_FIELD), message(b"\xff" * 100)]),
    Call("a field of no name", APPLY, [message(entry(1, varint(1 << 3) + varint(99) + entry(2, "x"))), message(COMMIT)]),
    Call("bytes of no résumé", APPLY, [message(CHUNK), message(COMMIT)]),
    Call("two résumés", APPLY, [message(RESUME), message(CHUNK), message(RESUME), message(COMMIT)]),
    Call("an application that is not committed", APPLY, [message(TEXT_FIELD), message(RESUME), message(CHUNK)]),
    Call("an application after its commit", APPLY, [message(COMMIT), message(TEXT_FIELD), message(COMMIT)]),
    Call("ten thousand fields", APPLY, [message(TEXT_FIELD)] * 10_000),
    Call("a part that is too large", APPLY, [message(RESUME), message(entry(3, "x" * LARGE))]),
    Call("a compressed part", APPLY, [message(TEXT_FIELD), message(RESUME, flag=1)]),
    Call("a sign-up without an address", SUBSCRIBE, [message(b"")]),
    Call("a sign-up of garbage", SUBSCRIBE, [message(b"\xff" * 100)]),
    Call("a sign-up that is cut off", SUBSCRIBE, [message(SUBSCRIBER[:-3])]),
    Call("an address that is no UTF-8", SUBSCRIBE, [message(entry(1, b"ada\xff@example.org"))]),
    Call("an address in two lines", SUBSCRIBE, [message(entry(1, "ada@example.org\r\nBcc: eve@example.org"))]),
    Call("an address that is too large", SUBSCRIBE, [message(entry(1, "x" * LARGE))]),
    Call("a key that is none", SUBSCRIBE, [message(SUBSCRIBER + entry(2, "x" * 100))]),
    Call("an attribution of garbage", SUBSCRIBE, [message(SUBSCRIBER + entry(3, b"\xff" * 100))]),
    Call("an address twice", SUBSCRIBE, [message(SUBSCRIBER + SUBSCRIBER)], may_be_taken=True),
    Call("a compressed sign-up", SUBSCRIBE, [message(SUBSCRIBER, flag=1)], changed={"grpc-encoding": "gzip"}),
    Call("two sign-ups", SUBSCRIBE, [message(SUBSCRIBER), message(SUBSCRIBER)], may_be_taken=True),
    Call("no token to confirm", CONFIRM, [message(b"")]),
    Call("a token that is none", CONFIRM, [message(entry(1, "a.b.c"))]),
    Call("a token that is no UTF-8", CONFIRM, [message(entry(1, b"\xff" * 40))]),
    Call("a token that is too large", CONFIRM, [message(entry(1, "x" * LARGE))]),
    Call("no token to unsubscribe", UNSUBSCRIBE, [message(b"")]),
    Call("a token of dots", UNSUBSCRIBE, [message(entry(1, "." * 10_000))]),
    Call("half a token's prefix", UNSUBSCRIBE, [b"\0\0\0"]),
]
