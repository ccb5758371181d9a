//! Mail channels. Each has its own durable consumer, so a failing channel does not block or repeat others.

use crate::{EventType, FAN_OUT_CONSUMER, SUPPRESSION_CONSUMER};

/// Kind of mail that an event type causes.
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
    /// All channels.
    pub const ALL: [Self; 7] = [
        Self::SalesLead,
        Self::ContactAcknowledgement,
        Self::NewsletterConfirmation,
        Self::NewsletterWelcome,
        Self::NewsletterGoodbye,
        Self::RecruiterApplication,
        Self::ApplicationAcknowledgement,
    ];

    /// Event type that the channel consumes.
    pub fn event_type(self) -> EventType {
        match self {
            Self::SalesLead | Self::ContactAcknowledgement => EventType::ContactReceived,
            Self::NewsletterConfirmation => EventType::NewsletterRequested,
            Self::NewsletterWelcome => EventType::NewsletterConfirmed,
            Self::NewsletterGoodbye => EventType::NewsletterUnsubscribed,
            Self::RecruiterApplication | Self::ApplicationAcknowledgement => EventType::CareersApplied,
        }
    }

    /// Whether the channel mails an address that a visitor typed. Other channels mail our staff.
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

    /// Name of the channel's durable consumer, also part of subjects and delivery records.
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

/// Durable consumers of `SITE` in every installation: one per mail channel, and two of the newsletter service.
pub fn consumers() -> impl Iterator<Item = &'static str> {
    let mails = Channel::ALL.into_iter().map(Channel::name);
    mails.chain([SUPPRESSION_CONSUMER, FAN_OUT_CONSUMER])
}
