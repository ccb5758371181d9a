//! Tests how recipes interpret vendors' answers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use serde_json::{Value, json};
use site_broker::Remedy;
use site_events::EventType;
use testkit::{
    HttpStandIn,
    http_stand_in::{Reply, Request, body_of, header_of},
};
use time::OffsetDateTime;
use webhooks::{Outgoing, SendingError, sample};

use crate::setting::{Setting, changed, values};

const HUBSPOT: &str = "hubspot.yaml";
const SALESFORCE: &str = "salesforce.yaml";
const ZOHO: &str = "zoho-crm.yaml";
const PIPEDRIVE: &str = "pipedrive.yaml";
const LEVER: &str = "lever.yaml";
const GOOGLE: &str = "google-chat.yaml";

/// Starts a vendor that issues access tokens and answers other requests by the script.
async fn vendor(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> anyhow::Result<HttpStandIn> {
    HttpStandIn::start(move |asked| match asked.url.path() {
        "/token" => Reply::Answer(200, json!({ "access_token": "token", "expires_in": 3600 })),
        _ => script(asked),
    })
    .await
}

fn setting(recipe: &str, vendor: &HttpStandIn) -> anyhow::Result<Setting> {
    let token_url = format!("{}/token", vendor.url);
    Setting::of_repository(recipe, &vendor.url, &values(&token_url))
}

type Sent = Result<Option<u16>, SendingError>;

async fn send(setting: &Setting, outgoing: &Outgoing) -> anyhow::Result<Sent> {
    Ok(setting
        .sender()?
        .send(outgoing, OffsetDateTime::now_utc(), None)
        .await)
}

fn lead() -> Outgoing {
    sample(EventType::ContactReceived, OffsetDateTime::now_utc())
}

fn bounced(kind: &str) -> anyhow::Result<Outgoing> {
    changed(EventType::NewsletterBounced, |content| {
        content["data"]["kind"] = kind.into()
    })
}

/// Bodies of the POST requests to this path.
fn created(vendor: &HttpStandIn, path: &str) -> Vec<Value> {
    let asked = vendor.asked().into_iter();
    let created = asked.filter(|asked| asked.method == "POST" && asked.url.path() == path);
    created.map(|asked| body_of(&asked)).collect()
}

const BOUNCE_NOTE: &str = "Mails of the newsletter to this person come back<br><br>";

/// Search path, found record, and expected requests after a bounce and an erasure.
struct Crm {
    recipe: &'static str,
    search: &'static str,
    record: Value,
    bounce: (&'static str, &'static str, Value),
    erasure: (&'static str, &'static str, Value),
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn crms() -> [Crm; 4] {
    let in_salesforce =
        |id| json!({ "attributes": { "type": "Lead" }, "id": id, "HasOptedOutOfEmail": true });
    let in_zoho = |id| json!({ "id": id, "Email_Opt_Out": true });
    [
        Crm {
            recipe: HUBSPOT,
            search: "/crm/v3/objects/contacts/search",
            record: json!({ "total": 1, "results": [{ "id": "512" }] }),
            bounce: (
                "PATCH",
                "/crm/v3/objects/contacts/512",
                json!({ "properties": { "site_newsletter": "bounced" } }),
            ),
            erasure: (
                "POST",
                "/crm/v3/objects/contacts/gdpr-delete",
                json!({ "objectId": "512" }),
            ),
        },
        Crm {
            recipe: SALESFORCE,
            search: "/services/data/v61.0/query",
            record: json!({ "totalSize": 2, "records": [{ "Id": "00Q1" }, { "Id": "00Q2" }] }),
            bounce: (
                "PATCH",
                "/services/data/v61.0/composite/sobjects",
                json!({ "allOrNone": true, "records": [in_salesforce("00Q1"), in_salesforce("00Q2")] }),
            ),
            erasure: ("DELETE", "/services/data/v61.0/composite/sobjects", Value::Null),
        },
        Crm {
            recipe: ZOHO,
            search: "/crm/v8/coql",
            record: json!({ "data": [{ "id": "524001" }, { "id": "524002" }], "info": { "count": 2, "more_records": false } }),
            bounce: (
                "PUT",
                "/crm/v8/Leads",
                json!({ "data": [in_zoho("524001"), in_zoho("524002")] }),
            ),
            erasure: ("DELETE", "/crm/v8/Leads", Value::Null),
        },
        Crm {
            recipe: PIPEDRIVE,
            search: "/api/v2/persons/search",
            record: json!({ "success": true, "data": { "items": [{ "item": { "id": 7 } }] } }),
            bounce: (
                "POST",
                "/api/v1/notes",
                json!({ "content": BOUNCE_NOTE, "person_id": 7 }),
            ),
            erasure: ("DELETE", "/api/v2/persons/7", Value::Null),
        },
    ]
}

async fn asked_of(crm: &Crm, is_known: bool, event: &Outgoing) -> anyhow::Result<Vec<Request>> {
    let (search, record) = (crm.search, crm.record.clone());
    let vendor = vendor(move |asked| match asked.url.path() {
        path if path == search && is_known => Reply::Answer(200, record.clone()),
        // Zoho's answer to a search without a result.
        path if path == search => Reply::Answer(204, Value::Null),
        "/crm/v8/Leads" => Reply::Answer(200, json!({ "data": [{ "code": "SUCCESS" }] })),
        _ => Reply::Answer(200, json!([{ "success": true }])),
    })
    .await?;
    let sent = send(&setting(crm.recipe, &vendor)?, event).await?;
    anyhow::ensure!(sent.is_ok(), "{}: {sent:?}", crm.recipe);
    let asked = vendor.asked().into_iter();
    Ok(asked.filter(|asked| asked.url.path() != "/token").collect())
}

#[tokio::test]
async fn bounces_and_erasures_change_only_their_persons_records() -> anyhow::Result<()> {
    let person = "0".repeat(32);
    let hard = bounced("hard")?;
    let erased = sample(EventType::PersonErased, OffsetDateTime::now_utc());
    for crm in crms() {
        let recipe = crm.recipe;
        for (event, (method, path, body)) in [(&hard, &crm.bounce), (&erased, &crm.erasure)] {
            let asked = asked_of(&crm, true, event).await?;
            let [search, told] = asked.as_slice() else {
                anyhow::bail!("{recipe}: {asked:?}");
            };
            let query = search.url.query().unwrap_or_default();
            let searched = format!("{query} {}", String::from_utf8_lossy(&search.body));
            assert!(searched.contains(&person), "{recipe}: {searched}");
            assert_eq!((told.method.as_str(), told.url.path()), (*method, *path));
            let mut told = body_of(told);
            // The note ends with the event's id, which differs in every run.
            let note = told["content"].as_str().unwrap_or_default();
            if note.starts_with(BOUNCE_NOTE) {
                told["content"] = BOUNCE_NOTE.into();
            }
            assert_eq!(&told, body, "{recipe}");
            let asked = asked_of(&crm, false, event).await?;
            assert_eq!(asked.len(), 1, "{recipe}: {asked:?}");
        }
        for kind in ["soft", "of-a-later-release"] {
            let asked = asked_of(&crm, true, &bounced(kind)?).await?;
            assert!(asked.is_empty(), "{recipe}: {asked:?}");
        }
    }
    Ok(())
}

/// Salesforce answers 200 and reports the failure in the body.
#[tokio::test]
async fn a_change_that_salesforce_refuses_is_a_failure() -> anyhow::Result<()> {
    let vendor = vendor(|asked| match asked.url.path() {
        "/services/data/v61.0/query" => Reply::Answer(200, json!({ "records": [{ "Id": "00Q1" }] })),
        _ => {
            let locked = json!({ "statusCode": "UNABLE_TO_LOCK_ROW", "message": "locked", "fields": [] });
            Reply::Answer(
                200,
                json!([{ "id": "00Q1", "success": false, "errors": [locked] }]),
            )
        }
    })
    .await?;
    let setting = setting(SALESFORCE, &vendor)?;
    for event in [EventType::NewsletterBounced, EventType::PersonErased] {
        let sent = send(&setting, &sample(event, OffsetDateTime::now_utc())).await?;
        let error = sent.err().context("it is not done")?;
        assert!(error.remedy() != Remedy::DeadLetter, "{event:?}: {error}");
        assert!(error.to_string().contains("UNABLE_TO_LOCK_ROW"), "{error}");
    }
    Ok(())
}

/// Recipe, answer, expected meaning, and part of the error's text.
type Documented = (&'static str, Reply, &'static str, &'static str);
/// Recipe, function that makes an answer's body from a code, and answers with their meanings.
type Coded = (
    &'static str,
    fn(&str) -> Value,
    &'static [(u16, &'static str, &'static str)],
);

const CODED: [Coded; 7] = [
    // https://developers.hubspot.com/docs/api-reference/error-handling
    (
        HUBSPOT,
        |code| json!({ "status": "error", "category": code, "message": "Existing ID: 512" }),
        &[(401, "EXPIRED_AUTHENTICATION", "account")],
    ),
    (
        HUBSPOT,
        |code| json!({ "status": "COMPLETE", "numErrors": 1, "errors": [{ "category": code }] }),
        &[(207, "VALIDATION_ERROR", "never")],
    ),
    // https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/errorcodes.htm
    (
        SALESFORCE,
        |code| json!([{ "errorCode": code, "message": "of test@example.com" }]),
        &[
            (403, "REQUEST_LIMIT_EXCEEDED", "account"),
            (403, "INSUFFICIENT_ACCESS", "account"),
            (400, "UNABLE_TO_LOCK_ROW", "again"),
            (400, "REQUIRED_FIELD_MISSING", "never"),
            (503, "SERVER_UNAVAILABLE", "away"),
        ],
    ),
    // Repository zoho/crm-oas: v8.0/record/mds/examples/upsertRecords.md. For 202 and 429: v8.0/notes.json and
    // Zoho's post on its limits.
    (
        ZOHO,
        |code| json!({ "data": [{ "code": code, "details": { "id": "1" }, "message": "of test@example.com" }] }),
        &[
            (200, "SUCCESS", "done"),
            (201, "SUCCESS", "done"),
            (202, "MANDATORY_NOT_FOUND", "never"),
            (207, "INVALID_DATA", "never"),
            (400, "DUPLICATE_DATA", "never"),
            (412, "ALREADY_MODIFIED", "never"),
        ],
    ),
    (
        ZOHO,
        |code| json!({ "code": code, "message": "of test@example.com", "status": "error", "details": {} }),
        &[
            (401, "OAUTH_SCOPE_MISMATCH", "account"),
            (403, "NO_PERMISSION", "account"),
            (404, "INVALID_URL_PATTERN", "never"),
            (429, "TOO_MANY_REQUESTS", "away"),
            (500, "INTERNAL_ERROR", "away"),
        ],
    ),
    // https://google.aip.dev/193
    (
        GOOGLE,
        |code| json!({ "error": { "code": 400, "message": "of test@example.com", "status": code } }),
        &[
            (400, "INVALID_ARGUMENT", "never"),
            (429, "RESOURCE_EXHAUSTED", "away"),
        ],
    ),
    (
        LEVER,
        |code| json!({ "code": code, "message": "of test@example.com" }),
        &[(400, "BadRequestError", "never")],
    ),
];

fn coded() -> impl Iterator<Item = Documented> {
    CODED.into_iter().flat_map(|(recipe, body, answers)| {
        answers.iter().map(move |(status, code, meaning)| {
            let said = if *meaning == "done" { "" } else { *code };
            (recipe, Reply::Answer(*status, body(code)), *meaning, said)
        })
    })
}

/// Sources: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks,
/// https://pipedrive.readme.io/docs/core-api-concepts-rate-limiting and the documents that the recipes name.
fn uncoded() -> Vec<Documented> {
    let (slack, teams, greenhouse) = ("slack.yaml", "microsoft-teams.yaml", "greenhouse.yaml");
    let text = |status, text: &str| Reply::Text(status, text.to_owned());
    let empty = |status| Reply::Answer(status, Value::Null);
    let limited = json!({ "status": "error", "category": "RATE_LIMITS", "message": "Existing ID: 512" });
    let conflict = json!({ "status": "error", "category": "CONFLICT", "message": "Existing ID: 512" });
    let lead = json!({ "id": "00Q", "success": true });
    let message = json!({ "name": "spaces/A/messages/B" });
    let over_limit = json!({ "success": false, "error": "request over limit" });
    let refused = json!({ "success": false });
    let saved = json!({ "success": "Candidate saved successfully" });
    let invalid = json!({ "error": "of test@example.com" });
    let success = json!({ "status": "success" });
    vec![
        (HUBSPOT, Reply::Later(429, "7", limited), "away", "RATE_LIMITS"),
        (
            HUBSPOT,
            Reply::Answer(409, conflict),
            "never",
            "step contact: the receiver answered 409 (CONFLICT)",
        ),
        (HUBSPOT, empty(502), "away", "answered 502"),
        (HUBSPOT, Reply::Close, "away", "did not answer"),
        (SALESFORCE, Reply::Answer(201, lead), "done", ""),
        (SALESFORCE, empty(204), "done", ""),
        (slack, text(200, "ok"), "done", ""),
        (slack, text(400, "invalid_blocks"), "never", "400"),
        (slack, text(410, "channel_is_archived"), "never", "410"),
        (slack, Reply::Later(429, "30", Value::Null), "away", "429"),
        (teams, empty(202), "done", ""),
        (teams, empty(429), "away", "429"),
        (GOOGLE, Reply::Answer(200, message), "done", ""),
        (PIPEDRIVE, Reply::Later(429, "2", over_limit), "away", "429"),
        (PIPEDRIVE, Reply::Answer(401, refused), "account", "401"),
        (greenhouse, Reply::Answer(200, saved), "done", ""),
        (greenhouse, empty(401), "account", "401"),
        (greenhouse, Reply::Answer(422, invalid), "never", "422"),
        (LEVER, empty(429), "away", "429"),
        ("zapier-or-make.yaml", Reply::Answer(200, success), "done", ""),
        ("salesforce-web-to-lead.yaml", text(200, ""), "done", ""),
    ]
}

#[tokio::test]
async fn answers_are_classified_as_vendors_document() -> anyhow::Result<()> {
    for (recipe, reply, meaning, said) in coded().chain(uncoded()) {
        let scripted = reply.clone();
        let vendor = vendor(move |_| scripted.clone()).await?;
        let setting = setting(recipe, &vendor)?;
        let event = setting.events().into_iter().next().context("one")?;
        let sent = send(&setting, &sample(event, OffsetDateTime::now_utc())).await?;
        let found = match &sent {
            Ok(_) => "done",
            Err(error) if error.is_account_refused() => "account",
            Err(error) => match error.remedy() {
                Remedy::DeadLetter => "never",
                Remedy::RetryLater { .. } => "away",
                Remedy::Retry { .. } => "again",
            },
        };
        assert_eq!(found, meaning, "{recipe} {reply:?}: {sent:?}");
        if let Reply::Later(_, seconds, _) = &reply {
            let at_least = Duration::from_secs(seconds.parse()?);
            let remedy = sent.as_ref().err().map(SendingError::remedy);
            assert_eq!(remedy, Some(Remedy::RetryLater { at_least }), "{recipe}");
        }
        let reason = sent.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(reason.contains(said), "{recipe} {reply:?}: {reason}");
        let is_safe = !reason.contains("example.com") && !reason.contains("512");
        assert!(is_safe, "{reason}");
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_over_the_size_limit_is_a_failure() -> anyhow::Result<()> {
    let vendor = vendor(|_| Reply::Answer(201, "x".repeat(1_000_000).into())).await?;
    // The client drops the long body, so a value that the recipe keeps is missing.
    let refused = send(&setting(HUBSPOT, &vendor)?, &lead()).await?.err();
    assert!(matches!(refused, Some(SendingError::Recipe(_))), "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn the_next_request_uses_a_rotated_secret() -> anyhow::Result<()> {
    let vendor = vendor(|asked| match header_of(asked, "authorization") {
        "Bearer new" => Reply::Answer(200, json!({ "results": [{ "id": "512" }] })),
        _ => Reply::Answer(401, json!({ "category": "INVALID_AUTHENTICATION" })),
    })
    .await?;
    let setting = setting(HUBSPOT, &vendor)?;
    let sender = setting.sender()?;
    let (now, lead) = (OffsetDateTime::now_utc(), lead());
    let refused = sender.send(&lead, now, None).await.err();
    assert!(refused.is_some_and(|error| error.is_account_refused()));
    std::fs::write(setting.secrets.path().join("hubspot-token"), "new\n")?;
    assert!(sender.send(&lead, now, None).await.is_ok());
    Ok(())
}

#[tokio::test]
async fn an_application_reaches_lever_with_its_position_and_its_link() -> anyhow::Result<()> {
    let vendor = vendor(|_| Reply::Answer(201, json!({ "data": { "id": "o-1" } }))).await?;
    let setting = setting(LEVER, &vendor)?;
    for (position, posting) in [("AI Intern", "p-1"), ("Something else", "p-2")] {
        let application = changed(EventType::CareersApplied, |content| {
            content["data"]["position"] = position.into();
        })?;
        let link = "https://store.example/cv.pdf?X-Amz-Expires=604800";
        let application = Outgoing {
            resume_link: Some(link.to_owned()),
            ..application
        };
        assert!(send(&setting, &application).await?.is_ok());
        let asked = vendor.asked();
        let [.., opportunity, note] = asked.as_slice() else {
            anyhow::bail!("{asked:?}");
        };
        assert_eq!(body_of(opportunity)["postings"], json!([posting]));
        assert_eq!(body_of(opportunity)["links"], json!([link]));
        let login = header_of(opportunity, "authorization");
        assert_eq!(login, "Basic dmFsdWUtb2YtbGV2ZXIta2V5Og==");
        assert_eq!(note.url.path(), "/v1/opportunities/o-1/notes");
    }
    Ok(())
}

#[tokio::test]
async fn a_lever_retry_creates_only_the_missing_note() -> anyhow::Result<()> {
    let notes = AtomicUsize::new(0);
    let vendor = vendor(move |asked| match asked.method.as_str() {
        "GET" => Reply::Answer(200, json!({ "data": [{ "id": "o-1" }] })),
        _ if !asked.url.path().starts_with("/v1/opportunities/o-1/notes") => {
            Reply::Answer(201, json!({ "data": { "id": "o-1" } }))
        }
        _ if notes.fetch_add(1, Ordering::SeqCst) == 0 => Reply::Answer(429, Value::Null),
        _ => Reply::Answer(201, json!({ "data": { "id": "n-1" } })),
    })
    .await?;
    let setting = setting(LEVER, &vendor)?;
    let application = sample(EventType::CareersApplied, OffsetDateTime::now_utc());
    assert!(send(&setting, &application).await?.is_err());
    let again = Outgoing {
        attempt: 2,
        ..application
    };
    assert!(send(&setting, &again).await?.is_ok());
    assert_eq!(created(&vendor, "/v1/opportunities").len(), 1);
    assert_eq!(created(&vendor, "/v1/opportunities/o-1/notes").len(), 2);
    Ok(())
}

#[tokio::test]
async fn pipedrive_gets_one_person_with_a_lead_per_message() -> anyhow::Result<()> {
    let persons = Arc::new(AtomicUsize::new(0));
    let known = persons.clone();
    let vendor = vendor(move |asked| match (asked.method.as_str(), asked.url.path()) {
        ("GET", "/api/v2/persons/search") => {
            let items = match known.load(Ordering::SeqCst) {
                0 => json!([]),
                _ => json!([{ "item": { "id": 7 } }]),
            };
            Reply::Answer(200, json!({ "success": true, "data": { "items": items } }))
        }
        ("POST", "/api/v2/persons") => {
            known.fetch_add(1, Ordering::SeqCst);
            Reply::Answer(201, json!({ "success": true, "data": { "id": 7 } }))
        }
        ("GET", _) => Reply::Answer(200, json!({ "success": true, "data": null })),
        _ => Reply::Answer(201, json!({ "success": true, "data": { "id": "l" } })),
    })
    .await?;
    let setting = setting(PIPEDRIVE, &vendor)?;
    for attempt in [1, 2] {
        assert!(send(&setting, &Outgoing { attempt, ..lead() }).await?.is_ok());
    }
    assert_eq!(persons.load(Ordering::SeqCst), 1);
    let asked = vendor.asked();
    let marked = asked.iter().find(|asked| asked.method == "PATCH");
    let marked = marked.context("one who was known before is marked")?;
    assert_eq!(marked.url.path(), "/api/v2/persons/7");
    let fields = json!({ "custom_fields": { "Site_Person_Id": "0".repeat(32) } });
    assert_eq!(body_of(marked), fields);
    for path in ["/api/v1/leads", "/api/v1/notes"] {
        let persons: Vec<Value> = created(&vendor, path)
            .iter()
            .map(|body| body["person_id"].clone())
            .collect();
        assert_eq!(persons, [7, 7], "{path}");
    }
    Ok(())
}
