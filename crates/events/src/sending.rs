//! One mail of an issue to one subscriber, as queued in `SENDINGS`.
//!
//! The queue holds no subscriber's address: the notifier reads the address from the subscriber's record.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId};

use crate::{EventData, event::NewsletterIssueRequested};

/// UUID namespace of issue ids.
const ISSUES: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_6973_7375_6573);
/// Name of newsletter mails in delivery records and `Message-ID`s. Other mails use their channel's name.
pub const SENDING_NAME: &str = "newsletter-issue";

/// Id of an issue: 32 hex digits that replace the person in subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IssueId(#[serde(with = "uuid::serde::simple")] Uuid);

impl IssueId {
    /// Id derived from the issue's name, so that no issue is sent twice.
    pub fn named(name: &str) -> Self {
        Self(Uuid::new_v5(&ISSUES, name.as_bytes()))
    }

    /// Random id of a test issue.
    pub fn of_test() -> Self {
        Self(Uuid::new_v4())
    }

    /// The id in the form of a person id.
    pub fn as_subject(self) -> PersonId {
        PersonId::try_from(self.to_string()).expect("a person's id is as many hex digits")
    }

    /// Id of the event that requests the issue.
    pub fn event_id(self) -> Uuid {
        NewsletterIssueRequested::TYPE.id_for(self.0)
    }

    /// Id of the issue's mail to a subscription. Repeats and a changed person id do not change the mail's id.
    pub fn sending_id(self, subscription: Uuid) -> Uuid {
        Uuid::new_v5(&self.0, subscription.as_bytes())
    }
}

impl fmt::Display for IssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_simple().fmt(f)
    }
}

/// Reverses [`IssueId::as_subject`].
impl From<&PersonId> for IssueId {
    fn from(subject: &PersonId) -> Self {
        Self(Uuid::try_parse(subject.as_str()).expect("it is as many hex digits"))
    }
}

/// One queued mail. The consumer loop reads `id`, `subject` and `requestid`, which every event has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sending {
    /// Mail id ([`IssueId::sending_id`]).
    pub id: Uuid,
    /// The subscriber.
    pub subject: PersonId,
    /// The request that caused the mail.
    pub requestid: String,
    /// The issue.
    pub issue: IssueId,
    /// Recipient of a test mail, who need not be a subscriber.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<EmailAddress>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_and_sending_ids_are_deterministic() {
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
        });
    }
}
