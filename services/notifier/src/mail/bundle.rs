//! A bundle: one mail to sales or recruiters about several events, which holds of each what its own mail would.

use lettre::Message;
use mail_templates::{BundleKind, Kind};
use minijinja::{Value, context};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use site_broker::Delivery;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    careers, contact, context::MailContext, error::MailError, message::Mail,
    recruiter_extras::RecruiterExtrasLoader, wording,
};

/// The namespace of the ids of bundles.
const BUNDLES: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_6275_6e64_6c65);

/// The mail of one event as it goes into a bundle: without an attachment.
///
/// # Errors
///
/// As for the mail by itself.
pub async fn write_entry(
    context: &MailContext,
    recruiter_extras: &RecruiterExtrasLoader,
    kind: BundleKind,
    delivery: &Delivery,
    now: OffsetDateTime,
) -> Result<Mail, MailError> {
    match kind {
        BundleKind::Leads => Ok(contact::lead(context, &delivery.event()?)),
        BundleKind::Applications => {
            let event = delivery.event()?;
            let extras = recruiter_extras.load_without_resume(&event).await?;
            careers::application(context, &event, extras, now).await
        }
    }
}

/// The message of a bundle of these mails.
///
/// # Errors
///
/// If a template is wrong, or the parts do not make a message.
pub fn write_bundle(
    context: &MailContext,
    kind: BundleKind,
    mails: Vec<Mail>,
    now: OffsetDateTime,
) -> Result<Message, MailError> {
    bundle(context, kind, mails).into_message(context, now)
}

/// The mail of these mails. Its id is made of their events, so that the same bundle sent again is known for that.
pub fn bundle(context: &MailContext, kind: BundleKind, mails: Vec<Mail>) -> Mail {
    let channel = kind.channel().name();
    let (to, subject) = match kind {
        BundleKind::Leads => (&context.sales, "Your message to"),
        BundleKind::Applications => (&context.recruiters, "Your application to"),
    };
    let subject = wording::one_line(&format!("{subject} {}", context.brand.name));
    let listed = |name: &str| {
        let headers = mails.iter().flat_map(|mail| &mail.headers);
        let values = headers.filter(|(header, _)| *header == name);
        values
            .map(|(_, value)| value.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let (events, requests) = (listed("X-Event-Id"), listed("X-Request-Id"));
    let mut ids: Vec<&str> = events.split(' ').collect();
    ids.sort_unstable();
    let id = Uuid::new_v5(&BUNDLES, ids.join(" ").as_bytes());
    let entries: Vec<Value> = mails.into_iter().map(|mail| entry(mail, &subject)).collect();
    Mail {
        kind: Kind::Bundle(kind),
        id: format!("bundle.{id}.{channel}"),
        conversation: format!("bundles.{channel}"),
        headers: vec![("X-Event-Ids", events), ("X-Request-Ids", requests)],
        to: to.clone(),
        // One mail has one address that an answer goes to: each entry has its own link instead.
        reply_to: None,
        unsubscribe: None,
        attachment: None,
        values: context! { count => entries.len(), entries },
    }
}

/// What a mail shows, and the link that answers it (RFC 6068).
fn entry(mail: Mail, subject: &str) -> Value {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let answer = mail.reply_to.map(|mailbox| {
        let (user, domain) = (mailbox.email.user(), mailbox.email.domain());
        // A domain beyond ASCII is encoded as well; what others hold stays readable.
        let domain = encoded(domain).replace("%2E", ".").replace("%2D", "-");
        format!("mailto:{}@{domain}?subject={}", encoded(user), encoded(subject))
    });
    context! { answer, ..mail.values }
}

#[cfg(test)]
mod tests {
    use lettre::message::Mailbox;

    use super::*;

    fn mail(reply_to: Option<&str>) -> Mail {
        Mail {
            kind: Kind::Bundle(BundleKind::Leads),
            id: String::new(),
            conversation: String::new(),
            headers: Vec::new(),
            to: "sales@oculant.example".parse().expect("an address"),
            reply_to: reply_to.map(|address| address.parse::<Mailbox>().expect("an address")),
            unsubscribe: None,
            attachment: None,
            values: context! { name => "Asha" },
        }
    }

    #[test]
    fn the_link_that_answers_holds_nothing_but_its_address_and_our_subject() -> Result<(), minijinja::Error> {
        let hostile = entry(
            mail(Some("a&bcc=x?y#z%@my-company.example")),
            "Your message to A & B",
        );
        assert_eq!(
            hostile.get_attr("answer")?.as_str(),
            Some(
                "mailto:a%26bcc%3Dx%3Fy%23z%25@my-company.example?subject=Your%20message%20to%20A%20%26%20B"
            )
        );
        assert_eq!(hostile.get_attr("name")?.as_str(), Some("Asha"));
        assert!(entry(mail(None), "Hello").get_attr("answer")?.is_none());
        Ok(())
    }
}
