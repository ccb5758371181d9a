//! A sending: one mail of an issue of the newsletter to one subscriber, on its way through the stream `SENDINGS`.
//!
//! It names the issue and the person, and holds no address: whoever sends it reads that of the subscriber, if they still are one.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId};

use crate::{EventData, event::NewsletterIssueRequested};

/// The namespace under which the names of issues become their ids.
const ISSUES: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_6973_7375_6573);
/// What mails of the newsletter are called in delivery records and in their `Message-ID`, as those of a channel are by its name.
pub const SENDING_NAME: &str = "newsletter-issue";

/// The id of an issue: 32 hex digits in a subject, where events of people have the person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IssueId(#[serde(with = "uuid::serde::simple")] Uuid);

impl IssueId {
    /// The id of the issue of this name: so that none of the same name goes out twice.
    pub fn named(name: &str) -> Self {
        Self(Uuid::new_v5(&ISSUES, name.as_bytes()))
    }

    /// A new id, for an issue that only its author sees.
    pub fn of_test() -> Self {
        Self(Uuid::new_v4())
    }

    /// It in the place of the person that other events are about.
    pub fn as_subject(self) -> PersonId {
        PersonId::try_from(self.to_string()).expect("a person's id is as many hex digits")
    }

    /// The id of the event that asks for the issue.
    pub fn event_id(self) -> Uuid {
        NewsletterIssueRequested::TYPE.id_for(self.0)
    }

    /// The id of its mail to this subscription: the same however often it is asked for, and under whichever id the person is known.
    pub fn sending_id(self, subscription: Uuid) -> Uuid {
        Uuid::new_v5(&self.0, subscription.as_bytes())
    }
}

impl fmt::Display for IssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_simple().fmt(f)
    }
}

/// What stands in the place of the person ([`IssueId::as_subject`]).
impl From<&PersonId> for IssueId {
    fn from(subject: &PersonId) -> Self {
        Self(Uuid::try_parse(subject.as_str()).expect("it is as many hex digits"))
    }
}

/// One mail that is to be sent. Its first fields are those of every event, by which the consumer loop knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sending {
    /// Its id, see [`IssueId::sending_id`].
    pub id: Uuid,
    /// The subscriber.
    pub subject: PersonId,
    /// The request that caused it.
    pub requestid: String,
    /// The issue.
    pub issue: IssueId,
    /// The address of somebody who wants to look at the issue, and need not be a subscriber.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<EmailAddress>,
    /// Whether it is sent once more if the mail server refused it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats_refused: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_has_one_id_by_its_name_and_its_mails_one_by_subscription() {
        let issue = IssueId::named("smart-home");
        assert_eq!(issue, IssueId::named("smart-home"));
        assert_ne!(issue, IssueId::named("smart-homes"));
        assert_eq!(IssueId::from(&issue.as_subject()), issue);
        assert_eq!(issue.as_subject().as_str(), issue.to_string());
        let [one, other] = [1, 2].map(Uuid::from_u128);
        assert_eq!(issue.sending_id(one), issue.sending_id(one));
        assert_ne!(issue.sending_id(one), issue.sending_id(other));
        assert_ne!(issue.sending_id(one), IssueId::named("other").sending_id(one));
    }

    #[test]
    fn a_sending_looks_like_this() {
        let issue = IssueId::named("smart-home");
        let person = PersonId::try_from("0123456789abcdef0123456789abcdef".to_owned()).expect("an id");
        insta::assert_json_snapshot!(Sending {
            id: issue.sending_id(Uuid::from_u128(1)),
            subject: person,
            requestid: "visit-0001".into(),
            issue,
            test: None,
            repeats_refused: false,
        });
    }
}
