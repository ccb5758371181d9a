//! What other programs read about our events, made from the types themselves: a JSON Schema for each type, an AsyncAPI
//! document of where they are found, and the channels in the files of the cluster.
//!
//! `RENEW=1 cargo test -p site-events documents` writes them. They are made by tests alone, so that no service carries what makes them.

mod asyncapi;
mod cluster;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use self::cluster::CLUSTER_FILES;
use crate::{
    Channel, Event, EventData, EventType,
    event::{
        CareersApplied, ContactReceived, NewsletterBounced, NewsletterConfirmed, NewsletterRequested,
        NewsletterUnsubscribed,
    },
};

/// Every document of `docs/events`, by the name of its file.
fn all() -> Vec<(String, Value)> {
    let schemas = EventType::ALL.map(|event_type| (schema_file(event_type), schema(event_type)));
    let asyncapi = ("asyncapi.json".to_owned(), asyncapi::document());
    schemas.into_iter().chain([asyncapi]).collect()
}

/// The JSON Schema (2020-12) of an event of this type, envelope and all. What it does not
/// name is allowed: types are added to, and readers of today shall take events of tomorrow.
fn schema(event_type: EventType) -> Value {
    match event_type {
        EventType::ContactReceived => schema_of::<ContactReceived>(),
        EventType::NewsletterRequested => schema_of::<NewsletterRequested>(),
        EventType::NewsletterConfirmed => schema_of::<NewsletterConfirmed>(),
        EventType::NewsletterUnsubscribed => schema_of::<NewsletterUnsubscribed>(),
        EventType::NewsletterBounced => schema_of::<NewsletterBounced>(),
        EventType::CareersApplied => schema_of::<CareersApplied>(),
    }
}

fn schema_file(event_type: EventType) -> String {
    format!("{}.schema.json", event_type.name())
}

fn schema_of<D: EventData + JsonSchema>() -> Value {
    let mut schema = generated::<Event<D>>();
    let always = [
        ("specversion", "1.0"),
        ("source", D::TYPE.source()),
        ("type", &D::TYPE.name()),
        ("datacontenttype", "application/json"),
    ];
    for (property, value) in always {
        schema["properties"][property]["const"] = value.into();
    }
    schema["title"] = D::TYPE.name().into();
    schema["description"] = generated::<D>()["description"].take();
    schema
}

fn generated<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    leave_out_null(&mut schema);
    schema
}

/// An optional value that is not there is left out, never sent as null.
fn leave_out_null(schema: &mut Value) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(leave_out_null);
    }
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            schema["type"] = only.clone();
        }
    }
}

/// Holds a committed file against what is made, or writes it where the variable `RENEW` is set.
fn hold(file: &Path, made: &str) {
    if env::var_os("RENEW").is_some() {
        fs::write(file, made).expect("the checkout can be written to");
    }
    let committed = fs::read_to_string(file).unwrap_or_default();
    assert_eq!(
        committed,
        made,
        "{} is stale; run: RENEW=1 cargo test -p site-events documents",
        file.display()
    );
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn what_is_published_is_what_the_types_make() {
    let folder = root().join("docs/events");
    for (name, document) in all() {
        hold(&folder.join(name), &format!("{document:#}\n"));
    }
    let found = fs::read_dir(&folder).map_or(0, Iterator::count);
    assert_eq!(
        found,
        all().len(),
        "{} holds what no type makes",
        folder.display()
    );
}

#[test]
fn the_cluster_knows_every_channel() {
    for (file, renewed) in CLUSTER_FILES {
        let path = root().join(file);
        let committed = fs::read_to_string(&path).expect("the file is there");
        hold(&path, &renewed(&committed));
        for channel in Channel::ALL {
            assert!(committed.contains(channel.name()), "{file}: {}", channel.name());
        }
    }
}

#[test]
fn readers_of_today_take_events_of_tomorrow() {
    for (name, document) in all() {
        let text = document.to_string();
        assert!(!text.contains("dditionalProperties"), "{name}");
        assert!(!text.contains("\"null\""), "{name}");
    }
}
