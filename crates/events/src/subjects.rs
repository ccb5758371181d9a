//! The subjects of every stream. The last token is always the person, so that all that
//! is held of one person is found by subject.

use crate::Channel;

/// What happened, in the stream `SITE`: `site.<area>.<event>.<person>`.
pub const EVENTS: &str = "site.*.*.*";
/// Events handed to one channel once more, in the stream `SITE`: `replay.<channel>.<person>`.
pub const REPLAYS: &str = "replay.*.*";
/// What could not be delivered, in the stream `DEAD_LETTERS`: `dead.<channel>.<person>`.
pub const DEAD_LETTERS: &str = "dead.*.*";

/// What the channel's consumer takes: its event, and what is replayed to it alone.
pub fn taken_by(channel: Channel) -> [String; 2] {
    [
        format!("{}.*", channel.event_type().subject_prefix()),
        replay(channel, "*"),
    ]
}

/// The subject of a replay to this channel alone.
pub fn replay(channel: Channel, person: &str) -> String {
    format!("replay.{}.{person}", channel.name())
}

/// Whether a message under this subject is a replay.
pub fn is_replay(subject: &str) -> bool {
    subject.starts_with("replay.")
}

/// The subject of a dead letter of this channel.
pub fn dead_letter(channel: Channel, person: &str) -> String {
    format!("dead.{}.{person}", channel.name())
}

/// The subjects under which the stream `SITE` holds this person's events.
pub fn events_of(person: &str) -> [String; 2] {
    [format!("site.*.*.{person}"), format!("replay.*.{person}")]
}

/// The subject under which the stream `DEAD_LETTERS` holds this person's.
pub fn dead_letters_of(person: &str) -> String {
    format!("dead.*.{person}")
}

/// The person that a message under this subject is about.
pub fn person_of(subject: &str) -> &str {
    subject.rsplit('.').next().unwrap_or("unknown")
}

/// The channel that a dead letter under this subject failed on.
pub fn channel_of(dead_letter: &str) -> &str {
    dead_letter.split('.').nth(1).unwrap_or("unknown")
}
