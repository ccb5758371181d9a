//! Log lines: each `tracing` event as a flat JSON object with its spans' ids.

use std::{fmt::Debug, io::Write};

use serde::{Serialize, Serializer};
use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id},
};
use tracing_appender::non_blocking::NonBlocking;
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use crate::trace;

/// Span fields on each line, unless the event has the same field.
const SPAN_FIELDS: [&str; 4] = ["attempt", "channel", "event.id", "request_id"];

pub struct LogLines(pub NonBlocking);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LogLines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        fields.0.retain(|(name, _)| SPAN_FIELDS.contains(name));
        if let Some(span) = context.span(id).filter(|_| !fields.0.is_empty()) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let mut line = Fields::default();
        let time = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        line.add("timestamp", time);
        line.add("level", metadata.level().as_str());
        line.add("target", metadata.target());
        event.record(&mut line);
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(fields) = span.extensions().get::<Fields>() {
                line.add_missing(fields);
            }
        }
        if let Some(trace) = trace::current_id() {
            line.add("trace_id", trace);
        }
        if let Ok(mut json) = serde_json::to_vec(&line) {
            json.push(b'\n');
            // The writer counts dropped lines.
            let _written = self.0.clone().write_all(&json);
        }
    }
}

#[derive(Default)]
struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    fn add(&mut self, name: &'static str, value: impl Into<Value>) {
        self.0.push((name, value.into()));
    }

    fn add_missing(&mut self, others: &Self) {
        for (name, value) in &others.0 {
            if !self.0.iter().any(|(known, _)| known == name) {
                self.0.push((name, value.clone()));
            }
        }
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name(), value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field.name(), value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field.name(), format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use tracing::{error_span, info, warn};
    use tracing_appender::non_blocking;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            written.write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_line_is_flat_and_carries_span_fields() {
        let written = Written::default();
        let (out, guard) = non_blocking(written.clone());
        let subscriber = tracing_subscriber::registry().with(LogLines(out));
        tracing::subscriber::with_default(subscriber, || {
            let request = error_span!("request", request_id = "visit-0001", http.route = "/").entered();
            let attempt = error_span!("attempt", attempt = 2_u32, event.id = %7).entered();
            info!(duration_ms = 1.5, http.route = "/api/contact", "answered");
            warn!(attempt = 7, "its own value \"counts\"");
            drop((attempt, request));
            info!("outside");
        });
        drop(guard);
        let written = written.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<Value> = serde_json::Deserializer::from_slice(&written)
            .into_iter()
            .collect::<Result<_, _>>()
            .expect("JSON");
        assert_eq!(lines[0]["duration_ms"], 1.5);
        assert_eq!(lines[0]["http.route"], "/api/contact");
        assert_eq!(lines[0]["message"], "answered");
        assert_eq!(lines[0]["level"], "INFO");
        assert_eq!(lines[0]["request_id"], "visit-0001");
        assert_eq!(lines[0]["attempt"], 2);
        assert_eq!(lines[0]["event.id"], "7");
        assert_eq!(lines[1]["attempt"], 7);
        assert_eq!(lines[1]["message"], "its own value \"counts\"");
        assert_eq!(lines[1]["http.route"], Value::Null);
        assert_eq!(lines[2]["request_id"], Value::Null);
    }
}
