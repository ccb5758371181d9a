//! AsyncAPI 3.0 document of streams, subjects and headers.

use serde_json::{Map, Value, json};

use super::schema::schema_file;
use crate::{
    Channel, DEAD_LETTERS_STREAM, EventType, SITE_STREAM,
    event::CONTENT_TYPE,
    headers::{DEAD_LETTER_ATTEMPTS, DEAD_LETTER_ERROR, DEAD_LETTER_TIME},
};

const ABOUT: &str = "Events of the site, in CloudEvents 1.0 envelopes (structured JSON) on two NATS \
    JetStream streams. An event type only gains fields; a breaking change gets a new event type. Delivery is \
    at least once: a repeated event has the same `id`.";

pub fn document() -> Value {
    json!({
        "asyncapi": "3.0.0",
        "id": "urn:site:events",
        "info": {
            "title": "Events of the site",
            "version": "1.0.0",
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0" },
        },
        "defaultContentType": CONTENT_TYPE,
        "servers": {
            "nats": {
                "host": "nats.example:4222",
                "protocol": "nats",
                "description": "The broker of your installation, at the address in the setting NATS_URL.",
                "security": [{ "$ref": "#/components/securitySchemes/reader" }],
            },
        },
        "channels": channels(),
        "operations": operations(),
        "components": {
            "messages": messages(),
            "parameters": {
                "person": {
                    "description": "The person that the event is about: a keyed hash of their e-mail address, \
                        32 hex digits. The same as the event's `subject`.",
                },
                "consumer": {
                    "description": "The durable consumer of the event: a mail channel, a consumer of the \
                        newsletter service, or `webhook-<name of the endpoint>`.",
                    "examples": Channel::ALL.map(Channel::name),
                },
            },
            "securitySchemes": {
                "reader": {
                    "type": "userPassword",
                    "description": "The user `reader`, who may read the stream SITE and nothing else. Dead letters \
                        are for the operator.",
                },
            },
        },
    })
}

fn channels() -> Map<String, Value> {
    let events = EventType::ALL.map(|event| {
        let channel = json!({
            "address": format!("{}.{{person}}", event.subject_prefix()),
            "title": event.short_name(),
            "messages": refer_to("#/components/messages", [event.name()]),
            "parameters": parameters(["person"]),
            "x-jetstream-stream": SITE_STREAM,
        });
        (event.short_name().to_owned(), channel)
    });
    let all = || refer_to("#/components/messages", EventType::ALL.map(EventType::name));
    let replays = json!({
        "address": "replay.{consumer}.{person}",
        "title": "replays",
        "description": "A dead letter that the operator sends to its consumer again, unchanged. Other \
            readers can ignore it: they got the event under its original subject.",
        "messages": all(),
        "parameters": parameters(["consumer", "person"]),
        "x-jetstream-stream": SITE_STREAM,
    });
    let dead = json!({
        "address": "dead.{consumer}.{person}",
        "title": "dead letters",
        "description": "An event that could not be delivered, unchanged, with the reason in the headers. Messages \
            that cannot be read as events also become dead letters.",
        "messages": refer_to("#/components/messages", EventType::ALL.map(dead_letter)),
        "parameters": parameters(["consumer", "person"]),
        "x-jetstream-stream": DEAD_LETTERS_STREAM,
    });
    let others = [("replays", replays), ("dead-letters", dead)];
    let others = others.map(|(name, channel)| (name.to_owned(), channel));
    events.into_iter().chain(others).collect()
}

/// Operations from the site's point of view. Receivers do the opposite.
fn operations() -> Map<String, Value> {
    let publish = |event: EventType| {
        let name = event.short_name();
        (
            format!("publish.{name}"),
            send(name, &format!("{} publishes this event.", event.source())),
        )
    };
    let others = [
        (
            "replay".to_owned(),
            send(
                "replays",
                "The operator's tool sends a dead letter to its consumer again.",
            ),
        ),
        (
            "give-up".to_owned(),
            send(
                "dead-letters",
                "The notifier or the newsletter service dead-letters an event.",
            ),
        ),
    ];
    EventType::ALL.map(publish).into_iter().chain(others).collect()
}

fn send(channel: &str, summary: &str) -> Value {
    json!({
        "action": "send",
        "channel": { "$ref": format!("#/channels/{channel}") },
        "summary": summary,
    })
}

fn messages() -> Map<String, Value> {
    let published = EventType::ALL.map(|event| (event.name().to_owned(), message(event, &headers())));
    let dead = EventType::ALL.map(|event| (dead_letter(event), message(event, &dead_headers())));
    published.into_iter().chain(dead).collect()
}

fn message(event: EventType, headers: &Value) -> Value {
    json!({
        "name": event.name(),
        "contentType": CONTENT_TYPE,
        "headers": headers,
        "payload": { "$ref": format!("./{}", schema_file(event)) },
    })
}

fn dead_letter(event: EventType) -> String {
    format!("dead.{}", event.name())
}

fn headers() -> Value {
    json!({
        "type": "object",
        "required": ["Content-Type", "Nats-Msg-Id"],
        "properties": {
            "Content-Type": { "const": CONTENT_TYPE },
            "Nats-Msg-Id": {
                "type": "string",
                "description": "The event's id, by which the broker stores a repeated submission once. A \
                    replay has an id of its own.",
            },
            "Nats-Expected-Stream": {
                "const": SITE_STREAM,
                "description": "Makes the broker reject the message if another stream would store it.",
            },
            "traceparent": {
                "type": "string",
                "description": "The event's `traceparent` (W3C Trace Context).",
                "pattern": "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$",
            },
        },
    })
}

fn dead_headers() -> Value {
    let mut headers = headers();
    headers["required"] = json!([
        "Nats-Msg-Id",
        DEAD_LETTER_ERROR,
        DEAD_LETTER_ATTEMPTS,
        DEAD_LETTER_TIME
    ]);
    let properties = &mut headers["properties"];
    properties["Nats-Msg-Id"]["description"] = "The event's id and the consumer.".into();
    properties["Nats-Expected-Stream"]["const"] = DEAD_LETTERS_STREAM.into();
    properties[DEAD_LETTER_ERROR] =
        json!({ "type": "string", "description": "Why the last attempt failed." });
    properties[DEAD_LETTER_ATTEMPTS] = json!({
        "type": "string",
        "pattern": "^[0-9]+$",
        "description": "Number of deliveries, deferrals included.",
    });
    properties[DEAD_LETTER_TIME] = json!({
        "type": "string",
        "format": "date-time",
        "description": "When the event was dead-lettered.",
    });
    headers
}

fn refer_to<const N: usize>(place: &str, names: [impl Into<String>; N]) -> Map<String, Value> {
    let refer = |name: String| {
        let reference = json!({ "$ref": format!("{place}/{name}") });
        (name, reference)
    };
    names.into_iter().map(Into::into).map(refer).collect()
}

fn parameters<const N: usize>(names: [&str; N]) -> Map<String, Value> {
    refer_to("#/components/parameters", names.map(str::to_owned))
}
