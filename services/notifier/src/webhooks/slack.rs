//! An event as a message for people, in the form that Slack's incoming webhooks take
//! (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use site_events::Attribution;

/// Slack cuts messages off at 40,000 characters; nobody reads that far in a channel.
const LONGEST: usize = 3_000;

#[derive(Deserialize)]
struct Told {
    #[serde(rename = "type")]
    event_type: String,
    id: String,
    data: Value,
}

/// The message, as the body of a request.
pub fn message(event: &[u8]) -> Result<Bytes, serde_json::Error> {
    let Told { event_type, id, data } = serde_json::from_slice(event)?;
    let text = |field: &str| data.get(field).and_then(Value::as_str).map(escaped);
    let who = [
        text("name"),
        text("email").map(|email| format!("<mailto:{email}|{email}>")),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(", ");
    let what = match event_type.as_str() {
        "site.contact.received.v1" => "New contact message".to_owned(),
        "site.newsletter.confirmed.v1" => "New newsletter subscriber".to_owned(),
        "site.newsletter.unsubscribed.v1" => "Newsletter subscriber left".to_owned(),
        "site.newsletter.bounced.v1" => "Newsletter address does not exist".to_owned(),
        "site.careers.applied.v1" => {
            format!("New application: {}", text("position").unwrap_or_default())
        }
        other => escaped(other),
    };
    let words = text("message")
        .or_else(|| text("coverLetter"))
        .unwrap_or_default();
    let quoted: String = words
        .chars()
        .take(LONGEST)
        .collect::<String>()
        .lines()
        .map(|line| format!("\n>{line}"))
        .collect();
    let origin = origin(&data)
        .map(|origin| format!("\n{}", escaped(&origin)))
        .unwrap_or_default();
    let text = format!("*{what}* from {who}{quoted}{origin}\n_{}_", escaped(&id));
    Ok(json!({ "text": text }).to_string().into())
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

/// What is a visitor's is no markup: https://docs.slack.dev/messaging/formatting-message-text#escaping
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

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
