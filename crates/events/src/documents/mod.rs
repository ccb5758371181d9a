//! Documents generated from the event types: JSON Schemas, an AsyncAPI document and KEDA's triggers.
//!
//! `cargo xtask generate` writes the documents. This module is test code, so services do not contain it.

mod asyncapi;
mod cluster;
mod schema;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use self::{
    cluster::{TRIGGERS_FILE, with_triggers},
    schema::{schema, schema_file},
};
use crate::EventType;

/// Documents in `docs/events`, by file name.
fn all() -> Vec<(String, Value)> {
    let schemas = EventType::ALL.map(|event_type| (schema_file(event_type), schema(event_type)));
    let asyncapi = ("asyncapi.json".to_owned(), asyncapi::document());
    schemas.into_iter().chain([asyncapi]).collect()
}

/// Fails if a committed file is stale. With the environment variable `GENERATE`, writes the file first.
fn assert_current(file: &Path, made: &str) {
    if env::var_os("GENERATE").is_some() {
        fs::write(file, made).expect("the checkout can be written to");
    }
    let committed = fs::read_to_string(file).unwrap_or_default();
    assert!(
        committed == made,
        "{} is stale; run: cargo xtask generate",
        file.display()
    );
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_generated_schemas_and_channels_are_current() {
    let folder = root().join("docs/events");
    for (name, document) in all() {
        assert_current(&folder.join(name), &format!("{document:#}\n"));
    }
    let found = fs::read_dir(&folder).map_or(0, Iterator::count);
    assert_eq!(found, all().len(), "a type is gone, its schema is not");
    let triggers = root().join(TRIGGERS_FILE);
    let committed = fs::read_to_string(&triggers).expect("the file is there");
    assert_current(&triggers, &with_triggers(&committed));
}

#[test]
fn schemas_describe_every_field_of_an_event() {
    for event_type in EventType::ALL {
        let mut schema = schema(event_type);
        forbid_other_fields(&mut schema);
        let name = event_type.short_name().replace(['.', '-'], "_");
        let file = format!("src/snapshots/site_events__event__tests__{name}_looks_like_this.snap");
        let snapshot = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
        let snapshot = snapshot.expect("there is a snapshot of each type");
        let (_, event) = snapshot.rsplit_once("---\n").expect("it has a head");
        let event: Value = serde_json::from_str(event).expect("an event is JSON");
        let validator = jsonschema::options().should_validate_formats(true).build(&schema);
        let validator = validator.expect("a schema is valid");
        let mistakes: Vec<String> = validator
            .iter_errors(&event)
            .map(|error| error.to_string())
            .collect();
        assert!(mistakes.is_empty(), "{name}: {mistakes:?}");
    }
}

fn forbid_other_fields(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(forbid_other_fields);
            if fields.get("properties").is_some_and(Value::is_object) {
                fields.insert("additionalProperties".into(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_other_fields),
        _ => {}
    }
}

#[test]
fn schemas_allow_additional_properties() {
    for (name, document) in all() {
        let text = document.to_string();
        assert!(!text.contains("dditionalProperties"), "{name}");
        assert!(!text.contains("\"null\""), "{name}");
    }
}
