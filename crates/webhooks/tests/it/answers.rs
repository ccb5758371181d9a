//! What vendors' answers mean for an event.

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

use crate::setting::{Setting, changed};

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

/// HubSpot's successful answers (https://developers.hubspot.com/docs/api-reference/error-handling).
fn hubspot(asked: &Request) -> Reply {
    match asked.url.path() {
        "/crm/v3/objects/contacts/batch/upsert" => Reply::Answer(
            200,
            json!({ "status": "COMPLETE", "results": [{ "id": "512", "new": true, "properties": {} }] }),
        ),
        "/crm/v3/objects/notes" => Reply::Answer(201, json!({ "id": "9001", "properties": {} })),
        "/crm/v3/objects/notes/search" => Reply::Answer(200, json!({ "total": 0, "results": [] })),
        _ => Reply::Answer(404, Value::Null),
    }
}

#[tokio::test]
async fn a_note_is_made_at_the_contact_that_the_first_answer_named() -> anyhow::Result<()> {
    let vendor = HttpStandIn::start(hubspot).await?;
    let setting = Setting::of_repository("hubspot.yaml", &vendor.url, &json!({}))?;
    assert!(matches!(send(&setting, &lead()).await?, Ok(Some(201))));
    let asked = vendor.asked();
    let [contact, note] = asked.as_slice() else {
        anyhow::bail!("{asked:?}");
    };
    assert_eq!(
        header_of(contact, "authorization"),
        "Bearer value-of-hubspot-token"
    );
    assert_eq!(header_of(contact, "content-type"), "application/json");
    assert_eq!(body_of(contact)["inputs"][0]["id"], "test@example.com");
    assert_eq!(body_of(contact)["inputs"][0]["properties"]["lastname"], "site");
    assert_eq!(body_of(note)["associations"][0]["to"]["id"], "512");
    Ok(())
}

#[tokio::test]
async fn a_second_attempt_makes_no_second_note() -> anyhow::Result<()> {
    let vendor = HttpStandIn::start(|asked| match asked.url.path() {
        "/crm/v3/objects/notes/search" => {
            Reply::Answer(200, json!({ "total": 1, "results": [{ "id": "9001" }] }))
        }
        _ => hubspot(asked),
    })
    .await?;
    let setting = Setting::of_repository("hubspot.yaml", &vendor.url, &json!({}))?;
    let again = Outgoing { attempt: 2, ..lead() };
    assert!(matches!(send(&setting, &again).await?, Ok(Some(200))));
    let paths: Vec<String> = vendor
        .asked()
        .iter()
        .map(|asked| asked.url.path().to_owned())
        .collect();
    assert_eq!(
        paths,
        [
            "/crm/v3/objects/contacts/batch/upsert",
            "/crm/v3/objects/notes/search"
        ]
    );
    Ok(())
}

#[tokio::test]
async fn an_erased_person_is_erased_by_the_id_that_the_crm_knows_and_one_it_does_not_know_is_none()
-> anyhow::Result<()> {
    for (results, requests) in [(json!([{ "id": "512" }]), 2), (json!([]), 1)] {
        let total = results.as_array().map_or(0, Vec::len);
        let vendor = HttpStandIn::start(move |asked| match asked.url.path() {
            "/crm/v3/objects/contacts/search" => {
                Reply::Answer(200, json!({ "total": total, "results": results.clone() }))
            }
            _ => Reply::Answer(204, Value::Null),
        })
        .await?;
        let setting = Setting::of_repository("hubspot.yaml", &vendor.url, &json!({}))?;
        let erased = sample(EventType::PersonErased, OffsetDateTime::now_utc());
        assert!(send(&setting, &erased).await?.is_ok());
        let asked = vendor.asked();
        assert_eq!(asked.len(), requests);
        let known_by = &body_of(&asked[0])["filterGroups"][0]["filters"][0]["value"];
        assert_eq!(known_by, &json!("0".repeat(32)));
        if let Some(erasure) = asked.get(1) {
            assert_eq!(body_of(erasure), json!({ "objectId": "512" }));
        }
    }
    Ok(())
}

/// How a CRM finds a person, and its requests on a bounce and an erasure.
struct Found {
    recipe: &'static str,
    search: &'static str,
    record: Value,
    bounce: (&'static str, &'static str),
    erasure: (&'static str, &'static str),
}

fn crms() -> [Found; 4] {
    [
        Found {
            recipe: "hubspot.yaml",
            search: "/crm/v3/objects/contacts/search",
            record: json!({ "total": 1, "results": [{ "id": "512" }] }),
            bounce: ("PATCH", "/crm/v3/objects/contacts/512"),
            erasure: ("POST", "/crm/v3/objects/contacts/gdpr-delete"),
        },
        Found {
            recipe: "salesforce.yaml",
            search: "/services/data/v61.0/query",
            record: json!({ "totalSize": 2, "records": [{ "Id": "00Q1" }, { "Id": "00Q2" }] }),
            bounce: ("PATCH", "/services/data/v61.0/composite/sobjects"),
            erasure: ("DELETE", "/services/data/v61.0/composite/sobjects"),
        },
        Found {
            recipe: "zoho-crm.yaml",
            search: "/crm/v8/coql",
            record: json!({ "data": [{ "id": "524001" }, { "id": "524002" }], "info": { "count": 2, "more_records": false } }),
            bounce: ("PUT", "/crm/v8/Leads"),
            erasure: ("DELETE", "/crm/v8/Leads"),
        },
        Found {
            recipe: "pipedrive.yaml",
            search: "/api/v2/persons/search",
            record: json!({ "success": true, "data": { "items": [{ "item": { "id": 7 } }] } }),
            bounce: ("POST", "/api/v1/notes"),
            erasure: ("DELETE", "/api/v2/persons/7"),
        },
    ]
}

async fn asked_of(found: &Found, is_known: bool, event: &Outgoing) -> anyhow::Result<Vec<Request>> {
    let (search, record) = (found.search, found.record.clone());
    let vendor = HttpStandIn::start(move |asked| match asked.url.path() {
        "/token" => Reply::Answer(200, json!({ "access_token": "token", "expires_in": 3600 })),
        path if path == search && is_known => Reply::Answer(200, record.clone()),
        // Zoho's answer to a search without a result.
        path if path == search => Reply::Answer(204, Value::Null),
        "/crm/v8/Leads" => Reply::Answer(200, json!({ "data": [{ "code": "SUCCESS" }] })),
        _ => Reply::Answer(200, json!([{ "success": true }])),
    })
    .await?;
    let values = json!({
        "token_url": format!("{}/token", vendor.url), "company": "unknown", "person_field": "site_person",
    });
    let setting = Setting::of_repository(found.recipe, &vendor.url, &values)?;
    let sent = send(&setting, event).await?;
    anyhow::ensure!(sent.is_ok(), "{}: {sent:?}", found.recipe);
    let asked = vendor.asked().into_iter();
    Ok(asked.filter(|asked| asked.url.path() != "/token").collect())
}

#[tokio::test]
async fn a_bounce_and_an_erasure_reach_the_record_by_which_a_crm_knows_the_person() -> anyhow::Result<()> {
    let person = "0".repeat(32);
    for found in crms() {
        let bounced = sample(EventType::NewsletterBounced, OffsetDateTime::now_utc());
        let erased = sample(EventType::PersonErased, OffsetDateTime::now_utc());
        for (event, (method, path)) in [(&bounced, found.bounce), (&erased, found.erasure)] {
            let asked = asked_of(&found, true, event).await?;
            let [search, told] = asked.as_slice() else {
                anyhow::bail!("{}: {asked:?}", found.recipe);
            };
            let searched = format!(
                "{} {}",
                search.url.query().unwrap_or_default(),
                String::from_utf8_lossy(&search.body)
            );
            assert!(searched.contains(&person), "{}: {searched}", found.recipe);
            assert_eq!((told.method.as_str(), told.url.path()), (method, path));
            let asked = asked_of(&found, false, event).await?;
            assert_eq!(asked.len(), 1, "{}: {asked:?}", found.recipe);
        }
    }
    Ok(())
}

/// Salesforce answers 200, with the failure in the body.
#[tokio::test]
async fn what_salesforce_refuses_to_change_or_delete_is_not_done() -> anyhow::Result<()> {
    let vendor = HttpStandIn::start(|asked| match asked.url.path() {
        "/token" => Reply::Answer(200, json!({ "access_token": "token", "expires_in": 3600 })),
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
    let values = json!({ "token_url": format!("{}/token", vendor.url), "company": "unknown" });
    let setting = Setting::of_repository("salesforce.yaml", &vendor.url, &values)?;
    for event in [EventType::NewsletterBounced, EventType::PersonErased] {
        let sent = send(&setting, &sample(event, OffsetDateTime::now_utc())).await?;
        let error = sent.err().context("it is not done")?;
        assert!(error.remedy() != Remedy::DeadLetter, "{event:?}: {error}");
        assert!(error.to_string().contains("UNABLE_TO_LOCK_ROW"), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn what_a_crm_hears_of_a_bounce_is_of_each_record_and_a_soft_one_is_none() -> anyhow::Result<()> {
    let of_kind = |kind: &str| {
        changed(EventType::NewsletterBounced, |content| {
            content["data"]["kind"] = kind.into()
        })
    };
    for found in crms() {
        for kind in ["soft", "of-a-later-release"] {
            let asked = asked_of(&found, true, &of_kind(kind)?).await?;
            assert!(asked.is_empty(), "{}: {asked:?}", found.recipe);
        }
        let asked = asked_of(&found, true, &of_kind("hard")?).await?;
        let told = body_of(asked.last().context("it is told")?);
        let expected = match found.recipe {
            "hubspot.yaml" => json!({ "properties": { "site_newsletter": "bounced" } }),
            "salesforce.yaml" => {
                let lead =
                    |id| json!({ "attributes": { "type": "Lead" }, "id": id, "HasOptedOutOfEmail": true });
                json!({ "allOrNone": true, "records": [lead("00Q1"), lead("00Q2")] })
            }
            "zoho-crm.yaml" => {
                let lead = |id| json!({ "id": id, "Email_Opt_Out": true });
                json!({ "data": [lead("524001"), lead("524002")] })
            }
            _ => {
                let note = told["content"].as_str().unwrap_or_default();
                assert!(
                    note.starts_with("Mails of the newsletter to this person come back<br><br>"),
                    "{note}"
                );
                json!({ "content": note, "person_id": 7 })
            }
        };
        assert_eq!(told, expected, "{}", found.recipe);
    }
    Ok(())
}

/// Recipe, answer, its meaning, and the error's text.
type Documented = (&'static str, Reply, &'static str, &'static str);

/// https://developers.hubspot.com/docs/api-reference/error-handling
fn answers_of_hubspot() -> Vec<Documented> {
    let recipe = "hubspot.yaml";
    let error =
        |category: &str| json!({ "status": "error", "category": category, "message": "Existing ID: 512" });
    vec![
        (
            recipe,
            Reply::Later(429, "7", error("RATE_LIMITS")),
            "away",
            "answered 429 (RATE_LIMITS)",
        ),
        (
            recipe,
            Reply::Answer(401, error("EXPIRED_AUTHENTICATION")),
            "account",
            "answered 401 (EXPIRED_AUTHENTICATION)",
        ),
        (
            recipe,
            Reply::Answer(409, error("CONFLICT")),
            "never",
            "step contact: the receiver answered 409 (CONFLICT)",
        ),
        (
            recipe,
            Reply::Answer(
                207,
                json!({ "status": "COMPLETE", "results": [], "numErrors": 1, "errors": [error("VALIDATION_ERROR")] }),
            ),
            "never",
            "step contact: the receiver answered 207 (VALIDATION_ERROR)",
        ),
        (recipe, Reply::Answer(502, Value::Null), "away", "answered 502"),
        (recipe, Reply::Close, "away", "did not answer"),
    ]
}

/// https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/errorcodes.htm
fn answers_of_salesforce() -> Vec<Documented> {
    let created = json!({ "id": "00Q", "success": true });
    let mut answers: Vec<Documented> = vec![
        ("salesforce.yaml", Reply::Answer(201, created), "done", ""),
        ("salesforce.yaml", Reply::Answer(204, Value::Null), "done", ""),
    ];
    for (status, code, meaning) in [
        (403, "REQUEST_LIMIT_EXCEEDED", "account"),
        (403, "INSUFFICIENT_ACCESS", "account"),
        (400, "UNABLE_TO_LOCK_ROW", "again"),
        (400, "REQUIRED_FIELD_MISSING", "never"),
        (503, "SERVER_UNAVAILABLE", "away"),
    ] {
        let error = json!([{ "errorCode": code, "message": "of test@example.com" }]);
        answers.push(("salesforce.yaml", Reply::Answer(status, error), meaning, code));
    }
    answers
}

/// zoho/crm-oas, v8.0/record/mds/examples/upsertRecords.md; for 202 and 429 v8.0/notes.json and Zoho's post
/// on its limits.
fn answers_of_zoho() -> Vec<Documented> {
    let of_a_record = [
        (200, "SUCCESS", "done"),
        (201, "SUCCESS", "done"),
        (202, "MANDATORY_NOT_FOUND", "never"),
        (207, "INVALID_DATA", "never"),
        (400, "DUPLICATE_DATA", "never"),
        (412, "ALREADY_MODIFIED", "never"),
    ];
    let of_a_record = of_a_record.map(|(status, code, meaning)| {
        let body =
            json!({ "data": [{ "code": code, "details": { "id": "1" }, "message": "of test@example.com" }] });
        (status, code, meaning, body)
    });
    let of_a_call = [
        (401, "OAUTH_SCOPE_MISMATCH", "account"),
        (403, "NO_PERMISSION", "account"),
        (404, "INVALID_URL_PATTERN", "never"),
        (429, "TOO_MANY_REQUESTS", "away"),
        (500, "INTERNAL_ERROR", "away"),
    ];
    let of_a_call = of_a_call.map(|(status, code, meaning)| {
        let body =
            json!({ "code": code, "message": "of test@example.com", "status": "error", "details": {} });
        (status, code, meaning, body)
    });
    let answers = of_a_record.into_iter().chain(of_a_call);
    let answers = answers.map(|(status, code, meaning, body)| -> Documented {
        let said = if meaning == "done" { "" } else { code };
        ("zoho-crm.yaml", Reply::Answer(status, body), meaning, said)
    });
    answers.collect()
}

/// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, https://google.aip.dev/193 and
/// the documents in the recipe of Teams.
fn answers_of_chats() -> Vec<Documented> {
    let text = |status, text: &str| Reply::Text(status, text.to_owned());
    let slack = [
        (text(200, "ok"), "done", ""),
        (text(400, "invalid_blocks"), "never", "400"),
        (text(410, "channel_is_archived"), "never", "410"),
        (Reply::Later(429, "30", Value::Null), "away", "429"),
    ];
    let teams = [
        (Reply::Answer(202, Value::Null), "done", ""),
        (Reply::Answer(429, Value::Null), "away", "429"),
    ];
    let error = |code: u16, status: &str| json!({ "error": { "code": code, "message": "of test@example.com", "status": status } });
    let google = [
        (
            Reply::Answer(200, json!({ "name": "spaces/A/messages/B" })),
            "done",
            "",
        ),
        (
            Reply::Answer(400, error(400, "INVALID_ARGUMENT")),
            "never",
            "INVALID_ARGUMENT",
        ),
        (
            Reply::Answer(429, error(429, "RESOURCE_EXHAUSTED")),
            "away",
            "RESOURCE_EXHAUSTED",
        ),
    ];
    let of = |recipe| move |(reply, meaning, said)| (recipe, reply, meaning, said);
    let slack = slack.map(of("slack.yaml")).into_iter();
    let teams = teams.map(of("microsoft-teams.yaml"));
    slack
        .chain(teams)
        .chain(google.map(of("google-chat.yaml")))
        .collect()
}

/// https://pipedrive.readme.io/docs/core-api-concepts-rate-limiting and the documents in the recipes.
fn answers_of_others() -> Vec<Documented> {
    let pipedrive = [
        (
            Reply::Later(
                429,
                "2",
                json!({ "success": false, "error": "request over limit" }),
            ),
            "away",
            "429",
        ),
        (Reply::Answer(401, json!({ "success": false })), "account", "401"),
    ];
    let greenhouse = [
        (
            Reply::Answer(200, json!({ "success": "Candidate saved successfully" })),
            "done",
            "",
        ),
        (Reply::Answer(401, Value::Null), "account", "401"),
        (
            Reply::Answer(422, json!({ "error": "of test@example.com" })),
            "never",
            "422",
        ),
    ];
    let refused = json!({ "code": "BadRequestError", "message": "of test@example.com" });
    let lever = [
        (Reply::Answer(400, refused), "never", "BadRequestError"),
        (Reply::Answer(429, Value::Null), "away", "429"),
    ];
    let taken = (Reply::Answer(200, json!({ "status": "success" })), "done", "");
    let blank = (Reply::Text(200, String::new()), "done", "");
    let of = |recipe| move |(reply, meaning, said)| (recipe, reply, meaning, said);
    let pipedrive = pipedrive.map(of("pipedrive.yaml")).into_iter();
    let recruiting = greenhouse
        .map(of("greenhouse.yaml"))
        .into_iter()
        .chain(lever.map(of("lever.yaml")));
    let plain = [
        of("zapier-or-make.yaml")(taken),
        of("salesforce-web-to-lead.yaml")(blank),
    ];
    pipedrive.chain(recruiting).chain(plain).collect()
}

#[tokio::test]
async fn what_an_answer_means_is_what_the_vendor_documents() -> anyhow::Result<()> {
    let all = [
        answers_of_hubspot(),
        answers_of_salesforce(),
        answers_of_zoho(),
        answers_of_chats(),
        answers_of_others(),
    ]
    .concat();
    for (recipe, reply, meaning, said) in all {
        let scripted = reply.clone();
        let vendor = HttpStandIn::start(move |asked| match asked.url.path() {
            "/token" => Reply::Answer(200, json!({ "access_token": "token", "expires_in": 3600 })),
            _ => scripted.clone(),
        })
        .await?;
        let values = json!({
            "token_url": format!("{}/token", vendor.url), "company": "unknown", "oid": "00D000000000001",
            "board": "example", "jobs": {}, "job": 2, "perform_as": "u", "postings": {}, "posting": "p",
            "person_field": "site_person",
        });
        let setting = Setting::of_repository(recipe, &vendor.url, &values)?;
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
        let reason = sent.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(reason.contains(said), "{recipe} {reply:?}: {reason}");
        assert!(
            !reason.contains("example.com") && !reason.contains("512"),
            "{reason}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_vendor_that_says_when_to_come_back_is_left_alone_so_long() -> anyhow::Result<()> {
    let vendor = HttpStandIn::start(|_| Reply::Later(429, "7", Value::Null)).await?;
    let setting = Setting::of_repository("hubspot.yaml", &vendor.url, &json!({}))?;
    let refused = send(&setting, &lead()).await?.err().map(|error| error.remedy());
    let at_least = Duration::from_secs(7);
    assert_eq!(refused, Some(Remedy::RetryLater { at_least }));
    Ok(())
}

#[tokio::test]
async fn an_answer_that_never_ends_is_none() -> anyhow::Result<()> {
    let vendor = HttpStandIn::start(|_| Reply::Answer(201, "x".repeat(1_000_000).into())).await?;
    let setting = Setting::of_repository("hubspot.yaml", &vendor.url, &json!({}))?;
    // The answer is cut off at the size limit, so a value that the recipe keeps is missing.
    let refused = send(&setting, &lead()).await?.err();
    assert!(matches!(refused, Some(SendingError::Recipe(_))), "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn a_secret_that_rotates_is_used_from_the_next_request_on() -> anyhow::Result<()> {
    let vendor = HttpStandIn::start(|asked| match header_of(asked, "authorization") {
        "Bearer new" => hubspot(asked),
        _ => Reply::Answer(401, json!({ "category": "INVALID_AUTHENTICATION" })),
    })
    .await?;
    let setting = Setting::of_repository("hubspot.yaml", &vendor.url, &json!({}))?;
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
    let vendor = HttpStandIn::start(|_| Reply::Answer(201, json!({ "data": { "id": "o-1" } }))).await?;
    let values = json!({ "perform_as": "u", "postings": { "AI Intern": "p-1" }, "posting": "p-2" });
    let setting = Setting::of_repository("lever.yaml", &vendor.url, &values)?;
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
        assert_eq!(
            header_of(opportunity, "authorization"),
            "Basic dmFsdWUtb2YtbGV2ZXIta2V5Og=="
        );
        assert_eq!(note.url.path(), "/v1/opportunities/o-1/notes");
    }
    Ok(())
}

#[tokio::test]
async fn a_cover_letter_reaches_lever_though_only_the_opportunity_was_made_at_first() -> anyhow::Result<()> {
    let notes = AtomicUsize::new(0);
    let vendor = HttpStandIn::start(move |asked| match asked.method.as_str() {
        "GET" => Reply::Answer(200, json!({ "data": [{ "id": "o-1" }] })),
        _ if !asked.url.path().starts_with("/v1/opportunities/o-1/notes") => {
            Reply::Answer(201, json!({ "data": { "id": "o-1" } }))
        }
        _ if notes.fetch_add(1, Ordering::SeqCst) == 0 => Reply::Answer(429, Value::Null),
        _ => Reply::Answer(201, json!({ "data": { "id": "n-1" } })),
    })
    .await?;
    let values = json!({ "perform_as": "u", "postings": {}, "posting": "p-2" });
    let setting = Setting::of_repository("lever.yaml", &vendor.url, &values)?;
    let application = changed(EventType::CareersApplied, |_| {})?;
    assert!(send(&setting, &application).await?.is_err());
    let again = Outgoing {
        attempt: 2,
        ..application
    };
    assert!(send(&setting, &again).await?.is_ok());
    let asked = vendor.asked();
    let made = |path: &str| {
        let posted = asked.iter().filter(|asked| asked.method == "POST");
        posted.filter(|asked| asked.url.path() == path).count()
    };
    assert_eq!(made("/v1/opportunities"), 1);
    assert_eq!(made("/v1/opportunities/o-1/notes"), 2);
    Ok(())
}

#[tokio::test]
async fn pipedrive_gets_a_person_once_and_a_lead_and_a_note_for_each_message() -> anyhow::Result<()> {
    let persons = Arc::new(AtomicUsize::new(0));
    let known = persons.clone();
    let vendor = HttpStandIn::start(move |asked| match (asked.method.as_str(), asked.url.path()) {
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
    let setting = Setting::of_repository(
        "pipedrive.yaml",
        &vendor.url,
        &json!({ "person_field": "site_person" }),
    )?;
    for attempt in [1, 2] {
        assert!(send(&setting, &Outgoing { attempt, ..lead() }).await?.is_ok());
    }
    assert_eq!(persons.load(Ordering::SeqCst), 1);
    let asked = vendor.asked();
    let made = |path: &str| {
        let made = asked
            .iter()
            .filter(|asked| asked.url.path() == path && asked.method == "POST");
        made.map(body_of).collect::<Vec<_>>()
    };
    let marked = asked.iter().find(|asked| asked.method == "PATCH");
    let marked = marked.context("one who was known before is marked")?;
    assert_eq!(marked.url.path(), "/api/v2/persons/7");
    assert_eq!(
        body_of(marked),
        json!({ "custom_fields": { "site_person": "0".repeat(32) } })
    );
    let (leads, notes) = (made("/api/v1/leads"), made("/api/v1/notes"));
    assert_eq!((leads.len(), notes.len()), (2, 2));
    assert!(
        leads.iter().chain(&notes).all(|body| body["person_id"] == 7),
        "{leads:?}"
    );
    Ok(())
}
