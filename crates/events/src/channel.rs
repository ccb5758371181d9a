//! Where each event goes: one durable consumer per (event, channel), so that a channel
//! that fails holds up no other and repeats no other.

use crate::{EventType, FAN_OUT_CONSUMER, SUPPRESSION_CONSUMER};

/// One way out for one event type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Contact message → lead mail to sales.
    SalesLead,
    /// Contact message → acknowledgement to the visitor.
    ContactAcknowledgement,
    /// Newsletter sign-up → mail with the confirmation link.
    NewsletterConfirmation,
    /// Confirmed subscription → welcome mail.
    NewsletterWelcome,
    /// Ended subscription → goodbye mail.
    NewsletterGoodbye,
    /// Application → mail to the recruiters.
    RecruiterApplication,
    /// Application → acknowledgement to the applicant.
    ApplicationAcknowledgement,
}

impl Channel {
    /// Every channel there is.
    pub const ALL: [Self; 7] = [
        Self::SalesLead,
        Self::ContactAcknowledgement,
        Self::NewsletterConfirmation,
        Self::NewsletterWelcome,
        Self::NewsletterGoodbye,
        Self::RecruiterApplication,
        Self::ApplicationAcknowledgement,
    ];

    /// The event it takes.
    pub fn event_type(self) -> EventType {
        match self {
            Self::SalesLead | Self::ContactAcknowledgement => EventType::ContactReceived,
            Self::NewsletterConfirmation => EventType::NewsletterRequested,
            Self::NewsletterWelcome => EventType::NewsletterConfirmed,
            Self::NewsletterGoodbye => EventType::NewsletterUnsubscribed,
            Self::RecruiterApplication | Self::ApplicationAcknowledgement => EventType::CareersApplied,
        }
    }

    /// Whether it writes to an address that anyone may have typed, rather than to our own people.
    pub fn is_to_visitor(self) -> bool {
        match self {
            Self::SalesLead | Self::RecruiterApplication => false,
            Self::ContactAcknowledgement
            | Self::NewsletterConfirmation
            | Self::NewsletterWelcome
            | Self::NewsletterGoodbye
            | Self::ApplicationAcknowledgement => true,
        }
    }

    /// Its name: the durable consumer, the token in the subjects of dead letters and
    /// replays, and the suffix of delivery records.
    pub fn name(self) -> &'static str {
        match self {
            Self::SalesLead => "contact-received-sales",
            Self::ContactAcknowledgement => "contact-received-acknowledgement",
            Self::NewsletterConfirmation => "newsletter-requested-confirmation",
            Self::NewsletterWelcome => "newsletter-confirmed-welcome",
            Self::NewsletterGoodbye => "newsletter-unsubscribed-goodbye",
            Self::RecruiterApplication => "careers-applied-recruiters",
            Self::ApplicationAcknowledgement => "careers-applied-acknowledgement",
        }
    }
}

/// Every durable consumer of the stream `SITE` that is there whatever the settings: one for each mail channel, and the newsletter
/// service's two.
pub fn consumers() -> impl Iterator<Item = &'static str> {
    let mails = Channel::ALL.into_iter().map(Channel::name);
    mails.chain([SUPPRESSION_CONSUMER, FAN_OUT_CONSUMER])
}
