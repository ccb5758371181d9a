//! `sitectl person`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use async_nats::{
    HeaderMap,
    jetstream::{
        self,
        consumer::PullConsumer,
        message::{PublishMessage, StreamMessage},
    },
};
use futures_util::{StreamExt as _, TryStreamExt as _, future::try_join_all};
use resumes::{ResumeKey, ResumeStore, UploadRecords};
use serde_json::{Value, json};
use site_broker::{DELIVERIES_BUCKET, SUBSCRIBERS_BUCKET, VISITOR_MAILS_BUCKET};
use site_events::{
    Channel, EventType, IssueId, SITE_STREAM,
    event::{CareersApplied, NewsletterRequested, Scan, StoredResume},
    headers::{DEAD_LETTER_ATTEMPTS, DEAD_LETTER_ERROR},
    subjects,
};
use testkit::{Nats, S3, User, eventually};
use time::macros::datetime;
use uuid::Uuid;
use visitor::{EmailAddress, InboxId, token::TokenKey};

use crate::tool::{PERSON_KEY, message, person, publish, refused, told, told_json};

const TOKEN_KEY: &str = "a token key of thirty-two bytes or more";

/// Name, address, and another spelling of the address.
struct Somebody {
    name: &'static str,
    email: &'static str,
    otherwise: &'static str,
}

const ASHA: Somebody = Somebody {
    name: "Asha Rao",
    email: "Asha.Rao@example.com",
    otherwise: "asha.rao@EXAMPLE.com",
};
const ZOE: Somebody = Somebody {
    name: "Zoe Miller",
    email: "zoe@example.org",
    otherwise: "Zoe@Example.org",
};

/// Records that [`Site::remember`] leaves per person.
const HELD: [(&str, u64); 8] = [
    ("events", 4),
    ("deadLetters", 1),
    ("sendings", 1),
    ("subscriber", 1),
    ("deliveries", 3),
    ("uploads", 2),
    ("visitorMails", 1),
    ("resumes", 2),
];

struct Site {
    nats: Nats,
    s3: S3,
    flags: Vec<String>,
}

impl Site {
    /// Both people have data in every store.
    async fn start() -> anyhow::Result<Self> {
        let (nats, s3) = (Nats::start().await?, S3::start().await?);
        let key = std::iter::once(format!("--person-key={PERSON_KEY}"));
        let flags = key.chain(nats.flags(User::Operator)).chain(s3.flags()).collect();
        let site = Self { nats, s3, flags };
        site.remember(&ASHA).await?;
        site.remember(&ZOE).await?;
        Ok(site)
    }

    async fn remember(&self, somebody: &Somebody) -> anyhow::Result<()> {
        let (email, id) = (somebody.email, person(somebody.email)?);
        let context = jetstream::new(self.nats.client(User::Operator).await?);
        let contact = publish(&self.nats, email, message(somebody.name, email)?).await?;
        let request = publish(&self.nats, email, requested(email)?).await?;
        let resume = self.store_resumes(somebody).await?;
        publish(&self.nats, email, applied(somebody, &resume)?).await?;

        let event = json!({ "id": contact, "data": { "name": somebody.name, "email": email } });
        let replay = subjects::replay(Channel::SalesLead.name(), id.as_str());
        context.publish(replay, event.to_string().into()).await?.await?;

        // The event of this dead letter has expired from the stream.
        let forgotten = Uuid::new_v4();
        let event = json!({ "id": forgotten, "data": { "name": somebody.name, "email": email } });
        let mut headers = HeaderMap::new();
        headers.insert(DEAD_LETTER_ERROR, "550 No such user");
        headers.insert(DEAD_LETTER_ATTEMPTS, "1");
        let dead = subjects::dead_letter(Channel::NewsletterWelcome.name(), id.as_str());
        let sent = context.publish_with_headers(dead, headers, event.to_string().into());
        sent.await?.await?;

        let issue = IssueId::named("smart-home");
        let sending = json!({ "id": Uuid::new_v4(), "subject": id, "issue": issue });
        let subject = subjects::sending(&issue.to_string(), id.as_str());
        context
            .publish(subject, sending.to_string().into())
            .await?
            .await?;

        let subscribers = context.get_key_value(SUBSCRIBERS_BUCKET).await?;
        for state in ["pending", "confirmed"] {
            let record = json!({ "email": email, "state": state });
            subscribers.put(id.as_str(), record.to_string().into()).await?;
        }
        let deliveries = context.get_key_value(DELIVERIES_BUCKET).await?;
        for (event, channel) in [
            (contact, Channel::SalesLead),
            (request, Channel::NewsletterConfirmation),
            (forgotten, Channel::RecruiterApplication),
        ] {
            let key = format!("{event}.{}", channel.name());
            deliveries.put(key, "2026-11-20T12:00:00Z".into()).await?;
        }
        let visitor_mails = context.get_key_value(VISITOR_MAILS_BUCKET).await?;
        let counted = json!({ "mails": { format!("{contact}.{}", Channel::ContactAcknowledgement.name()): 1_795_176_000 } });
        let inbox = InboxId::of(&EmailAddress::parse(email)?, &TokenKey::new(TOKEN_KEY)?);
        visitor_mails
            .put(inbox.as_str(), counted.to_string().into())
            .await?;
        Ok(())
    }

    /// One of the two has no event. Returns the other's key.
    async fn store_resumes(&self, somebody: &Somebody) -> anyhow::Result<ResumeKey> {
        let store = ResumeStore::new(&self.s3.settings()?);
        let context = jetstream::new(self.nats.client(User::Operator).await?);
        let records = UploadRecords::open(&context).await?;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("cv.pdf");
        fs::write(&file, format!("%PDF-1.7 {} {}", somebody.name, somebody.email))?;
        let new = || anyhow::Ok(ResumeKey::new(&person(somebody.email)?, Uuid::new_v4()));
        let (key, provisional) = (new()?, new()?);
        for key in [&key, &provisional] {
            records.begin(key).await?;
            store.put(key, &file, "application/pdf").await?;
        }
        Ok(key)
    }

    async fn remember_others(&self, count: usize) -> anyhow::Result<()> {
        let context = jetstream::new(self.nats.client(User::Operator).await?);
        let mut acks = Vec::new();
        for number in 0..count {
            let id = person(&format!("other-{number}@example.net"))?;
            let [event, inbox] = [Uuid::new_v4(), Uuid::new_v4()];
            for (subject, payload) in [
                (EventType::ContactReceived.subject(&id), json!({ "id": event })),
                (
                    subjects::dead_letter("contact-received-sales", id.as_str()),
                    json!({}),
                ),
                (
                    format!("$KV.{SUBSCRIBERS_BUCKET}.{id}"),
                    json!({ "state": "pending" }),
                ),
                (
                    format!("$KV.{DELIVERIES_BUCKET}.{event}.contact-received-sales"),
                    json!(""),
                ),
                (
                    format!("$KV.{VISITOR_MAILS_BUCKET}.{inbox}"),
                    json!({ "mails": {} }),
                ),
            ] {
                let sent = context.publish(subject, payload.to_string().into()).await?;
                acks.push(sent.into_future());
            }
        }
        try_join_all(acks).await?;
        Ok(())
    }

    async fn asked_by_an_export(&self) -> anyhow::Result<u64> {
        let folder = tempfile::tempdir()?;
        let to = folder.path().display().to_string();
        let before = self.nats.received().await?;
        let done = told_json(&["person", "export", ASHA.email, &to], &self.flags)?;
        assert_all_held(&done["exported"]);
        Ok(self.nats.received().await? - before)
    }

    async fn everything(&self) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        let mut everything = Vec::new();
        for message in self.messages().await? {
            let headers = message.headers.iter();
            let mut headers: Vec<String> = headers.map(|header| format!("{header:?}")).collect();
            headers.sort();
            let mut bytes = format!("{} {headers:?} ", message.subject).into_bytes();
            bytes.extend_from_slice(&message.payload);
            everything.push((message.subject.to_string(), bytes));
        }
        for (key, content) in self.s3.objects()? {
            let bytes = [key.as_bytes(), &content].concat();
            everything.push((key, bytes));
        }
        Ok(everything)
    }

    async fn messages(&self) -> anyhow::Result<Vec<StreamMessage>> {
        let context = jetstream::new(self.nats.client(User::Operator).await?);
        let mut messages = Vec::new();
        let mut names: Vec<String> = context.stream_names().try_collect().await?;
        names.sort();
        // The state of endpoints is no personal data.
        names.retain(|name| name != "KV_endpoints");
        assert_eq!(
            names,
            [
                "DEAD_LETTERS",
                "KV_deliveries",
                "KV_newsletter-issues",
                "KV_subscribers",
                "KV_uploads",
                "KV_visitor-mails",
                "SENDINGS",
                "SITE"
            ]
        );
        for name in names {
            let mut stream = context.get_stream(name).await?;
            let state = &stream.info().await?.state;
            for number in state.first_sequence..=state.last_sequence {
                messages.extend(stream.get_raw_message(number).await.ok());
            }
        }
        Ok(messages)
    }

    async fn traces_of(&self, somebody: &Somebody) -> anyhow::Result<Vec<String>> {
        let everything = self.everything().await?;
        let tells = |bytes: &[u8]| tells_of(somebody, bytes);
        let mut traces = Vec::new();
        for (name, bytes) in everything {
            if tells(&bytes)? {
                traces.push(name);
            }
        }
        Ok(traces)
    }
}

fn tells_of(somebody: &Somebody, bytes: &[u8]) -> anyhow::Result<bool> {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    let id = person(somebody.email)?;
    let known = [somebody.name, somebody.email, id.as_str()];
    Ok(known.iter().any(|known| text.contains(&known.to_lowercase())))
}

fn requested(email: &str) -> anyhow::Result<NewsletterRequested> {
    Ok(NewsletterRequested {
        email: EmailAddress::parse(email)?,
        expires: datetime!(2126-11-20 12:00 UTC),
        attribution: None,
    })
}

fn applied(somebody: &Somebody, resume: &ResumeKey) -> anyhow::Result<CareersApplied> {
    Ok(CareersApplied {
        name: somebody.name.to_owned(),
        email: EmailAddress::parse(somebody.email)?,
        phone: None,
        position: "Backend Intern".to_owned(),
        experience: None,
        cover_letter: "I would like to.".to_owned(),
        resume: Some(StoredResume {
            key: resume.to_string(),
            file_name: "my résumé.pdf".to_owned(),
            content_type: "application/pdf".to_owned(),
            size_bytes: 8,
            sha256: String::new(),
            scan: Scan::NotScanned,
            active_content: Vec::new(),
        }),
        attribution: None,
    })
}

fn assert_all_held(counts: &Value) {
    for (place, count) in HELD {
        assert_eq!(counts[place], count, "{place}: {counts}");
    }
}

fn read(path: PathBuf) -> anyhow::Result<Value> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

fn files_with(folder: &Path, words: &str) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_with(&path, words)?);
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path)?).to_lowercase();
            if text.contains(&words.to_lowercase()) {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    Ok(found)
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_is_held_of_a_person_is_exported_and_nothing_of_another() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let folder = tempfile::tempdir()?;
    let to = folder.path().join("asha");
    let words = ["person", "export", ASHA.otherwise, &to.to_string_lossy()];
    let done = told_json(&words, &site.flags)?;
    assert_all_held(&done["exported"]);

    let events = read(to.join("events.json"))?;
    assert_eq!(events.as_array().map(Vec::len), Some(4));
    assert_eq!(
        events[0]["event"]["data"]["message"],
        "Two cameras,\none question."
    );
    let letters = read(to.join("dead-letters.json"))?;
    assert_eq!(letters[0]["reason"], "550 No such user");
    assert_eq!(letters[0]["event"]["data"]["email"], ASHA.email);
    assert_eq!(read(to.join("subscriber.json"))?["value"]["state"], "confirmed");
    assert_eq!(
        read(to.join("deliveries.json"))?.as_array().map(Vec::len),
        Some(3)
    );
    let counted = read(to.join("visitor-mails.json"))?;
    assert_eq!(counted.as_array().map(Vec::len), Some(1), "{counted}");
    let mut names = Vec::new();
    for attempt in fs::read_dir(to.join("resumes"))? {
        for resume in fs::read_dir(attempt?.path())? {
            let resume = resume?;
            let content = fs::read_to_string(resume.path())?;
            assert_eq!(content, format!("%PDF-1.7 {} {}", ASHA.name, ASHA.email));
            names.push(resume.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    assert_eq!(names, ["my_r_sum_.pdf", "resume"]);
    for needle in [ZOE.name, ZOE.email, person(ZOE.email)?.as_str()] {
        assert_eq!(files_with(&to, needle)?, [""; 0]);
    }
    assert_eq!(site.everything().await?.len(), 30, "an export takes nothing away");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_asks_as_much_of_the_broker_however_much_is_stored_of_others() -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.remember_others(10).await?;
    let asked = site.asked_by_an_export().await?;
    site.remember_others(1_000).await?;
    let asked_of_many = site.asked_by_an_export().await?;
    assert!(
        asked_of_many <= asked + 3,
        "{asked_of_many}, not {asked}: everybody's mails of the day are read in batches"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_an_erased_person_and_all_of_the_other() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    let all: Vec<_> = site.everything().await?;
    let of_zoe = site.traces_of(&ZOE).await?;
    assert_eq!(all.len(), 30);

    let rehearsed = told_json(&["person", "erase", ASHA.otherwise], &site.flags)?;
    assert_all_held(&rehearsed["wouldErase"]);
    assert!(site.everything().await? == all, "a rehearsal changes nothing");

    let done = told_json(&["person", "erase", ASHA.otherwise, "--yes"], &site.flags)?;
    assert_all_held(&done["erased"]);
    let told = EventType::PersonErased.subject(&person(ASHA.email)?);
    assert_eq!(site.traces_of(&ASHA).await?, std::slice::from_ref(&told));
    assert_eq!(site.traces_of(&ZOE).await?, of_zoe);
    let mut left = site.everything().await?;
    assert_eq!(left.len(), 16);
    left.retain(|(name, _)| *name != told);
    assert!(
        left.iter().all(|thing| all.contains(thing)),
        "what is left is unchanged"
    );
    let of_zoe = told_json(&["person", "erase", ZOE.otherwise], &site.flags)?;
    assert_all_held(&of_zoe["wouldErase"]);

    site.nats.stop().await?;
    let id = person(ASHA.email)?;
    for known in [ASHA.email, ASHA.name, id.as_str()] {
        let mut files = files_with(&site.nats.servers[0].disk(), known)?;
        // The broker does not overwrite a bucket's records. It frees their space.
        let freed = ["KV_subscribers", "KV_uploads", "KV_visitor-mails"];
        files.retain(|file| !freed.iter().any(|bucket| file.contains(bucket)));
        if known == id.as_str() {
            // The event of the erasure contains the id alone.
            files.retain(|file| !file.contains("/SITE/"));
        }
        assert_eq!(files, [""; 0], "{known}");
    }
    assert!(
        !files_with(&site.nats.servers[0].disk(), ZOE.email)?.is_empty(),
        "the files can be searched"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_of_whom_nothing_is_held_is_no_error() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let done = told(&["person", "erase", "nobody@example.net", "--yes"], &site.flags)?;
    assert!(done.contains("events: 0 (stream SITE)"), "{done}");
    // The erasure is published all the same: receivers may hold data.
    assert_eq!(site.everything().await?.len(), 31);

    let folder = tempfile::tempdir()?;
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    let to = folder.path().display().to_string();
    told(&["person", "export", "nobody@example.net", &to], &site.flags)?;
    assert!(!folder.path().join("subscriber.json").exists());
    assert_eq!(read(folder.path().join("events.json"))?, json!([]));
    // What was open to all is not any more.
    assert_eq!(fs::metadata(folder.path())?.permissions().mode() & 0o777, 0o700);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_sign_up_that_expired_nothing_is_told() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let email = "late@example.net";
    let context = jetstream::new(site.nats.client(User::Operator).await?);
    let record = json!({ "email": email, "state": "pending" }).to_string();
    let subject = format!("$KV.{SUBSCRIBERS_BUCKET}.{}", person(email)?);
    context
        .publish(subject.clone(), record.clone().into())
        .await?
        .await?;
    let held = || anyhow::Ok(told_json(&["person", "erase", email], &site.flags)?["wouldErase"].clone());
    assert_eq!(held()?["subscriber"], 1);
    let passing = PublishMessage::build()
        .payload(record.into())
        .ttl(Duration::from_secs(1));
    context.send_publish(subject, passing).await?.await?;
    eventually("it expires", Duration::from_secs(45), async || {
        (held().ok()?["subscriber"] == 0).then_some(())
    })
    .await?;

    let folder = tempfile::tempdir()?;
    let to = folder.path().display().to_string();
    told(&["person", "export", email, &to], &site.flags)?;
    for needle in [email, person(email)?.as_str()] {
        assert_eq!(files_with(folder.path(), needle)?, [""; 0]);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_is_said_in_a_sentence_before_anything_is_done() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    let folder = tempfile::tempdir()?;
    let to = folder.path().display().to_string();
    let said = refused(&["person", "erase", "asha", "--yes"], &site.flags)?;
    assert!(said.contains("e-mail address"), "{said}");

    fs::write(folder.path().join("notes.txt"), "mine")?;
    let said = refused(&["person", "export", ASHA.email, &to], &site.flags)?;
    assert!(said.contains("is not empty"), "{said}");
    assert_eq!(fs::read_dir(folder.path())?.count(), 1);

    site.s3.stop().await?;
    let said = refused(&["person", "erase", ASHA.email, "--yes"], &site.flags)?;
    assert!(said.contains("S3_ENDPOINT"), "{said}");
    site.s3.resume_from_disk().await?;
    assert_eq!(site.everything().await?.len(), 30);

    site.nats.stop().await?;
    let said = refused(&["person", "erase", ASHA.email, "--yes"], &site.flags)?;
    assert!(said.contains("NATS_URL"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn that_a_person_was_erased_is_told_without_a_word_of_them_and_outlives_all_else() -> anyhow::Result<()>
{
    let site = Site::start().await?;
    let erase = || told_json(&["person", "erase", ASHA.otherwise, "--yes"], &site.flags);
    let (first, again) = (erase()?, erase()?);
    assert_all_held(&first["erased"]);
    for (place, _) in HELD {
        assert_eq!(again["erased"][place], 0, "nothing is held, and it is told again");
    }
    let events = site.nats.events().await?;
    let told: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "site.person.erased.v1")
        .collect();
    assert_eq!(told.len(), 2);
    for (event, done) in told.iter().zip([first, again]) {
        assert_eq!(event["subject"], person(ASHA.email)?.as_str());
        assert_eq!(event["data"], json!({}));
        assert_eq!(done["told"], event["id"]);
    }
    let folder = tempfile::tempdir()?;
    let to = folder.path().display().to_string();
    let held = told_json(&["person", "export", ASHA.email, &to], &site.flags)?;
    assert_eq!(held["exported"]["events"], 0);
    Ok(())
}

const ENDPOINTS: &str = r#"[
    {"name": "crm", "url": "https://crm.example", "events": ["contact.received", "person.erased"], "format": "slack"},
    {"name": "chat", "url": "https://chat.example", "events": ["contact.received"], "format": "slack"},
    {"name": "off", "url": "https://off.example", "events": ["contact.received", "person.erased"], "format": "slack"},
    {"name": "ats", "url": "https://ats.example", "events": ["careers.applied"], "format": "slack"}
]"#;

async fn with_endpoints(endpoints: &str) -> anyhow::Result<(Nats, S3, Vec<String>)> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    nats.provision(&["--webhooks", endpoints]).await?;
    let key = std::iter::once(format!("--person-key={PERSON_KEY}"));
    let flags = key.chain(nats.flags(User::Operator)).chain(s3.flags()).collect();
    Ok((nats, s3, flags))
}

/// The first of three messages went to every endpoint, one of them since removed. The second failed at one
/// and is unanswered at another. The third has no records.
async fn send_to_endpoints(nats: &Nats, somebody: &Somebody) -> anyhow::Result<()> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    let (email, id) = (somebody.email, person(somebody.email)?);
    let sent = publish(nats, email, message(somebody.name, email)?).await?;
    let deliveries = context.get_key_value(DELIVERIES_BUCKET).await?;
    for endpoint in ["crm", "chat", "off", "former"] {
        let record = format!("{sent}.webhook-{endpoint}");
        deliveries.put(record, "2026-11-20T12:00:00Z".into()).await?;
    }
    let second = publish(nats, email, message(somebody.name, email)?).await?;
    let failed = format!("{second}.webhook-chat_given-up");
    deliveries.put(failed, "1".into()).await?;
    let notifier = jetstream::new(nats.client(User::Notifier).await?);
    let off: PullConsumer = notifier
        .get_consumer_from_stream("webhook-off", SITE_STREAM)
        .await?;
    let begun = off.fetch().max_messages(2).messages().await?;
    assert_eq!(begun.count().await, 2);
    let old =
        json!({ "id": Uuid::new_v4(), "type": "site.contact.received.v1", "time": "2025-11-20T12:00:00Z" });
    let subject = EventType::ContactReceived.subject(&id);
    context.publish(subject, old.to_string().into()).await?.await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_lists_who_else_holds_the_data() -> anyhow::Result<()> {
    let (nats, _s3, flags) = with_endpoints(ENDPOINTS).await?;
    send_to_endpoints(&nats, &ASHA).await?;
    // Data of others is not listed.
    publish(&nats, ZOE.email, message(ZOE.name, ZOE.email)?).await?;
    let context = jetstream::new(nats.client(User::Operator).await?);
    let endpoints = context.get_key_value("endpoints").await?;
    endpoints
        .put("off", r#"{"off":"it answered 410 Gone"}"#.into())
        .await?;

    let holder = |endpoint, sent, may_have_been_sent, notice| {
        json!({
            "endpoint": endpoint, "sent": sent, "mayHaveBeenSent": may_have_been_sent, "notice": notice,
        })
    };
    let holders = json!([
        holder("chat", 1, 2, "to be told by you"),
        holder("crm", 1, 1, "told"),
        holder("former", 1, 0, "to be told by you"),
        holder("off", 1, 2, "to be told by you"),
    ]);
    let erase = ["person", "erase", ASHA.otherwise];
    assert_eq!(told_json(&erase, &flags)?["heldElsewhere"], holders);
    let rehearsed = told(&erase, &flags)?;
    for line in [
        "chat: was sent 1 of their events, and may have been sent 2 more; to be told by you\n",
        "crm: was sent 1 of their events, and may have been sent 1 more; told\n",
        "former: was sent 1 of their events; to be told by you\n",
    ] {
        assert!(rehearsed.contains(line), "{line} is not in {rehearsed}");
    }
    let done = [&erase[..], &["--yes"]].concat();
    assert_eq!(told_json(&done, &flags)?["heldElsewhere"], holders);
    let again = told(&done, &flags)?;
    assert!(again.contains("No endpoint of webhooks is known"), "{again}");
    Ok(())
}
