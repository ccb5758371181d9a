//! A lead in a CRM, from the form on.

use std::{fs, time::Duration};

use reqwest::{Client, StatusCode};
use serde_json::json;
use tempfile::TempDir;
use testkit::{HttpStandIn, Ports, Stack, eventually, http_stand_in::Reply, root};
use tokio::time::Instant;

const SOON: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_lead_is_in_the_crm_within_a_second_of_its_form() -> anyhow::Result<()> {
    let crm = HttpStandIn::start(|asked| match asked.path.as_str() {
        "/crm/v3/objects/notes" => Reply::Answer(201, json!({ "id": "1" })),
        _ => Reply::Answer(200, json!({ "results": [{ "id": "1" }] })),
    })
    .await?;
    let secrets = TempDir::new()?;
    fs::write(secrets.path().join("hubspot-token"), "token")?;
    // Under the name that the usual endpoint has, which has its consumer.
    let endpoint = json!([{
        "name": "sales", "url": crm.url(), "events": ["contact.received"], "format": "template",
        "recipe": root().join("recipes/hubspot.yaml"),
    }]);
    let (endpoint, folder) = (endpoint.to_string(), secrets.path().display().to_string());
    let settings = [("WEBHOOKS", &*endpoint), ("WEBHOOKS_SECRETS_DIR", &*folder)];
    let stack = Stack::start(Ports::free()?, &settings).await?;
    for number in 1..=3 {
        let sent = Instant::now();
        let form = json!({ "name": "Zoë Müller", "email": "zoe@example.org", "message": format!("{number} cameras.") });
        let request = Client::new().post(format!("{}/api/contact", stack.site()));
        assert_eq!(request.json(&form).send().await?.status(), StatusCode::OK);
        let told = eventually("the lead is in the CRM", SOON, async || {
            let asked = crm.asked();
            let mut notes = asked.iter().filter(|asked| asked.path == "/crm/v3/objects/notes");
            notes.nth(number - 1).map(|asked| asked.at - sent)
        })
        .await?;
        eprintln!("in the CRM {told:?} after the form was sent");
        assert!(told < Duration::from_secs(1), "{told:?}");
    }
    Ok(())
}
