"""Prints the site's events as they happen, each once it is stored.

The broker remembers what was acknowledged: stopped and started again, this goes on where it ended. Its consumer is set
up once, by the operator: see docs/events.md.

    pip install nats-py cloudevents
    NATS_URL=nats://127.0.0.1:4222 NATS_PASSWORD=... python read_events.py
"""

import argparse
import asyncio
import json
import os

import nats
from cloudevents.core.formats.json import JSONFormat

# The user and its durable consumer have one name.
READER = os.environ.get("NATS_USER", "reader")


def show(event):
    data = json.dumps(event.get_data(), ensure_ascii=False, sort_keys=True)
    print(event.get_type(), event.get_id(), event.get_time().isoformat(), data, flush=True)


async def read(until_nothing_is_left):
    client = await nats.connect(
        os.environ.get("NATS_URL", "nats://127.0.0.1:4222"),
        user=READER,
        password=os.environ["NATS_PASSWORD"],
    )
    consumer = await client.jetstream().pull_subscribe_bind(READER, stream="SITE")
    while True:
        try:
            messages = await consumer.fetch(batch=10, timeout=5)
        # Nothing came. The client raises its own, which is one of these, or a bare one.
        except asyncio.TimeoutError:
            if until_nothing_is_left:
                break
            continue
        for message in messages:
            show(JSONFormat().read(None, message.data))
            # Only now: what fails before this line comes again. The event's id tells a repetition.
            await message.ack_sync()
    await client.close()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--once", action="store_true", help="end when nothing is left to read")
    asyncio.run(read(arguments.parse_args().once))
