"""Conversations that a server takes, changed at random: bytes, lengths, whole frames."""

from connection import Connection, block, data, headers, hello

DEADLINE = 20.0


class Mutation:
    """One changed conversation, by its number: the same seed makes the same one."""

    section = "mutation"
    gateway_only = False

    def __init__(self, random, number):
        self.random = random
        self.name = f"number {number}"

    def run(self, server):
        """What is wrong with what came of it."""
        conversation = self.mutate(frames_of(server))
        with Connection(server.address) as connection:
            connection.send(conversation)
            connection.end_sending()
            in_time = connection.wait(lambda _: False, DEADLINE)
            outcome = connection.outcome
        faults = list(outcome.faults())
        if not in_time:
            faults.append(f"the connection does not end: {conversation[:400].hex()}")
        return faults

    def mutate(self, frames):
        for _ in range(self.random.randint(1, 3)):
            frames = self.random.choice(CHANGES_OF_FRAMES)(self.random, frames)
        conversation = bytearray(b"".join(frames))
        for _ in range(self.random.choice([0, 0, 1, 1, 4, 20])):
            self.random.choice(CHANGES_OF_BYTES)(self.random, conversation)
        return bytes(conversation)


def frames_of(server):
    calls = (
        [
            headers(stream, block(*server.fields_of_body), False).serialize(),
            data(stream, server.long_body).serialize(),
        ]
        for stream in (1, 3)
    )
    return [hello(), *[frame for call in calls for frame in call]]


def swap(random, frames):
    left, right = random.randrange(len(frames)), random.randrange(len(frames))
    frames[left], frames[right] = frames[right], frames[left]
    return frames


def repeat(random, frames):
    frame = random.choice(frames)
    return [*frames, *[frame] * random.randint(1, 5)]


def leave_out(random, frames):
    # The preface stays most of the time: without it nothing else is read.
    dropped = random.randrange(1, len(frames)) if len(frames) > 1 else 0
    return frames[:dropped] + frames[dropped + 1 :] or [hello()]


def change_head(random, frames):
    index = random.randrange(len(frames))
    frame = bytearray(frames[index])
    start = 24 if frame.startswith(b"PRI") and len(frame) > 24 else 0
    if len(frame) > start + 9:
        frame[start + random.randrange(9)] = random.randrange(256)
    frames[index] = bytes(frame)
    return frames


def stay(_, frames):
    return frames


def flip(random, conversation):
    if conversation:
        conversation[random.randrange(len(conversation))] ^= 1 << random.randrange(8)


def cut(random, conversation):
    del conversation[random.randrange(len(conversation) + 1) :]


def insert(random, conversation):
    position = random.randrange(len(conversation) + 1)
    conversation[position:position] = random.randbytes(random.randint(1, 40))


def remove(random, conversation):
    position = random.randrange(len(conversation) + 1)
    del conversation[position : position + random.randint(1, 10)]


CHANGES_OF_FRAMES = [swap, repeat, leave_out, change_head, stay]
CHANGES_OF_BYTES = [flip, flip, flip, cut, insert, remove]
