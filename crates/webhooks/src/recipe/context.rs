//! Template values: the event, the installation's values, and values kept from earlier answers.

use std::collections::BTreeMap;

use minijinja::{Value, context, value::Serde};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use site_events::EventType;
use time::OffsetDateTime;

use super::keep::Keep;
use crate::outgoing::{Outgoing, sample};

/// If an event has no attribution, templates see an attribution whose fields are none.
const ATTRIBUTION: &str = "attribution";

#[derive(Deserialize)]
struct StoredEvent {
    #[serde(rename = "type")]
    event_type: String,
    id: String,
    subject: String,
    time: String,
    data: Map<String, Json>,
}

#[derive(Clone)]
pub struct EventContext {
    pub event_type: EventType,
    event: Value,
    values: Value,
    kept: BTreeMap<String, BTreeMap<String, Json>>,
}

impl EventContext {
    /// Reads the event. Missing optional fields become none, so that only misspelt names are errors.
    pub fn new<'a>(
        event: &Outgoing,
        values: &Map<String, Json>,
        steps: impl IntoIterator<Item = (&'a str, &'a [Keep])>,
    ) -> Result<Self, serde_json::Error> {
        let stored: StoredEvent = serde_json::from_slice(&event.payload)?;
        let event_type = EventType::named(&stored.event_type)
            .ok_or_else(|| serde::de::Error::custom("its type is none that this release knows"))?;
        let mut data = stored.data;
        fill(&mut data, event_type);
        let seen = context! {
            id => stored.id,
            type => stored.event_type,
            person => stored.subject,
            time => stored.time,
            data => Serde(data),
            attempt => event.attempt,
            resume_link => event.resume_link.as_deref(),
        };
        Ok(Self {
            event_type,
            event: seen,
            values: Value::from(Serde(values.clone())),
            kept: steps
                .into_iter()
                .map(|(step, keep)| (step.to_owned(), before_answers(keep)))
                .collect(),
        })
    }

    pub fn keep(&mut self, step: &str, name: &str, value: Json) {
        self.kept
            .entry(step.to_owned())
            .or_default()
            .insert(name.to_owned(), value);
    }

    pub fn values(&self, access_token: Option<&str>) -> Value {
        let steps = Value::from(Serde(self.kept.clone()));
        let values = self.values.clone();
        match access_token {
            Some(access_token) => context! { values, steps, access_token, ..self.event.clone() },
            None => context! { values, steps, ..self.event.clone() },
        }
    }
}

fn before_answers(keep: &[Keep]) -> BTreeMap<String, Json> {
    keep.iter()
        .filter_map(|keep| Some((keep.name.clone(), keep.before()?)))
        .collect()
}

/// Adds each missing optional field as none.
fn fill(data: &mut Map<String, Json>, event_type: EventType) {
    let whole = sample(event_type, OffsetDateTime::UNIX_EPOCH);
    let whole: StoredEvent = serde_json::from_slice(&whole.payload).expect("a sample is an event");
    for (name, value) in whole.data {
        let known = data.entry(name.clone()).or_insert_with(|| match name.as_str() {
            ATTRIBUTION => Json::Object(Map::new()),
            _ => Json::Null,
        });
        if let (ATTRIBUTION, Json::Object(known), Json::Object(whole)) = (name.as_str(), known, value) {
            for (name, _) in whole {
                known.entry(name).or_insert(Json::Null);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::samples;

    #[test]
    fn optional_fields_are_none_and_unknown_fields_undefined() -> anyhow::Result<()> {
        let (_, event) = samples(EventType::CareersApplied, OffsetDateTime::UNIX_EPOCH);
        let context = EventContext::new(&event, &Map::new(), [])?;
        let data = context.values(None).get_attr("data")?;
        assert!(data.get_attr("phone")?.is_none());
        assert!(data.get_attr("resume")?.is_none());
        assert!(data.get_attr("attribution")?.get_attr("utmSource")?.is_none());
        assert!(data.get_attr("fone")?.is_undefined());
        Ok(())
    }
}
