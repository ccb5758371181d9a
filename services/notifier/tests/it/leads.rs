//! Leads sent by a recipe reach the CRM once, in order for each person, whatever the CRM answers.

use std::{
    collections::{HashMap, HashSet},
    fs,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use site_broker::ENDPOINTS_BUCKET;
use site_events::{
    EventData,
    event::{ContactReceived, PersonErased},
};
use tempfile::TempDir;
use testkit::{
    HttpStandIn, MailServer, Nats, eventually,
    http_stand_in::{Reply, Request, body_of},
    root,
};
use time::OffsetDateTime;
use visitor::EmailAddress;

use crate::running::{HURRY, Running, SOON, Site, parts, take, until};

const ZOE: &str = "zoe@example.org";
const LEADS: usize = 24;
/// Successful requests before each series of failures.
const WELL_FOR: usize = 20;
const FAILS_FOR: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Asks for a retry after a second.
    TooMany,
    Broken,
    /// Fails after it has stored the request.
    BrokenAfterwards,
    Lost,
    /// Closes the connection after it has stored the request.
    LostAfterwards,
}

const FAULTS: [Fault; 5] = [
    Fault::TooMany,
    Fault::Broken,
    Fault::BrokenAfterwards,
    Fault::Lost,
    Fault::LostAfterwards,
];

impl Fault {
    fn stores(self) -> bool {
        matches!(self, Self::BrokenAfterwards | Self::LostAfterwards)
    }

    fn reply(self) -> Reply {
        match self {
            Self::TooMany => Reply::Later(429, "1", json!({ "category": "RATE_LIMITS" })),
            Self::Broken | Self::BrokenAfterwards => Reply::Answer(500, Value::Null),
            Self::Lost | Self::LostAfterwards => Reply::Close,
        }
    }
}

#[derive(Default)]
struct Contacts {
    requests: usize,
    ids: HashMap<String, String>,
    /// Contact and text of each note, in order.
    notes: Vec<(String, String)>,
}

impl Contacts {
    fn fault(&mut self) -> Option<Fault> {
        self.requests += 1;
        let length = WELL_FOR + FAILS_FOR;
        let (turn, within) = (self.requests / length, self.requests % length);
        (within >= WELL_FOR).then(|| FAULTS[turn % FAULTS.len()])
    }

    fn answer(&mut self, asked: &Request) -> Reply {
        match self.fault() {
            None => self.store(asked),
            Some(fault) => {
                if fault.stores() {
                    self.store(asked);
                }
                fault.reply()
            }
        }
    }

    fn store(&mut self, asked: &Request) -> Reply {
        let body = body_of(asked);
        match asked.url.path() {
            "/crm/v3/objects/contacts/batch/upsert" => {
                let email = body["inputs"][0]["id"].as_str().unwrap_or_default().to_owned();
                let next = (self.ids.len() + 1).to_string();
                let id = self.ids.entry(email).or_insert(next);
                Reply::Answer(200, json!({ "results": [{ "id": id }] }))
            }
            "/crm/v3/objects/notes/search" => {
                let word = &body["filterGroups"][0]["filters"][0]["value"];
                let word = word.as_str().unwrap_or_default();
                let total = self.notes.iter().filter(|(_, text)| text.contains(word)).count();
                Reply::Answer(200, json!({ "total": total }))
            }
            _ => {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let contact = text(&body["associations"][0]["to"]["id"]);
                self.notes
                    .push((contact, text(&body["properties"]["hs_note_body"])));
                Reply::Answer(201, json!({ "id": self.notes.len().to_string() }))
            }
        }
    }
}

struct Sales {
    nats: Nats,
    mail_server: MailServer,
    flags: Vec<String>,
    site: Site,
    _secrets: TempDir,
    _running: Running,
}

impl Sales {
    async fn with(hubspot: &HttpStandIn, events: &[&str]) -> anyhow::Result<Self> {
        let (nats, mail_server, site) = parts(take).await?;
        let secrets = tempfile::tempdir()?;
        fs::write(secrets.path().join("hubspot-token"), "token")?;
        let webhooks = json!([{
            "name": "crm", "url": hubspot.url, "events": events, "format": "template",
            "recipe": root().join("recipes/hubspot.yaml"),
        }])
        .to_string();
        // Events older than the endpoint are neither sent nor recorded.
        site.publish(ZOE, lead(ZOE, "before the endpoint")?).await?;
        nats.provision(&["--webhooks", &webhooks]).await?;
        let flags = vec![
            format!("--webhooks={webhooks}"),
            format!("--webhooks-secrets-dir={}", secrets.path().display()),
            "--webhooks-allow-private".to_owned(),
        ];
        Ok(Self {
            _running: Running::start(&nats, mail_server.port, &flags).await?,
            site,
            nats,
            mail_server,
            flags,
            _secrets: secrets,
        })
    }

    async fn write(&self, email: &str, message: &str) -> anyhow::Result<()> {
        self.site.publish(email, lead(email, message)?).await.map(drop)
    }
}

fn lead(email: &str, message: &str) -> anyhow::Result<ContactReceived> {
    Ok(ContactReceived {
        name: "Zoë Müller".to_owned(),
        email: EmailAddress::parse(email)?,
        message: message.to_owned(),
        ..EventData::sample(OffsetDateTime::UNIX_EPOCH)
    })
}

#[tokio::test]
async fn leads_reach_the_crm_once_in_each_persons_order() -> anyhow::Result<()> {
    const PEOPLE: usize = LEADS / 4;
    let contacts = Arc::new(Mutex::new(Contacts::default()));
    let stored = contacts.clone();
    let crm = HttpStandIn::start(move |asked| {
        let mut contacts = stored.lock().unwrap_or_else(PoisonError::into_inner);
        contacts.answer(asked)
    })
    .await?;
    let sales = Sales::with(&crm, &["contact.received"]).await?;
    // Forbids direct reads, because a lagging replica may lack the previous lead.
    sales.site.forbid_reading_of_copies().await?;
    let _another = Running::start(&sales.nats, sales.mail_server.port, &sales.flags).await?;
    for number in 0..LEADS {
        let email = format!("person-{}@example.org", number % PEOPLE);
        sales.write(&email, &format!("lead {number:06}")).await?;
    }
    // After three failures in a row the consumer pauses for up to 14 s.
    let within = SOON + Duration::from_secs(5 * LEADS as u64);
    let notes = || {
        let contacts = contacts.lock().unwrap_or_else(PoisonError::into_inner);
        contacts.notes.clone()
    };
    eventually("all leads are there", within, async || {
        let told: HashSet<String> = notes().iter().map(|(_, text)| lead_of(text)).collect();
        (told.len() == LEADS).then_some(())
    })
    .await?;
    // A duplicate would arrive within this time.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut of_each: HashMap<String, Vec<String>> = HashMap::new();
    for (contact, text) in notes() {
        of_each.entry(contact).or_default().push(lead_of(&text));
    }
    assert_eq!(of_each.len(), PEOPLE, "each person is one contact");
    assert_eq!(
        of_each.values().map(Vec::len).sum::<usize>(),
        LEADS,
        "each lead is one note"
    );
    for leads in of_each.values() {
        assert!(leads.is_sorted(), "{leads:?}");
    }
    assert!(sales.nats.dead_letters().await?.is_empty());
    Ok(())
}

fn lead_of(text: &str) -> String {
    text.split("<br>").next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn leads_wait_for_a_retried_lead_not_a_dead_letter() -> anyhow::Result<()> {
    let crm = HttpStandIn::start(|asked| {
        let tries = |word: &str| body_of(asked)["properties"].to_string().contains(word);
        match asked.url.path() {
            "/crm/v3/objects/contacts/batch/upsert" => {
                Reply::Answer(200, json!({ "results": [{ "id": "1" }] }))
            }
            "/crm/v3/objects/notes" if tries("refused") => {
                Reply::Answer(400, json!({ "category": "VALIDATION_ERROR" }))
            }
            "/crm/v3/objects/notes" if tries("slow") => Reply::Answer(408, Value::Null),
            _ => Reply::Answer(201, json!({ "total": 0 })),
        }
    })
    .await?;
    let sales = Sales::with(&crm, &["contact.received"]).await?;
    let notes = || -> Vec<String> {
        let asked = crm.asked().into_iter();
        let notes = asked.filter(|asked| asked.url.path() == "/crm/v3/objects/notes");
        let texts = notes.map(|note| body_of(&note)["properties"]["hs_note_body"].clone());
        texts
            .map(|text| lead_of(text.as_str().unwrap_or_default()))
            .collect()
    };
    sales.write("zoe@example.org", "refused").await?;
    sales.write("zoe@example.org", "after it").await?;
    let is_told = |lead: &str| notes().iter().any(|note| note == lead);
    until("the one behind what is given up", || is_told("after it")).await?;
    assert_eq!(notes(), ["refused", "after it"]);
    assert_eq!(sales.nats.dead_letters().await?.len(), 1);

    sales.write("zoe@example.org", "slow").await?;
    sales.write("zoe@example.org", "behind").await?;
    sales.write("asha@example.org", "of somebody else").await?;
    until("somebody else's", || is_told("of somebody else")).await?;
    until("a second attempt", || {
        notes().iter().filter(|note| *note == "slow").count() > 1
    })
    .await?;
    assert!(!is_told("behind"), "{:?}", notes());
    Ok(())
}

#[tokio::test]
async fn an_erasure_reaches_the_crm_by_person_id() -> anyhow::Result<()> {
    let crm = HttpStandIn::start(|asked| match asked.url.path() {
        "/crm/v3/objects/contacts/gdpr-delete" => Reply::Answer(204, Value::Null),
        _ => Reply::Answer(200, json!({ "results": [{ "id": "512" }], "total": 1 })),
    })
    .await?;
    let heard = &["contact.received", "person.erased"][..];
    let sales = Sales::with(&crm, heard).await?;
    sales.write("zoe@example.org", "Two cameras.").await?;
    let first = eventually("the contact", SOON, async || crm.asked().into_iter().next()).await?;
    let known = body_of(&first)["inputs"][0]["properties"]["site_person_id"].clone();
    let erased = Instant::now();
    sales.site.publish("zoe@example.org", PersonErased {}).await?;
    let erasure = eventually("the erasure", SOON, async || {
        let mut asked = crm.asked().into_iter();
        asked.find(|asked| asked.url.path().ends_with("gdpr-delete"))
    })
    .await?;
    assert_eq!(body_of(&erasure), json!({ "objectId": "512" }));
    // An erasure is delayed by fifteen times the shortest backoff.
    assert!(erased.elapsed() > 15 * HURRY, "{:?}", erased.elapsed());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let asked = crm.asked().into_iter();
    let searches = asked.filter(|asked| asked.url.path().ends_with("contacts/search"));
    let wanted: Vec<Value> = searches
        .map(|search| body_of(&search)["filterGroups"][0]["filters"][0]["value"].clone())
        .collect();
    assert_eq!(wanted, [known]);
    Ok(())
}

#[tokio::test]
async fn each_attempt_is_recorded_without_personal_data() -> anyhow::Result<()> {
    let crm = HttpStandIn::start(|_| Reply::Answer(400, json!({ "category": "VALIDATION_ERROR" }))).await?;
    let sales = Sales::with(&crm, &["contact.received"]).await?;
    sales.write("zoe@example.org", "Two cameras.").await?;
    let endpoints = sales.site.bucket(ENDPOINTS_BUCKET).await?;
    let noted: Value = eventually("the attempt is noted", SOON, async || {
        let noted = endpoints.get("crm_attempts").await.ok()??;
        serde_json::from_slice(&noted).ok()
    })
    .await?;
    assert_eq!(noted[0]["status"], 400);
    assert_eq!(noted[0]["attempt"], 1);
    let said = "step contact: the receiver answered 400 (VALIDATION_ERROR)";
    assert_eq!(noted[0]["error"], said);
    assert!(!noted.to_string().contains("zoe"), "{noted}");
    Ok(())
}
