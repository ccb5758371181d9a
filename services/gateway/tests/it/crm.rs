//! A lead in three CRMs, each with its vendor's schema and its own token.

use std::{
    collections::HashMap,
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use jsonschema::Validator;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{
    HttpStandIn, Ports, Stack, eventually,
    http_stand_in::{Reply, Request, body_of, header_of},
    root,
};

const SOON: Duration = Duration::from_secs(60);
const SECRETS: [&str; 6] = [
    "hubspot-token",
    "salesforce-client-id",
    "salesforce-client-secret",
    "zoho-client-id",
    "zoho-client-secret",
    "zoho-refresh-token",
];

/// Step of a recipe, and the vendor's status and body.
type Answer = (&'static str, u16, Value);

/// A vendor's API, as its recipe uses it.
struct Vendor {
    name: &'static str,
    /// Path and grant type (RFC 6749).
    token: Option<(&'static str, &'static str)>,
    authorization: &'static str,
    answer: fn(&str) -> Option<Answer>,
    /// Step that creates the lead.
    last: &'static str,
}

static VENDORS: [Vendor; 3] = [
    Vendor {
        name: "hubspot",
        token: None,
        authorization: "Bearer hubspot-token",
        answer: hubspot,
        last: "note",
    },
    Vendor {
        name: "salesforce",
        token: Some(("/services/oauth2/token", "client_credentials")),
        authorization: "Bearer of-salesforce",
        answer: salesforce,
        last: "lead",
    },
    Vendor {
        name: "zoho-crm",
        token: Some(("/oauth/v2/token", "refresh_token")),
        authorization: "Zoho-oauthtoken of-zoho",
        answer: zoho,
        last: "note",
    },
];

fn hubspot(path: &str) -> Option<Answer> {
    match path {
        "/crm/v3/objects/contacts/batch/upsert" => Some((
            "contact",
            200,
            json!({ "status": "COMPLETE", "results": [{ "id": "512" }] }),
        )),
        "/crm/v3/objects/notes" => Some(("note", 201, json!({ "id": "9001" }))),
        _ => None,
    }
}

fn salesforce(path: &str) -> Option<Answer> {
    let created = json!({ "id": "00Q000000000001", "success": true, "errors": [] });
    path.starts_with("/services/data/v61.0/sobjects/Lead/Site_Event_Id__c/")
        .then_some(("lead", 201, created))
}

fn zoho(path: &str) -> Option<Answer> {
    let done = json!({ "data": [{ "code": "SUCCESS", "details": { "id": "524001" } }] });
    match path {
        "/crm/v8/Leads/upsert" => Some(("lead", 200, done)),
        "/crm/v8/Leads/524001/Notes" => Some(("note", 201, done)),
        _ => None,
    }
}

impl Vendor {
    fn schemas(&self) -> anyhow::Result<HashMap<String, Validator>> {
        let file = root().join(format!("recipes/schemas/{}.json", self.name));
        let schemas: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
        let steps = schemas["steps"].as_object().into_iter().flatten();
        let validator =
            |(step, schema): (&String, &Value)| Ok((step.clone(), jsonschema::validator_for(schema)?));
        steps.map(validator).collect()
    }

    fn reply(&self, asked: &Request, schemas: &HashMap<String, Validator>) -> (Reply, bool) {
        if let Some((path, grant)) = self.token
            && asked.url.path() == path
        {
            let granted = String::from_utf8_lossy(&asked.body).contains(&format!("grant_type={grant}"));
            let token = self.authorization.split(' ').next_back().filter(|_| granted);
            let status = if granted { 200 } else { 400 };
            return (
                Reply::Answer(status, json!({ "access_token": token, "expires_in": 3600 })),
                false,
            );
        }
        let Some((step, status, answer)) = (self.answer)(asked.url.path()) else {
            return (Reply::Answer(404, Value::Null), false);
        };
        if header_of(asked, "authorization") != self.authorization {
            return (Reply::Answer(401, Value::Null), false);
        }
        match schemas[step].validate(&body_of(asked)) {
            Ok(()) => (Reply::Answer(status, answer), step == self.last),
            Err(mistake) => {
                eprintln!("{} refused step {step}: {mistake}", self.name);
                (Reply::Answer(400, Value::Null), false)
            }
        }
    }
}

struct Crm {
    stand_in: HttpStandIn,
    leads: Arc<AtomicUsize>,
}

impl Crm {
    async fn start(vendor: &'static Vendor) -> anyhow::Result<Self> {
        let (schemas, leads) = (vendor.schemas()?, Arc::<AtomicUsize>::default());
        let had = leads.clone();
        let stand_in = HttpStandIn::start(move |asked| {
            let (reply, is_there) = vendor.reply(asked, &schemas);
            if is_there {
                had.fetch_add(1, Ordering::Relaxed);
            }
            reply
        });
        Ok(Self {
            stand_in: stand_in.await?,
            leads,
        })
    }

    fn endpoint(&self, vendor: &Vendor) -> Value {
        let url = &self.stand_in.url;
        let token_url = vendor.token.map(|(path, _)| format!("{url}{path}"));
        json!({
            "name": vendor.name, "url": url, "events": ["contact.received"], "format": "template",
            "recipe": root().join(format!("recipes/{}.yaml", vendor.name)),
            "values": { "token_url": token_url, "company": "unknown" },
        })
    }

    fn leads(&self) -> usize {
        self.leads.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn a_lead_is_in_hubspot_salesforce_and_zoho() -> anyhow::Result<()> {
    let secrets = TempDir::new()?;
    for name in SECRETS {
        fs::write(secrets.path().join(name), name)?;
    }
    let (mut crms, mut endpoints) = (Vec::new(), Vec::new());
    for vendor in &VENDORS {
        let crm = Crm::start(vendor).await?;
        endpoints.push(crm.endpoint(vendor));
        crms.push(crm);
    }
    let (endpoints, folder) = (
        Value::Array(endpoints).to_string(),
        secrets.path().display().to_string(),
    );
    let settings = [("WEBHOOKS", &*endpoints), ("WEBHOOKS_SECRETS_DIR", &*folder)];
    let stack = Stack::start(Ports::free()?, &settings).await?;
    for number in 0..3 {
        let form = json!({ "name": "Zoë Müller", "email": "zoe@example.org", "message": format!("{number} cameras.") });
        let request = Client::new().post(format!("{}/api/contact", stack.site()));
        assert_eq!(request.json(&form).send().await?.status(), StatusCode::OK);
        eventually("the lead is in all three", SOON, async || {
            crms.iter().all(|crm| crm.leads() > number).then_some(())
        })
        .await?;
    }
    Ok(())
}
