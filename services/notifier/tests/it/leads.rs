//! Leads through a recipe: each once, a person's in order, whatever the CRM answers.

use std::{
    collections::{HashMap, HashSet},
    fs,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use site_broker::{ENDPOINTS_BUCKET, RetryPolicy};
use site_events::event::{ContactReceived, PersonErased};
use tempfile::TempDir;
use testkit::{
    HttpStandIn, MailServer, Nats, ScriptedReply, eventually,
    http_stand_in::{Reply, Request, body_of},
    root,
};
use visitor::EmailAddress;

use crate::running::{HURRY, Running, SOON, Site, settings};

const ZOE: &str = "zoe@example.org";
const LEADS: usize = 60;
/// Successful requests before each series of failures.
const WELL_FOR: usize = 20;
const FAILS_FOR: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Retry after a second.
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
        let (turn, within) = (
            self.requests / (WELL_FOR + FAILS_FOR),
            self.requests % (WELL_FOR + FAILS_FOR),
        );
        (within >= WELL_FOR).then(|| FAULTS[turn % FAULTS.len()])
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
        let retries = RetryPolicy {
            initial_backoff: HURRY,
            ..RetryPolicy::DEFAULT
        };
        Self::retrying(hubspot, events, retries).await
    }

    async fn retrying(hubspot: &HttpStandIn, events: &[&str], retries: RetryPolicy) -> anyhow::Result<Self> {
        let nats = Nats::start().await?;
        let mail_server = MailServer::start(|_, _| ScriptedReply::Take).await?;
        let secrets = tempfile::tempdir()?;
        fs::write(secrets.path().join("hubspot-token"), "token")?;
        let webhooks = json!([{
            "name": "crm", "url": hubspot.url, "events": events, "format": "template",
            "recipe": root().join("recipes/hubspot.yaml"),
        }])
        .to_string();
        let site = Site::on(&nats).await?;
        // Events from before the endpoint are neither sent nor recorded.
        site.publish(ZOE, lead(ZOE, "before the endpoint")?).await?;
        nats.provision(&["--webhooks", &webhooks]).await?;
        let flags = vec![
            format!("--webhooks={webhooks}"),
            format!("--webhooks-secrets-dir={}", secrets.path().display()),
            "--webhooks-allow-private".to_owned(),
        ];
        let mut settings = settings(&nats, mail_server.port, &flags)?;
        settings.retries = retries;
        Ok(Self {
            _running: Running::start_with(settings).await?,
            site,
            nats,
            mail_server,
            flags,
            _secrets: secrets,
        })
    }

    async fn another(&self) -> anyhow::Result<Running> {
        Running::start(&self.nats, self.mail_server.port, &self.flags).await
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
        attribution: None,
    })
}

async fn failing_hubspot(contacts: Arc<Mutex<Contacts>>) -> anyhow::Result<HttpStandIn> {
    HttpStandIn::start(move |asked| {
        let mut contacts = contacts.lock().unwrap_or_else(PoisonError::into_inner);
        match contacts.fault() {
            None => contacts.store(asked),
            Some(fault) => {
                if fault.stores() {
                    contacts.store(asked);
                }
                fault.reply()
            }
        }
    })
    .await
}

#[tokio::test]
async fn each_lead_is_in_the_crm_once_and_each_persons_in_their_order_whatever_it_answers()
-> anyhow::Result<()> {
    const PEOPLE: usize = LEADS / 4;
    let contacts = Arc::new(Mutex::new(Contacts::default()));
    let crm = failing_hubspot(contacts.clone()).await?;
    let sales = Sales::with(&crm, &["contact.received"]).await?;
    let _another = sales.another().await?;
    for number in 0..LEADS {
        let email = format!("person-{}@example.org", number % PEOPLE);
        sales.write(&email, &format!("lead {number:06}")).await?;
    }
    // After three failures in a row the consumer pauses for up to 14 s.
    let within = SOON + Duration::from_secs(2 * LEADS as u64);
    let notes = || {
        contacts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .notes
            .clone()
    };
    eventually("all leads are there", within, async || {
        let told: HashSet<String> = notes().iter().map(|(_, text)| lead_of(text)).collect();
        (told.len() == LEADS).then_some(())
    })
    .await?;
    // A duplicate would have come by now.
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

/// Our timeout ends a request without an answer. The CRM may have stored it.
#[tokio::test]
async fn a_lead_is_in_the_crm_once_though_it_says_nothing_until_we_hang_up() -> anyhow::Result<()> {
    const LEADS: usize = 6;
    let contacts = Arc::new(Mutex::new(Contacts::default()));
    let stored = contacts.clone();
    let crm = HttpStandIn::start(move |asked| {
        let mut contacts = stored.lock().unwrap_or_else(PoisonError::into_inner);
        contacts.requests += 1;
        match contacts.requests {
            // The first unanswered request is not stored, the second is.
            2 => Reply::Silence,
            4 => {
                contacts.store(asked);
                Reply::Silence
            }
            _ => contacts.store(asked),
        }
    })
    .await?;
    let sales = Sales::with(&crm, &["contact.received"]).await?;
    for number in 0..LEADS {
        let email = format!("person-{}@example.org", number % 2);
        sales.write(&email, &format!("lead {number:06}")).await?;
    }
    let told = || {
        let contacts = contacts.lock().unwrap_or_else(PoisonError::into_inner);
        contacts
            .notes
            .iter()
            .map(|(_, text)| lead_of(text))
            .collect::<Vec<_>>()
    };
    eventually("all leads are there", 3 * SOON, async || {
        (told().iter().collect::<HashSet<_>>().len() == LEADS).then_some(())
    })
    .await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(told().len(), LEADS, "{:?}", told());
    for person in 0..2 {
        let leads = told()
            .into_iter()
            .filter(|lead| lead.ends_with(['0', '2', '4']) == (person == 0));
        assert!(leads.collect::<Vec<_>>().is_sorted(), "{:?}", told());
    }
    Ok(())
}

fn lead_of(text: &str) -> String {
    text.split("<br>").next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_persons_next_lead_waits_for_one_that_is_tried_again_and_not_for_one_that_is_given_up()
-> anyhow::Result<()> {
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
        notes
            .map(|note| {
                lead_of(
                    body_of(&note)["properties"]["hs_note_body"]
                        .as_str()
                        .unwrap_or_default(),
                )
            })
            .collect()
    };
    sales.write("zoe@example.org", "refused").await?;
    sales.write("zoe@example.org", "after it").await?;
    eventually("the one behind what is given up", SOON, async || {
        notes().contains(&"after it".to_owned()).then_some(())
    })
    .await?;
    assert_eq!(notes(), ["refused", "after it"]);
    assert_eq!(sales.nats.dead_letters().await?.len(), 1);

    sales.write("zoe@example.org", "slow").await?;
    sales.write("zoe@example.org", "behind").await?;
    sales.write("asha@example.org", "of somebody else").await?;
    eventually("somebody else's", SOON, async || {
        notes().contains(&"of somebody else".to_owned()).then_some(())
    })
    .await?;
    eventually("a second attempt", SOON, async || {
        (notes().iter().filter(|note| *note == "slow").count() > 1).then_some(())
    })
    .await?;
    assert!(!notes().contains(&"behind".to_owned()), "{:?}", notes());
    Ok(())
}

/// A waiting lead is checked twice a second, and the broker counts each check as an attempt.
#[tokio::test]
async fn a_lead_that_waited_for_its_turn_is_tried_again_soon() -> anyhow::Result<()> {
    /// With these backoffs the first lead is deferred for 8 s.
    const FIRST_FAILS: usize = 4;
    let tried = Arc::new(Mutex::new((0, 0)));
    let tries = tried.clone();
    let crm = HttpStandIn::start(move |asked| {
        let has = |word: &str| body_of(asked)["properties"].to_string().contains(word);
        let mut tries = tries.lock().unwrap_or_else(PoisonError::into_inner);
        let fails = match asked.url.path() {
            "/crm/v3/objects/notes" if has("first") => {
                tries.0 += 1;
                tries.0 <= FIRST_FAILS
            }
            "/crm/v3/objects/notes" if has("second") => {
                tries.1 += 1;
                tries.1 == 1
            }
            _ => false,
        };
        if fails {
            return Reply::Answer(408, Value::Null);
        }
        Reply::Answer(200, json!({ "id": "1", "results": [{ "id": "1" }], "total": 0 }))
    })
    .await?;
    let sales = Sales::with(&crm, &["contact.received"]).await?;
    let started = Instant::now();
    sales.write(ZOE, "first").await?;
    sales.write(ZOE, "second").await?;
    let second_tries = |at_least: usize| {
        let tried = tried.clone();
        async move || {
            let second = tried.lock().unwrap_or_else(PoisonError::into_inner).1;
            (second >= at_least).then_some(())
        }
    };
    eventually("the second is tried", SOON, second_tries(1)).await?;
    assert!(
        started.elapsed() > 7 * HURRY,
        "each backoff of the first is as long as it is old"
    );
    eventually("it is tried again", SOON, second_tries(2)).await
}

/// In a cluster every replica answers direct reads, and one that lags may lack the previous lead.
#[tokio::test]
async fn the_order_of_a_persons_leads_is_read_at_the_streams_leader() -> anyhow::Result<()> {
    const LEADS: usize = 4;
    let contacts = Arc::new(Mutex::new(Contacts::default()));
    let stored = contacts.clone();
    let crm = HttpStandIn::start(move |asked| {
        if asked.url.path() == "/crm/v3/objects/notes"
            && body_of(asked)["properties"].to_string().contains("slow")
        {
            return Reply::Answer(408, Value::Null);
        }
        stored.lock().unwrap_or_else(PoisonError::into_inner).store(asked)
    })
    .await?;
    let sales = Sales::with(&crm, &["contact.received"]).await?;
    sales.site.forbid_reading_of_copies().await?;
    // While it is in flight, later leads are looked up in the stream.
    sales.write("asha@example.org", "slow").await?;
    for number in 0..LEADS {
        sales
            .write("zoe@example.org", &format!("lead {number:06}"))
            .await?;
    }
    let told = || {
        let contacts = contacts.lock().unwrap_or_else(PoisonError::into_inner);
        let notes = contacts.notes.iter();
        notes.map(|(_, text)| lead_of(text)).collect::<Vec<_>>()
    };
    eventually("all others are there", SOON, async || {
        (told().len() == LEADS).then_some(())
    })
    .await?;
    assert!(told().is_sorted(), "{:?}", told());
    Ok(())
}

#[tokio::test]
async fn that_a_person_was_erased_reaches_the_crm_by_the_id_that_it_knows() -> anyhow::Result<()> {
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
    // It waits for fifteen of the shortest backoffs.
    assert!(erased.elapsed() > 15 * HURRY, "{:?}", erased.elapsed());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let asked = crm.asked().into_iter();
    let searches = asked.filter(|asked| asked.url.path().ends_with("contacts/search"));
    let wanted: Vec<Value> = searches
        .map(|search| body_of(&search)["filterGroups"][0]["filters"][0]["value"].clone())
        .collect();
    assert_eq!(wanted, [known]);
    // The first attempt waited for leads that could be in flight.
    let endpoints = sales.site.bucket(ENDPOINTS_BUCKET).await?;
    eventually("the attempt at the erasure is noted", SOON, async || {
        let noted: Value = serde_json::from_slice(&endpoints.get("crm_attempts").await.ok()??).ok()?;
        noted
            .as_array()?
            .iter()
            .any(|attempt| attempt["attempt"] == 2)
            .then_some(())
    })
    .await
}

#[tokio::test]
async fn each_attempt_is_noted_with_its_status_and_no_word_of_the_person() -> anyhow::Result<()> {
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
    let said = "step contact: the receiver answered 400 (VALIDATION_ERROR), which is never taken";
    assert_eq!(noted[0]["error"], said);
    assert!(!noted.to_string().contains("zoe"), "{noted}");
    Ok(())
}
