//! Formats events as messages for Slack's incoming webhooks
//! (<https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>).

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use site_events::{Attribution, Event, EventType};
use visitor::invisible::without_invisible;

/// Limit of a quoted text. Slack itself truncates messages after 40,000 characters.
const MAX_QUOTED_CHARACTERS: usize = 3_000;

/// Fields that a message shows in its heading or as a quote, not in the list of the other fields.
const SHOWN_APART: [&str; 5] = ["name", "email", "position", "message", "coverLetter"];

/// Builds the Slack message of an event as a request body.
pub fn message(event: &[u8]) -> Result<Bytes, serde_json::Error> {
    let event: Event<Value> = serde_json::from_slice(event)?;
    let (id, person, data) = (event.id, event.subject, &event.data);
    let event_type = EventType::named(&event.event_type);
    let heading = match event_type {
        Some(EventType::ContactReceived) => "New contact message".to_owned(),
        Some(EventType::NewsletterRequested) => "Newsletter sign-up, not yet confirmed".to_owned(),
        Some(EventType::NewsletterConfirmed) => "New newsletter subscriber".to_owned(),
        Some(EventType::NewsletterUnsubscribed) => "Newsletter subscriber left".to_owned(),
        Some(EventType::NewsletterBounced) => "Newsletter mail came back".to_owned(),
        Some(EventType::NewsletterIssueRequested) => "Newsletter issue on its way".to_owned(),
        Some(EventType::CareersApplied) => {
            format!("New application: {}", text(data, "position").unwrap_or_default())
        }
        // This event contains only the person's id.
        Some(EventType::PersonErased) => {
            let heading = "*A person was erased*; erase what tells of them here, too";
            return Ok(body(&format!("{heading}\n_{id}_, person {person}")));
        }
        None => escaped(&event.event_type),
    };
    let fields = event_type.map_or(&[][..], EventType::form_fields);
    let described = described(data, fields);
    Ok(body(&format!("*{heading}* from {described}\n_{id}_")))
}

fn body(text: &str) -> Bytes {
    json!({ "text": text }).to_string().into()
}

fn described(data: &Value, fields: &[(&str, &str)]) -> String {
    // A link is `<target|text>`, so a bar in the target is encoded.
    let link = |email: String| format!("<mailto:{}|{email}>", email.replace('|', "%7C"));
    let who = joined(
        text(data, "name")
            .into_iter()
            .chain(text(data, "email").map(link)),
        ", ",
    );
    let others = fields.iter().filter(|(name, _)| !SHOWN_APART.contains(name));
    let others = others.filter_map(|(name, label)| Some(format!("{label}: {}", text(data, name)?)));
    let resume = data.get("resume").map(|_| "résumé in the mail".to_owned());
    let more = joined(others.chain(resume).chain(text(data, "reason")), " · ");
    let words = text(data, "message").or_else(|| text(data, "coverLetter"));
    let words: String = words
        .unwrap_or_default()
        .chars()
        .take(MAX_QUOTED_CHARACTERS)
        .collect();
    let quoted = words.lines().map(|line| format!(">{line}"));
    let origin = Attribution::deserialize(&data["attribution"]).map(|attribution| {
        let campaign = attribution.campaign();
        let parts = [
            attribution.page.map(|page| format!("page {page}")),
            attribution
                .referrer
                .map(|referrer| format!("referrer {referrer}")),
            campaign.map(|campaign| format!("campaign {campaign}")),
        ];
        escaped(&joined(parts.into_iter().flatten(), ", "))
    });
    let lines = [who, more].into_iter().chain(quoted).chain(origin);
    joined(lines.filter(|line| !line.is_empty()), "\n")
}

fn joined(parts: impl IntoIterator<Item = String>, separator: &str) -> String {
    parts.into_iter().collect::<Vec<_>>().join(separator)
}

fn text(data: &Value, name: &str) -> Option<String> {
    data[name].as_str().map(escaped)
}

/// Escapes markup (<https://docs.slack.dev/messaging/formatting-message-text#escaping>), and removes invisible
/// characters, which could reverse the text around them.
fn escaped(text: &str) -> String {
    without_invisible(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0199c3a4-7b1e-7000-8000-000000000001";

    fn text(event_type: EventType, data: &Value) -> String {
        let event = json!({
            "specversion": "1.0",
            "id": ID,
            "source": "/services/contact",
            "type": event_type.name(),
            "subject": "0123456789abcdef0123456789abcdef",
            "time": "2026-11-20T12:00:00Z",
            "datacontenttype": "application/json",
            "requestid": "visit-0001",
            "data": data,
        });
        let message = message(event.to_string().as_bytes()).expect("a message");
        let message: Value = serde_json::from_slice(&message).expect("JSON");
        let text = message["text"].as_str().unwrap_or_default();
        text.replace(ID, "id")
    }

    #[test]
    fn every_event_has_words_of_its_own() {
        for event_type in EventType::ALL {
            let text = text(event_type, &json!({ "email": "asha@example.com" }));
            assert!(!text.contains("site."), "{text}");
        }
    }

    #[test]
    fn an_erased_person_is_named_by_id() {
        assert_eq!(
            text(EventType::PersonErased, &json!({})),
            "*A person was erased*; erase what tells of them here, too\n_id_, person 0123456789abcdef0123456789abcdef"
        );
    }

    #[test]
    fn an_application_shows_its_key_fields() {
        let data = json!({ "name": "Asha", "email": "asha@example.com", "position": "AI Intern", "phone": "+91 98400 00000",
            "experience": "1 year", "coverLetter": "Hello", "resume": { "fileName": "cv.pdf" } });
        assert_eq!(
            text(EventType::CareersApplied, &data),
            "*New application: AI Intern* from Asha, <mailto:asha@example.com|asha@example.com>\
             \nPhone: +91 98400 00000 · Experience: 1 year · résumé in the mail\n>Hello\n_id_"
        );
    }

    #[test]
    fn invisible_characters_of_a_visitor_are_removed() {
        let data = json!({ "name": "\u{202e}ahsA", "email": "asha@example.com", "message": "\u{2067}one\u{2028}two" });
        assert_eq!(
            text(EventType::ContactReceived, &data),
            "*New contact message* from ahsA, <mailto:asha@example.com|asha@example.com>\n>onetwo\n_id_"
        );
    }

    #[test]
    fn an_address_with_a_bar_is_shown_whole() {
        assert_eq!(
            text(
                EventType::NewsletterConfirmed,
                &json!({ "email": "ceo|x@example.com" })
            ),
            "*New newsletter subscriber* from <mailto:ceo%7Cx@example.com|ceo|x@example.com>\n_id_"
        );
    }

    #[test]
    fn a_message_is_quoted_and_its_markup_is_text() {
        let data = json!({ "name": "Asha <!channel>", "email": "asha@example.com", "message": "one\ntwo & three",
            "attribution": { "page": "/contact", "utmSource": "newspaper", "utmCampaign": "<spring>" } });
        assert_eq!(
            text(EventType::ContactReceived, &data),
            "*New contact message* from Asha &lt;!channel&gt;, <mailto:asha@example.com|asha@example.com>\
             \n>one\n>two &amp; three\npage /contact, campaign newspaper / &lt;spring&gt;\n_id_"
        );
    }
}
