//! Fuzz targets for stored events. docs/testing.md says how to run them.

use bolero::check;
use serde_json::Value;
use visitor::invisible::is_invisible;

use crate::{
    Attribution, Event, EventData,
    event::{
        CareersApplied, ContactReceived, NewsletterBounced, NewsletterConfirmed, NewsletterIssueRequested,
        NewsletterRequested, NewsletterUnsubscribed, PersonErased,
    },
};

const ITERATIONS: usize = 1000;

/// Reads an event and checks that writing it loses nothing.
fn read<D: EventData>(stored: &[u8]) -> Option<Event<D>> {
    let event: Event<D> = serde_json::from_slice(stored).ok()?;
    let written = serde_json::to_value(&event).expect("an event is plain values");
    let again: Event<D> = serde_json::from_value(written.clone()).expect("what was written is read");
    assert_eq!(serde_json::to_value(&again).ok(), Some(written.clone()));
    let text = serde_json::to_vec(&event).expect("an event is plain values");
    assert_eq!(serde_json::from_slice::<Value>(&text).ok(), Some(written));
    Some(event)
}

fn is_person_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[test]
fn whatever_lies_in_the_stream_what_is_read_of_it_is_written_as_it_was_and_names_a_person_by_an_id() {
    check!(name = "events")
        .with_iterations(ITERATIONS)
        .for_each(|stored: &[u8]| {
            let subjects = [
                read::<ContactReceived>(stored).map(|event| event.subject),
                read::<NewsletterRequested>(stored).map(|event| event.subject),
                read::<NewsletterConfirmed>(stored).map(|event| event.subject),
                read::<NewsletterUnsubscribed>(stored).map(|event| event.subject),
                read::<NewsletterBounced>(stored).map(|event| event.subject),
                read::<NewsletterIssueRequested>(stored).map(|event| event.subject),
                read::<CareersApplied>(stored).map(|event| event.subject),
                read::<PersonErased>(stored).map(|event| event.subject),
            ];
            assert!(
                subjects
                    .iter()
                    .flatten()
                    .all(|person| is_person_id(person.as_str()))
            );
        });
}

#[test]
fn whatever_a_form_tells_of_where_its_visitor_came_from_what_is_kept_is_short_seen_and_stays_as_it_is() {
    check!(name = "attributions")
        .with_iterations(ITERATIONS)
        .for_each(|told: &[u8]| {
            let Ok(told) = serde_json::from_slice::<Attribution>(told) else {
                return;
            };
            let Some(kept) = Attribution::of(Some(told)) else {
                return;
            };
            assert_eq!(Attribution::of(Some(kept.clone())), Some(kept.clone()));
            let kept = serde_json::to_value(kept).expect("plain values");
            for value in kept.as_object().into_iter().flat_map(|kept| kept.values()) {
                let value = value.as_str().expect("each is a text");
                assert!((1..=300).contains(&value.chars().count()));
                assert!(!value.contains(|c: char| c.is_control() || is_invisible(c)));
                assert_eq!(value, value.trim());
            }
        });
}
