//! Tests how often OAuth 2.0 access tokens are requested, and what happens without one.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use site_broker::Remedy;
use site_events::EventType;
use testkit::{
    HttpStandIn,
    http_stand_in::{Reply, Request, header_of},
};
use time::OffsetDateTime;
use webhooks::{SendingError, sample};

use crate::setting::Setting;

fn zoho(vendor: &HttpStandIn) -> anyhow::Result<Setting> {
    let values =
        json!({ "token_url": format!("{}/oauth/v2/token", vendor.url), "person_field": "site_person" });
    Setting::of_repository("zoho-crm.yaml", &vendor.url, &values)
}

fn tokens_asked_for(vendor: &HttpStandIn) -> Vec<Request> {
    let asked = vendor.asked().into_iter();
    asked
        .filter(|asked| asked.url.path() == "/oauth/v2/token")
        .collect()
}

fn taken() -> Reply {
    let record = json!({ "code": "SUCCESS", "details": { "id": "1" } });
    Reply::Answer(200, json!({ "data": [record] }))
}

#[tokio::test]
async fn a_token_is_kept_until_the_vendor_revokes_it() -> anyhow::Result<()> {
    let given = Arc::new(AtomicUsize::new(0));
    let counter = given.clone();
    let vendor = HttpStandIn::start(move |asked| {
        if asked.url.path() == "/oauth/v2/token" {
            let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
            let token = json!({ "access_token": format!("t{number}"), "expires_in": "3600" });
            return Reply::Answer(200, token);
        }
        // The vendor rejects the first token in requests for notes, as if the token were revoked.
        match header_of(asked, "authorization") {
            "Zoho-oauthtoken t2" => taken(),
            _ if asked.url.path().ends_with("Notes") => {
                Reply::Answer(401, json!({ "code": "INVALID_TOKEN" }))
            }
            _ => taken(),
        }
    })
    .await?;
    let setting = zoho(&vendor)?;
    let (sender, now) = (setting.sender()?, OffsetDateTime::now_utc());
    for _ in 0..2 {
        let lead = sample(EventType::ContactReceived, now);
        let sent = sender.send(&lead, now, None).await;
        assert!(sent.is_ok(), "{sent:?}");
    }
    assert_eq!(given.load(Ordering::SeqCst), 2);
    let asked = tokens_asked_for(&vendor);
    let form: Vec<(String, String)> = url::form_urlencoded::parse(&asked[0].body).into_owned().collect();
    for (name, value) in [
        ("grant_type", "refresh_token"),
        ("client_id", "value-of-zoho-client-id"),
        ("refresh_token", "value-of-zoho-refresh-token"),
    ] {
        let field = (name.to_owned(), value.to_owned());
        assert!(form.contains(&field), "{form:?}");
    }
    Ok(())
}

#[tokio::test]
async fn without_a_token_nothing_is_sent_and_the_event_waits() -> anyhow::Result<()> {
    let failed = |status, code: &str| Reply::Answer(status, json!({ "error": code }));
    for (answer, said) in [
        // Zoho reports this error with status 200.
        (failed(200, "invalid_code"), "200 (invalid_code)"),
        (failed(400, "invalid_grant"), "400 (invalid_grant)"),
        (Reply::Answer(500, Value::Null), "500"),
        (Reply::Close, "did not answer"),
    ] {
        let vendor = HttpStandIn::start(move |_| answer.clone()).await?;
        let setting = zoho(&vendor)?;
        let now = OffsetDateTime::now_utc();
        let sent = setting
            .sender()?
            .send(&sample(EventType::ContactReceived, now), now, None)
            .await;
        let Err(error @ SendingError::NoToken(_)) = sent else {
            anyhow::bail!("{sent:?}");
        };
        assert!(matches!(error.remedy(), Remedy::RetryLater { .. }));
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(vendor.asked().len(), tokens_asked_for(&vendor).len());
    }
    Ok(())
}

#[tokio::test]
async fn a_token_endpoint_in_our_own_network_is_refused() -> anyhow::Result<()> {
    let values = json!({ "token_url": "https://169.254.169.254/latest", "person_field": "site_person" });
    let setting = Setting::of_repository("zoho-crm.yaml", "https://www.zohoapis.eu", &values)?;
    let refused = setting.sender().err().map(|error| error.to_string());
    assert!(refused.is_some_and(|refused| refused.contains("private address")));
    Ok(())
}
