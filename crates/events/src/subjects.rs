//! Subjects of all streams. The last token is the person, so a subject filter finds all data of a person.

use crate::EventType;

/// Events in the stream `SITE`: `site.<area>.<event>.<person>`.
pub const EVENTS_SUBJECT: &str = "site.*.*.*";
/// Replays to one consumer in the stream `SITE`: `replay.<consumer>.<person>`.
pub const REPLAYS_SUBJECT: &str = "replay.*.*";
/// Dead letters in the stream `DEAD_LETTERS`: `dead.<consumer>.<person>`.
pub const DEAD_LETTERS_SUBJECT: &str = "dead.*.*";

/// Newsletter mails in the stream `SENDINGS`: `sending.<issue>.<person>`.
pub const SENDINGS_SUBJECT: &str = "sending.*.*";

/// Subject of one mail of an issue.
pub fn sending(issue: &str, person: &str) -> String {
    format!("sending.{issue}.{person}")
}

/// Filter subjects of a consumer: its events and its own replays.
pub fn filter_subjects(consumer: &str, events: &[EventType]) -> Vec<String> {
    let events = events.iter().map(|event| format!("{}.*", event.subject_prefix()));
    events.chain([replay(consumer, "*")]).collect()
}

/// Subject of a replay to one consumer.
pub fn replay(consumer: &str, person: &str) -> String {
    format!("replay.{consumer}.{person}")
}

/// Whether a subject belongs to a replay.
pub fn is_replay(subject: &str) -> bool {
    subject.starts_with("replay.")
}

/// Subject of a consumer's dead letter.
pub fn dead_letter(consumer: &str, person: &str) -> String {
    format!("dead.{consumer}.{person}")
}

/// Subjects of a person's events in `SITE`.
pub fn events_of(person: &str) -> [String; 2] {
    [format!("site.*.*.{person}"), format!("replay.*.{person}")]
}

/// Subject of a person's dead letters in `DEAD_LETTERS`.
pub fn dead_letters_of(person: &str) -> String {
    format!("dead.*.{person}")
}

/// Person in a subject.
pub fn person_of(subject: &str) -> &str {
    subject.rsplit('.').next().unwrap_or("unknown")
}

/// Subject without its person. Telemetry must not contain the person.
pub fn without_person(subject: &str) -> &str {
    subject.rsplit_once('.').map_or(subject, |(kind, _)| kind)
}

/// Consumer in a dead letter's subject.
pub fn channel_of(dead_letter: &str) -> &str {
    dead_letter.split('.').nth(1).unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERSON: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_consumer_takes_its_events_and_its_own_replays() {
        let filters = filter_subjects("webhook-crm", &[EventType::ContactReceived]);
        assert_eq!(filters, ["site.contact.received.*", "replay.webhook-crm.*"]);
    }

    #[test]
    fn subjects_select_one_persons_messages() {
        let subjects = [format!("site.*.*.{PERSON}"), format!("replay.*.{PERSON}")];
        assert_eq!(events_of(PERSON), subjects);
        assert_eq!(dead_letters_of(PERSON), format!("dead.*.{PERSON}"));
    }

    #[test]
    fn a_subject_names_its_person_kind_and_channel() {
        let event = format!("site.contact.received.{PERSON}");
        assert_eq!(person_of(&event), PERSON);
        assert_eq!(without_person(&event), "site.contact.received");
        assert!(!is_replay(&event));
        let replay = replay("webhook-crm", PERSON);
        assert_eq!(replay, format!("replay.webhook-crm.{PERSON}"));
        assert!(is_replay(&replay));
        let dead_letter = dead_letter("webhook-crm", PERSON);
        assert_eq!(dead_letter, format!("dead.webhook-crm.{PERSON}"));
        assert_eq!(channel_of(&dead_letter), "webhook-crm");
    }
}
