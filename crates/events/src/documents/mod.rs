//! What other programs read about our events, made from the types themselves: a JSON Schema for each type, an AsyncAPI
//! document of where they are found, and the channels in the files of the cluster.
//!
//! `RENEW=1 cargo test -p site-events documents` writes them. They are made by tests alone, so that no service carries
//! what makes them.

mod asyncapi;
mod cluster;
mod schema;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use self::{
    cluster::CLUSTER_FILES,
    schema::{schema, schema_file},
};
use crate::EventType;

/// Every document of `docs/events`, by the name of its file.
fn all() -> Vec<(String, Value)> {
    let schemas = EventType::ALL.map(|event_type| (schema_file(event_type), schema(event_type)));
    let asyncapi = ("asyncapi.json".to_owned(), asyncapi::document());
    schemas.into_iter().chain([asyncapi]).collect()
}

/// Compares a golden file with what is made, or writes it where the variable `RENEW` is set.
fn assert_golden(file: &Path, made: &str) {
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
        assert_golden(&folder.join(name), &format!("{document:#}\n"));
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
        assert_golden(&path, &renewed(&committed));
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
