//! Fuzz target for stored records. docs/testing.md says how to run it.

use bolero::check;
use serde_json::{Map, Value};
use time::{Duration, OffsetDateTime, macros::datetime};
use uuid::Uuid;
use visitor::EmailAddress;

use crate::Subscriber;

const ITERATIONS: usize = 1000;
const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);
fn fields(subscriber: &Subscriber) -> Map<String, Value> {
    match serde_json::to_value(subscriber) {
        Ok(Value::Object(fields)) => fields,
        other => panic!("a record is an object of plain values, and not {other:?}"),
    }
}

/// The record after each possible step.
fn steps(subscriber: &Subscriber) -> Vec<Subscriber> {
    let email = EmailAddress::parse("asha@example.com").expect("an address");
    let (key, new) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let again = Subscriber::signed_up(Some(subscriber), email, None, NOW, key, new);
    let of = || subscriber.clone();
    let mut steps = vec![
        of().mailed(NOW),
        of().unsubscribed(NOW),
        of().suppressed(NOW),
        of().came_back(Uuid::from_u128(3), NOW),
        of().forgotten(),
        of().swept(NOW),
    ];
    steps.extend(again.clone());
    steps.extend(again.map(|again| again.mailed(NOW + Duration::SECOND)));
    steps.extend(of().confirmed(NOW));
    steps.extend(of().lifted());
    steps
}

#[test]
fn whatever_lies_in_the_bucket_a_record_is_written_as_it_will_be_read_through_every_step() {
    check!(name = "subscribers")
        .with_iterations(ITERATIONS)
        .for_each(|stored: &[u8]| {
            let Ok(subscriber) = serde_json::from_slice::<Subscriber>(stored) else {
                return;
            };
            let before = fields(&subscriber);
            let left = subscriber.clone().unsubscribed(NOW);
            assert!(left.unsubscribed_at().is_some());
            assert!(left.clone().confirmed(NOW).is_none() || left.is_pending());
            for step in steps(&subscriber).iter().chain([&subscriber]) {
                let written = fields(step);
                let text = serde_json::to_vec(step).expect("plain values");
                let again: Subscriber = serde_json::from_slice(&text).expect("what was written is read");
                assert_eq!(fields(&again), written);
                assert_eq!(again.state, step.state, "of {before:?}");
            }
        });
}
