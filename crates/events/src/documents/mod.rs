//! What other programs read about our events, made from the types themselves: a JSON Schema for each type, an AsyncAPI
//! document of where they are found, and the channels in the files of the cluster.

mod asyncapi;
mod cluster;

pub use cluster::CLUSTER_FILES;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::{
    Event, EventData, EventType,
    event::{
        CareersApplied, ContactReceived, NewsletterBounced, NewsletterConfirmed, NewsletterRequested,
        NewsletterUnsubscribed,
    },
};

/// Every document of `docs/events`, by the name of its file.
pub fn all() -> Vec<(String, Value)> {
    let schemas = EventType::ALL.map(|event_type| (schema_file(event_type), schema(event_type)));
    let asyncapi = ("asyncapi.json".to_owned(), asyncapi::document());
    schemas.into_iter().chain([asyncapi]).collect()
}

/// The JSON Schema (2020-12) of an event of this type, envelope and all. What it does not
/// name is allowed: types are added to, and readers of today shall take events of tomorrow.
pub fn schema(event_type: EventType) -> Value {
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

fn schema_of<D: EventData>() -> Value {
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

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::Channel;

    #[test]
    fn the_committed_documents_are_the_ones_the_types_make() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events");
        let renew = "run: cargo run -p site-events --example documents";
        for (name, made) in all() {
            let text = fs::read_to_string(folder.join(&name)).unwrap_or_default();
            let committed: Value = serde_json::from_str(&text).unwrap_or_default();
            assert_eq!(committed, made, "{name} is stale; {renew}");
        }
        let known = all().len();
        let found = fs::read_dir(&folder).map_or(0, Iterator::count);
        assert_eq!(found, known, "{} holds what no type makes", folder.display());
    }

    #[test]
    fn the_cluster_knows_every_channel() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (file, renewed) in CLUSTER_FILES {
            let committed = fs::read_to_string(root.join(file)).unwrap_or_default();
            assert_eq!(
                committed,
                renewed(&committed),
                "{file} is stale; run: cargo run -p site-events --example documents"
            );
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
}
