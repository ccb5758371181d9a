//! An event as a message for people, in the form that Slack's incoming webhooks take
//! (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use site_events::{Attribution, EventType};
use visitor::invisible::without_invisible;

/// Slack cuts messages off at 40,000 characters; nobody reads that far in a channel.
const MAX_QUOTED_CHARACTERS: usize = 3_000;

#[derive(Deserialize)]
struct SlackEvent {
    #[serde(rename = "type")]
    event_type: String,
    id: String,
    subject: Option<String>,
    data: Value,
}

/// The message, as the body of a request.
///
/// # Errors
///
/// If the event is not JSON with a type, an id and data.
pub fn message(event: &[u8]) -> Result<Bytes, serde_json::Error> {
    let SlackEvent {
        event_type,
        id,
        subject,
        data,
    } = serde_json::from_slice(event)?;
    let person = subject.unwrap_or_default();
    let text = |field: &str| data.get(field).and_then(Value::as_str).map(escaped);
    let who = [
        text("name"),
        // What stands before the first bar is where the link leads, what stands behind it is shown.
        text("email").map(|email| format!("<mailto:{}|{email}>", email.replace('|', "%7C"))),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(", ");
    let Some(what) = heading(&event_type, text("position")) else {
        return Ok(erasure(&person, &id));
    };
    let resume = data.get("resume").map(|_| "résumé in the mail".to_owned());
    let more = [text("phone"), text("experience"), resume, text("reason")];
    let more: Vec<String> = more.into_iter().flatten().collect();
    let more = if more.is_empty() {
        String::new()
    } else {
        format!("\n{}", more.join(" · "))
    };
    let words = text("message")
        .or_else(|| text("coverLetter"))
        .unwrap_or_default();
    let quoted: String = words
        .chars()
        .take(MAX_QUOTED_CHARACTERS)
        .collect::<String>()
        .lines()
        .map(|line| format!("\n>{line}"))
        .collect();
    let origin = origin(&data)
        .map(|origin| format!("\n{}", escaped(&origin)))
        .unwrap_or_default();
    let text = format!("*{what}* from {who}{more}{quoted}{origin}\n_{}_", escaped(&id));
    Ok(json!({ "text": text }).to_string().into())
}

/// What happened, in a few words; none of an erasure, which is told otherwise.
fn heading(event_type: &str, position: Option<String>) -> Option<String> {
    let Some(known) = EventType::named(event_type) else {
        return Some(escaped(event_type));
    };
    let heading = match known {
        EventType::ContactReceived => "New contact message",
        EventType::NewsletterRequested => "Newsletter sign-up, not yet confirmed",
        EventType::NewsletterConfirmed => "New newsletter subscriber",
        EventType::NewsletterUnsubscribed => "Newsletter subscriber left",
        EventType::NewsletterBounced => "Newsletter mail came back",
        EventType::NewsletterIssueRequested => "Newsletter issue on its way",
        EventType::CareersApplied => {
            return Some(format!("New application: {}", position.unwrap_or_default()));
        }
        EventType::PersonErased => return None,
    };
    Some(heading.to_owned())
}

/// Of an erased person nobody knows more than the id.
fn erasure(person: &str, id: &str) -> Bytes {
    let text = format!(
        "*A person was erased*; erase what tells of them here, too\n_{}_, person {}",
        escaped(id),
        escaped(person)
    );
    json!({ "text": text }).to_string().into()
}

/// Where the visitor came from, in a line.
fn origin(data: &Value) -> Option<String> {
    let attribution = Attribution::deserialize(data.get("attribution")?).ok()?;
    let campaign = attribution.campaign();
    let parts = [
        attribution.page.map(|page| format!("page {page}")),
        attribution
            .referrer
            .map(|referrer| format!("referrer {referrer}")),
        campaign.map(|campaign| format!("campaign {campaign}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What is a visitor's is no markup (https://docs.slack.dev/messaging/formatting-message-text#escaping), and turns no
/// words of ours round.
fn escaped(text: &str) -> String {
    without_invisible(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(event: &Value) -> String {
        let message = message(event.to_string().as_bytes()).expect("a message");
        let message: Value = serde_json::from_slice(&message).expect("JSON");
        message["text"].as_str().unwrap_or_default().to_owned()
    }

    #[test]
    fn every_event_has_words_of_its_own() {
        for event_type in EventType::ALL {
            let event =
                json!({ "type": event_type.name(), "id": "0199", "data": { "email": "asha@example.com" } });
            let text = text(&event);
            assert!(!text.contains("site."), "{text}");
        }
    }

    #[test]
    fn an_application_is_told_with_what_recruiters_ask_first() {
        let event = json!({
            "type": "site.careers.applied.v1",
            "id": "0199",
            "data": { "name": "Asha", "email": "asha@example.com", "position": "AI Intern", "phone": "+91 98400 00000",
                "experience": "1 year", "coverLetter": "Hello", "resume": { "fileName": "cv.pdf" } },
        });
        assert_eq!(
            text(&event),
            "*New application: AI Intern* from Asha, <mailto:asha@example.com|asha@example.com>\
             \n+91 98400 00000 · 1 year · résumé in the mail\n>Hello\n_0199_"
        );
    }

    #[test]
    fn a_visitor_turns_none_of_our_words_round() {
        let event = json!({
            "type": "site.contact.received.v1",
            "id": "0199",
            "data": { "name": "\u{202e}ahsA", "email": "asha@example.com", "message": "\u{2067}one\u{2028}two" },
        });
        assert_eq!(
            text(&event),
            "*New contact message* from ahsA, <mailto:asha@example.com|asha@example.com>\n>onetwo\n_0199_"
        );
    }

    #[test]
    fn an_address_with_a_bar_is_shown_whole() {
        let event = json!({
            "type": "site.newsletter.confirmed.v1",
            "id": "0199",
            "data": { "email": "ceo|x@example.com" },
        });
        assert_eq!(
            text(&event),
            "*New newsletter subscriber* from <mailto:ceo%7Cx@example.com|ceo|x@example.com>\n_0199_"
        );
    }

    #[test]
    fn a_message_is_quoted_and_its_markup_is_text() {
        let event = json!({
            "type": "site.contact.received.v1",
            "id": "0199",
            "data": { "name": "Asha <!channel>", "email": "asha@example.com", "message": "one\ntwo & three",
                "attribution": { "page": "/contact", "utmSource": "newspaper", "utmCampaign": "<spring>" } },
        });
        let message = message(event.to_string().as_bytes()).expect("a message");
        let message: Value = serde_json::from_slice(&message).expect("JSON");
        assert_eq!(
            message["text"],
            "*New contact message* from Asha &lt;!channel&gt;, <mailto:asha@example.com|asha@example.com>\
             \n>one\n>two &amp; three\npage /contact, campaign newspaper / &lt;spring&gt;\n_0199_"
        );
    }
}
