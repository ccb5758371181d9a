//! JSON Schemas of the events, derived from their types.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::{
    Event, EventData, EventType,
    event::{
        CareersApplied, ContactReceived, NewsletterBounced, NewsletterConfirmed, NewsletterIssueRequested,
        NewsletterRequested, NewsletterUnsubscribed, PersonErased,
    },
};

/// JSON Schema (2020-12) of an event. It allows unknown fields, so that readers accept events of later releases.
pub(super) fn schema(event_type: EventType) -> Value {
    match event_type {
        EventType::ContactReceived => schema_of::<ContactReceived>(),
        EventType::NewsletterRequested => schema_of::<NewsletterRequested>(),
        EventType::NewsletterConfirmed => schema_of::<NewsletterConfirmed>(),
        EventType::NewsletterUnsubscribed => schema_of::<NewsletterUnsubscribed>(),
        EventType::NewsletterBounced => schema_of::<NewsletterBounced>(),
        EventType::NewsletterIssueRequested => schema_of::<NewsletterIssueRequested>(),
        EventType::CareersApplied => schema_of::<CareersApplied>(),
        EventType::PersonErased => schema_of::<PersonErased>(),
    }
}

pub(super) fn schema_file(event_type: EventType) -> String {
    format!("{}.schema.json", event_type.name())
}

fn schema_of<D: EventData + JsonSchema>() -> Value {
    let mut schema = generated::<Event<D>>();
    let always = [
        ("specversion", "1.0"),
        ("source", D::TYPE.source()),
        ("type", D::TYPE.name()),
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

/// Removes null from a schema, because events omit absent values.
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
