//! `sitectl person`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use async_nats::{
    HeaderMap,
    jetstream::{self, consumer::PullConsumer},
};
use futures_util::{StreamExt as _, TryStreamExt as _};
use resumes::UploadRecords;
use serde_json::{Value, json};
use site_broker::{DELIVERIES_BUCKET, ENDPOINTS_BUCKET, SUBSCRIBERS_BUCKET, VISITOR_MAILS_BUCKET};
use site_events::{
    Channel, EventType, IssueId, SITE_STREAM,
    event::NewsletterRequested,
    headers::{DEAD_LETTER_ATTEMPTS, DEAD_LETTER_ERROR},
    subjects,
};
use tempfile::TempDir;
use testkit::User;
use time::macros::datetime;
use uuid::Uuid;
use visitor::{EmailAddress, InboxId, token::TokenKey};

use crate::{
    site::{Site, TOKEN_KEY, application, message, new_resume_key, person, stored_resume},
    tool::{assert_says, refused, told, told_json},
};

const DELIVERED: &str = "2026-11-20T12:00:00Z";

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

/// Site with data of both people in every store.
async fn with_both() -> anyhow::Result<Site> {
    let site = Site::start().await?;
    site.remember(&ASHA).await?;
    site.remember(&ZOE).await?;
    Ok(site)
}

impl Site {
    /// Returns ids of a contact message, of a sign-up, and of an event that has expired.
    async fn remember_events(&self, somebody: &Somebody) -> anyhow::Result<[Uuid; 3]> {
        let Somebody { name, email, .. } = *somebody;
        let id = person(email)?;
        let context = self.jetstream().await?;
        let contact = self.publish(email, message(name, email)?).await?;
        let requested = NewsletterRequested {
            email: EmailAddress::parse(email)?,
            expires: datetime!(2126-11-20 12:00 UTC),
            attribution: None,
        };
        let request = self.publish(email, requested).await?;
        // One of the two résumés has no event.
        let records = UploadRecords::open(&context).await?;
        let (resume, provisional) = (new_resume_key(email)?, new_resume_key(email)?);
        for key in [&resume, &provisional] {
            records.begin(key).await?;
            self.store_resume(key, &resume_of(somebody)).await?;
        }
        let mut stored = stored_resume(&resume);
        stored.file_name = "my résumé.pdf".to_owned();
        self.publish(email, application(name, email, Some(stored))?)
            .await?;

        let event = json!({ "id": contact, "data": { "name": name, "email": email } });
        let replay = subjects::replay(Channel::SalesLead.name(), id.as_str());
        context.publish(replay, event.to_string().into()).await?.await?;

        // The event of this dead letter has expired from the stream.
        let expired = Uuid::new_v4();
        let event = json!({ "id": expired, "data": { "name": name, "email": email } });
        let mut headers = HeaderMap::new();
        headers.insert(DEAD_LETTER_ERROR, "550 No such user");
        headers.insert(DEAD_LETTER_ATTEMPTS, "1");
        let dead = subjects::dead_letter(Channel::NewsletterWelcome.name(), id.as_str());
        let sent = context.publish_with_headers(dead, headers, event.to_string().into());
        sent.await?.await?;

        let issue = IssueId::named("smart-home");
        let sending = json!({ "id": Uuid::new_v4(), "subject": id, "issue": issue }).to_string();
        let subject = subjects::sending(&issue.to_string(), id.as_str());
        context.publish(subject, sending.into()).await?.await?;
        Ok([contact, request, expired])
    }

    async fn remember(&self, somebody: &Somebody) -> anyhow::Result<()> {
        let [contact, request, expired] = self.remember_events(somebody).await?;
        let (email, id) = (somebody.email, person(somebody.email)?);
        let context = self.jetstream().await?;
        let store = async |bucket: &str, key: &str, value: String| {
            let bucket = context.get_key_value(bucket).await?;
            anyhow::Ok(bucket.put(key, value.into()).await?)
        };
        for state in ["pending", "confirmed"] {
            let record = json!({ "email": email, "state": state }).to_string();
            store(SUBSCRIBERS_BUCKET, id.as_str(), record).await?;
        }
        for (event, channel) in [
            (contact, Channel::SalesLead),
            (request, Channel::NewsletterConfirmation),
            (expired, Channel::RecruiterApplication),
        ] {
            let key = format!("{event}.{}", channel.name());
            store(DELIVERIES_BUCKET, &key, DELIVERED.to_owned()).await?;
        }
        let mail = format!("{contact}.{}", Channel::ContactAcknowledgement.name());
        let counted = json!({ "mails": { mail: 1_795_176_000 } }).to_string();
        let inbox = InboxId::of(&EmailAddress::parse(email)?, &TokenKey::new(TOKEN_KEY)?);
        store(VISITOR_MAILS_BUCKET, inbox.as_str(), counted).await?;
        Ok(())
    }

    fn export(&self, email: &str, to: &Path) -> anyhow::Result<Value> {
        let done = told_json(&["person", "export", email, &to.to_string_lossy()], &self.flags)?;
        Ok(done["exported"].clone())
    }

    /// All that is stored, by subject or key.
    async fn everything(&self) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        let context = self.jetstream().await?;
        let mut names: Vec<String> = context.stream_names().try_collect().await?;
        names.sort();
        // The state of endpoints is no personal data.
        names.retain(|name| name != "KV_endpoints");
        let buckets = [
            "deliveries",
            "newsletter-issues",
            "subscribers",
            "uploads",
            "visitor-mails",
        ];
        let buckets = buckets.map(|bucket| format!("KV_{bucket}"));
        assert_eq!(names[0], "DEAD_LETTERS");
        assert_eq!(names[1..6], buckets);
        assert_eq!(names[6..], ["SENDINGS", "SITE"]);
        let mut everything = self.s3.objects()?;
        for name in names {
            let mut stream = context.get_stream(name).await?;
            let state = stream.info().await?.state.clone();
            for number in state.first_sequence..=state.last_sequence {
                let Ok(message) = stream.get_raw_message(number).await else {
                    continue;
                };
                let mut headers: Vec<String> = message
                    .headers
                    .iter()
                    .map(|header| format!("{header:?}"))
                    .collect();
                headers.sort();
                let mut bytes = format!("{} {headers:?} ", message.subject).into_bytes();
                bytes.extend_from_slice(&message.payload);
                everything.push((message.subject.to_string(), bytes));
            }
        }
        Ok(everything)
    }

    async fn traces_of(&self, somebody: &Somebody) -> anyhow::Result<Vec<String>> {
        let id = person(somebody.email)?;
        let known = [somebody.name, somebody.email, id.as_str()].map(str::to_lowercase);
        let everything = self.everything().await?.into_iter();
        let traces = everything.filter(|(name, bytes)| {
            let text = format!("{name} {}", String::from_utf8_lossy(bytes)).to_lowercase();
            known.iter().any(|known| text.contains(known))
        });
        Ok(traces.map(|(name, _)| name).collect())
    }
}

fn resume_of(somebody: &Somebody) -> String {
    format!("%PDF-1.7 {} {}", somebody.name, somebody.email)
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
async fn an_export_has_only_that_persons_data() -> anyhow::Result<()> {
    let site = with_both().await?;
    let folder = TempDir::new()?;
    let to = folder.path().join("asha");
    assert_all_held(&site.export(ASHA.otherwise, &to)?);

    let events = read(to.join("events.json"))?;
    assert_eq!(
        events[0]["event"]["data"]["message"],
        "Two cameras,\none question."
    );
    let letters = read(to.join("dead-letters.json"))?;
    assert_eq!(letters[0]["reason"], "550 No such user");
    assert_eq!(letters[0]["event"]["data"]["email"], ASHA.email);
    assert_eq!(read(to.join("subscriber.json"))?["value"]["state"], "confirmed");
    for (file, count) in [("events", 4), ("deliveries", 3), ("visitor-mails", 1)] {
        let records = read(to.join(format!("{file}.json")))?;
        assert_eq!(records.as_array().map(Vec::len), Some(count), "{file}");
    }
    let mut names = Vec::new();
    for attempt in fs::read_dir(to.join("resumes"))? {
        for resume in fs::read_dir(attempt?.path())? {
            let resume = resume?;
            assert_eq!(fs::read_to_string(resume.path())?, resume_of(&ASHA));
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
async fn an_erasure_removes_only_that_persons_data() -> anyhow::Result<()> {
    let mut site = with_both().await?;
    let all = site.everything().await?;
    let of_zoe = site.traces_of(&ZOE).await?;
    assert_eq!(all.len(), 30);

    let erase = ["person", "erase", ASHA.otherwise, "--yes"];
    assert_all_held(&told_json(&erase[..3], &site.flags)?["wouldErase"]);
    assert!(site.everything().await? == all, "a dry run changes nothing");

    let done = told_json(&erase, &site.flags)?;
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

    // A repeated erasure publishes an event, too, because receivers may still have data.
    let again = told_json(&erase, &site.flags)?;
    let is_nothing = HELD.iter().all(|(place, _)| again["erased"][place] == 0);
    assert!(is_nothing, "{again}");
    let mut events = site.nats.events().await?;
    events.retain(|event| event["type"] == "site.person.erased.v1");
    assert_eq!(events.len(), 2);
    for (event, done) in events.iter().zip([done, again]) {
        assert_eq!(event["subject"], person(ASHA.email)?.as_str());
        assert_eq!(event["data"], json!({}));
        assert_eq!(done["told"], event["id"]);
    }
    ensure_export_is_empty(&site)?;
    site.nats.stop().await?;
    ensure_erased_from_disk(&site)
}

fn ensure_export_is_empty(site: &Site) -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    assert_eq!(site.export(ASHA.email, folder.path())?["events"], 0);
    assert!(!folder.path().join("subscriber.json").exists());
    assert_eq!(read(folder.path().join("events.json"))?, json!([]));
    // Only its owner may read the exported folder.
    assert_eq!(fs::metadata(folder.path())?.permissions().mode() & 0o777, 0o700);
    Ok(())
}

fn ensure_erased_from_disk(site: &Site) -> anyhow::Result<()> {
    let id = person(ASHA.email)?;
    let disk = site.nats.servers[0].disk();
    for known in [ASHA.email, ASHA.name, id.as_str()] {
        let mut files = files_with(&disk, known)?;
        // The broker frees the space of a bucket's records, but does not overwrite them.
        let freed = ["KV_subscribers", "KV_uploads", "KV_visitor-mails"];
        files.retain(|file| !freed.iter().any(|bucket| file.contains(bucket)));
        if known == id.as_str() {
            // `SITE` has the erasure event, whose only data is the person's id.
            files.retain(|file| !file.contains("/SITE/"));
        }
        assert_eq!(files, [""; 0], "{known}");
    }
    let of_zoe = files_with(&disk, ZOE.email)?;
    assert!(!of_zoe.is_empty(), "the files can be searched");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_cannot_be_done_changes_nothing() -> anyhow::Result<()> {
    let mut site = with_both().await?;
    let folder = TempDir::new()?;
    let to = folder.path().display().to_string();
    fs::write(folder.path().join("notes.txt"), "mine")?;
    let said = refused(&["person", "export", ASHA.email, &to], &site.flags)?;
    assert_says(&said, &["is not empty"]);
    assert_eq!(fs::read_dir(folder.path())?.count(), 1);

    let erase = ["person", "erase", ASHA.email, "--yes"];
    site.s3.stop().await?;
    assert_says(&refused(&erase, &site.flags)?, &["S3_ENDPOINT"]);
    site.s3.resume_from_disk().await?;
    assert_eq!(site.everything().await?.len(), 30);

    site.nats.stop().await?;
    assert_says(&refused(&erase, &site.flags)?, &["NATS_URL"]);
    Ok(())
}

const ENDPOINTS: &str = r#"[
    {"name": "crm", "url": "https://crm.example", "events": ["contact.received", "person.erased"], "format": "slack"},
    {"name": "chat", "url": "https://chat.example", "events": ["contact.received"], "format": "slack"},
    {"name": "off", "url": "https://off.example", "events": ["contact.received", "person.erased"], "format": "slack"},
    {"name": "ats", "url": "https://ats.example", "events": ["careers.applied"], "format": "slack"}
]"#;

/// Stores three messages. The first went to every endpoint, one of them since removed. The second failed at
/// one endpoint, and is unanswered at another. The third has no records.
async fn send_to_endpoints(site: &Site, Somebody { name, email, .. }: &Somebody) -> anyhow::Result<()> {
    let context = site.jetstream().await?;
    let sent = site.publish(email, message(name, email)?).await?;
    let deliveries = context.get_key_value(DELIVERIES_BUCKET).await?;
    for endpoint in ["crm", "chat", "off", "former"] {
        let record = format!("{sent}.webhook-{endpoint}");
        deliveries.put(record, DELIVERED.into()).await?;
    }
    let second = site.publish(email, message(name, email)?).await?;
    let failed = format!("{second}.webhook-chat_given-up");
    deliveries.put(failed, "1".into()).await?;
    let notifier = jetstream::new(site.nats.client(User::Notifier).await?);
    let off: PullConsumer = notifier
        .get_consumer_from_stream("webhook-off", SITE_STREAM)
        .await?;
    let begun = off.fetch().max_messages(2).messages().await?;
    assert_eq!(begun.count().await, 2);
    let old =
        json!({ "id": Uuid::new_v4(), "type": "site.contact.received.v1", "time": "2025-11-20T12:00:00Z" });
    let subject = EventType::ContactReceived.subject(&person(email)?);
    context.publish(subject, old.to_string().into()).await?.await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_lists_other_holders_of_the_data() -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.nats.provision(&["--webhooks", ENDPOINTS]).await?;
    send_to_endpoints(&site, &ASHA).await?;
    // Data of others is not listed.
    site.publish(ZOE.email, message(ZOE.name, ZOE.email)?).await?;
    let endpoints = site.jetstream().await?.get_key_value(ENDPOINTS_BUCKET).await?;
    endpoints
        .put("off", r#"{"off":"it answered 410 Gone"}"#.into())
        .await?;

    let holders = [
        ("chat", 1, 2, "to be told by you"),
        ("crm", 1, 1, "told"),
        ("former", 1, 0, "to be told by you"),
        ("off", 1, 2, "to be told by you"),
    ];
    let holders = holders.map(|(endpoint, sent, may_have_been_sent, notice)| {
        json!({ "endpoint": endpoint, "sent": sent, "mayHaveBeenSent": may_have_been_sent, "notice": notice })
    });
    let holders = json!(holders);
    let erase = ["person", "erase", ASHA.otherwise, "--yes"];
    assert_eq!(told_json(&erase[..3], &site.flags)?["heldElsewhere"], holders);
    let lines = [
        "chat: was sent 1 of their events, and may have been sent 2 more; to be told by you\n",
        "crm: was sent 1 of their events, and may have been sent 1 more; told\n",
        "former: was sent 1 of their events; to be told by you\n",
    ];
    assert_says(&told(&erase[..3], &site.flags)?, &lines);
    assert_eq!(told_json(&erase, &site.flags)?["heldElsewhere"], holders);
    let again = told(&erase, &site.flags)?;
    assert_says(&again, &["No endpoint of webhooks is known"]);
    Ok(())
}
