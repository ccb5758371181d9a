//! The repository's recipes send what vendors' schemas allow.

use std::fs;

use anyhow::Context as _;
use jsonschema::Validator;
use serde_json::{Value, json};
use site_events::EventType;
use testkit::root;
use time::OffsetDateTime;
use webhooks::{Outgoing, sample};

use crate::setting::{Setting, changed, least};

/// Every recipe, its endpoint's address and its values.
fn recipes() -> [(&'static str, &'static str, Value); 12] {
    let none = || json!({});
    let pipedrive = json!({ "person_field": "b35ab7a5a1d6e0a9d7f7f0e2f4d8a1c3e5f70912" });
    [
        ("hubspot.yaml", "https://api.hubapi.com", none()),
        (
            "salesforce.yaml",
            "https://example.my.salesforce.com",
            json!({ "token_url": "https://example.my.salesforce.com/services/oauth2/token", "company": "unknown" }),
        ),
        (
            "salesforce-web-to-lead.yaml",
            "https://webto.salesforce.com",
            json!({ "oid": "00D000000000001", "company": "unknown" }),
        ),
        (
            "zoho-crm.yaml",
            "https://www.zohoapis.eu",
            json!({ "token_url": "https://accounts.zoho.eu/oauth/v2/token", "person_field": "Site_Person_Id" }),
        ),
        ("pipedrive.yaml", "https://example.pipedrive.com", pipedrive),
        ("slack.yaml", "https://hooks.slack.com/services/T0/B0/x", none()),
        (
            "microsoft-teams.yaml",
            "https://example.com/workflows/1?sig=x",
            none(),
        ),
        (
            "google-chat.yaml",
            "https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t",
            none(),
        ),
        (
            "zapier-or-make.yaml",
            "https://hooks.zapier.com/hooks/catch/1/x/",
            none(),
        ),
        (
            "greenhouse.yaml",
            "https://boards-api.greenhouse.io",
            json!({ "board": "example", "jobs": { "AI Intern": 1 }, "job": 2 }),
        ),
        (
            "lever.yaml",
            "https://api.lever.co",
            json!({ "perform_as": "u", "postings": { "AI Intern": "a" }, "posting": "b" }),
        ),
        ("README.md", "", Value::Null),
    ]
}

/// Schemas of the steps' bodies, by step name.
fn schemas(recipe: &str) -> anyhow::Result<Option<Value>> {
    let file = root()
        .join("recipes/schemas")
        .join(recipe.replace(".yaml", ".json"));
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(serde_json::from_str(&text)?)),
        Err(_) => Ok(None),
    }
}

/// Input that tries to break out of its value, and input that grows most as HTML and UTF-8.
const WORDS: [&str; 3] = [
    "\"}]}, {{ secret('hubspot-token') }} {% raw %} </script> \u{202e}\r\n' OR 1=1 -- ",
    "\"",
    "𝄞",
];

const LIMITS: [(&str, usize); 5] = [
    ("name", 200),
    ("message", 10_000),
    ("coverLetter", 20_000),
    ("position", 200),
    ("phone", 40),
];

fn longest(event: EventType, words: &str) -> anyhow::Result<Outgoing> {
    changed(event, |content| {
        let Some(data) = content["data"].as_object_mut() else {
            return;
        };
        for (field, most) in LIMITS {
            let text: String = words.chars().cycle().take(most).collect();
            data.entry(field).and_modify(|value| *value = text.into());
        }
        data.entry("email")
            .and_modify(|value| *value = longest_address().into());
    })
}

/// An address of 254 characters.
fn longest_address() -> String {
    format!("{}@{}com", "a".repeat(64), "label.".repeat(31))
}

#[test]
fn every_recipe_is_tried_here() -> anyhow::Result<()> {
    let mut found: Vec<String> = Vec::new();
    for entry in fs::read_dir(root().join("recipes"))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found.sort();
    let mut tried: Vec<String> = recipes().iter().map(|(name, ..)| (*name).to_owned()).collect();
    tried.sort();
    assert_eq!(found, tried);
    Ok(())
}

#[test]
fn what_each_recipe_sends_is_what_its_vendor_publishes_whatever_a_visitor_wrote() -> anyhow::Result<()> {
    for (recipe, url, values) in recipes() {
        if recipe == "README.md" {
            continue;
        }
        let setting = Setting::of_repository(recipe, url, &values)?;
        let sender = setting.sender().with_context(|| recipe.to_owned())?;
        let schemas = schemas(recipe)?;
        for event in setting.events() {
            let mut written = vec![sample(event, OffsetDateTime::now_utc()), least(event)?];
            for words in WORDS {
                written.push(longest(event, words)?);
            }
            for outgoing in written {
                let has_resume = String::from_utf8_lossy(&outgoing.payload).contains("\"resume\"");
                let link = "https://store.example/cv.pdf?X-Amz-Signature=1".to_owned();
                let outgoing = Outgoing {
                    resume_link: has_resume.then_some(link),
                    ..outgoing
                };
                for (step, request) in sender.preview(&outgoing, OffsetDateTime::now_utc())? {
                    let at_vendor = request.uri().host() == url::Url::parse(url)?.host_str();
                    assert!(at_vendor, "{recipe} {step}: {}", request.uri());
                    let Some(schemas) = &schemas else { continue };
                    if request.body().is_empty() {
                        continue;
                    }
                    ensure_valid(&schemas["steps"][&step], request.body())
                        .with_context(|| format!("{recipe}, step {step}, {}", event.short_name()))?;
                }
            }
        }
    }
    Ok(())
}

fn ensure_valid(schema: &Value, body: &[u8]) -> anyhow::Result<()> {
    anyhow::ensure!(schema.is_object(), "there is no schema of it");
    if let Some(most) = schema["maxBytes"].as_u64() {
        anyhow::ensure!(u64::try_from(body.len())? <= most, "{} bytes", body.len());
    }
    let validator: Validator = jsonschema::validator_for(schema)?;
    let body: Value = serde_json::from_slice(body)?;
    let mistakes: Vec<String> = validator
        .iter_errors(&body)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    anyhow::ensure!(mistakes.is_empty(), "{mistakes:?}");
    Ok(())
}

#[test]
fn a_field_that_no_vendor_names_is_found() -> anyhow::Result<()> {
    let schemas = schemas("hubspot.yaml")?.context("it has schemas")?;
    let upsert = |field: &str| json!({ "inputs": [{ "id": "a@b.example", field: {}, "properties": {} }] });
    let refused = ensure_valid(
        &schemas["steps"]["contact"],
        upsert("propertys").to_string().as_bytes(),
    );
    assert!(refused.is_err());
    Ok(())
}

#[test]
fn an_address_that_is_longer_than_a_leads_stands_before_the_message() -> anyhow::Result<()> {
    for (recipe, step, text) in [
        ("salesforce.yaml", "lead", "/Description"),
        ("zoho-crm.yaml", "note", "/data/0/Note_Content"),
    ] {
        let recipes = recipes();
        let found = recipes.iter().find(|(name, ..)| *name == recipe);
        let (_, url, values) = found.context("it is one of ours")?;
        let sender = Setting::of_repository(recipe, url, values)?.sender()?;
        let event = longest(EventType::ContactReceived, "words ")?;
        let message: String = "words ".chars().cycle().take(10_000).collect();
        let requests = sender.preview(&event, OffsetDateTime::now_utc())?;
        let all: String = requests
            .iter()
            .map(|(_, request)| String::from_utf8_lossy(request.body()))
            .collect();
        assert!(!all.contains("\"Email\":"), "{all}");
        let request = requests.iter().find(|(name, _)| name == step);
        let body: Value = serde_json::from_slice(request.context("the step")?.1.body())?;
        let said = body.pointer(text).and_then(Value::as_str).unwrap_or_default();
        assert_eq!(said, format!("{}\n\n{message}", longest_address()));
    }
    Ok(())
}

#[test]
fn a_form_and_a_path_hold_what_a_visitor_wrote_as_one_value() -> anyhow::Result<()> {
    let (_, url, values) = &recipes()[2];
    let setting = Setting::of_repository("salesforce-web-to-lead.yaml", url, values)?;
    let event = changed(EventType::ContactReceived, |content| {
        content["data"]["name"] = "Asha &oid=1".into();
        content["data"]["message"] = "a=b&c\nd".into();
    })?;
    let requests = setting.sender()?.preview(&event, OffsetDateTime::now_utc())?;
    let fields: Vec<(String, String)> = url::form_urlencoded::parse(requests[0].1.body())
        .into_owned()
        .collect();
    let named = |name: &str| -> Vec<&str> {
        let of_it = fields.iter().filter(|(field, _)| field == name);
        of_it.map(|(_, value)| value.as_str()).collect()
    };
    assert_eq!(named("oid"), ["00D000000000001"]);
    assert_eq!(named("last_name"), ["&oid=1"]);
    assert_eq!(named("description"), ["a=b&c\nd"]);

    let (_, url, values) = recipes()[4].clone();
    let setting = Setting::of_repository("pipedrive.yaml", url, &values)?;
    let event = changed(EventType::ContactReceived, |content| {
        content["data"]["email"] = "a&term=*/../b@example.com".into();
    })?;
    let requests = setting.sender()?.preview(&event, OffsetDateTime::now_utc())?;
    let query = requests[0].1.uri().query().unwrap_or_default();
    assert!(
        query.starts_with("term=a%26term%3D%2A%2F..%2Fb%40example.com&fields=email"),
        "{query}"
    );
    Ok(())
}

#[test]
fn a_recipe_that_finds_people_by_a_field_takes_no_erasure_without_its_name_and_leads_all_the_same()
-> anyhow::Result<()> {
    for recipe in ["zoho-crm.yaml", "pipedrive.yaml"] {
        let recipes = recipes();
        let found = recipes.iter().find(|(name, ..)| *name == recipe);
        let (_, url, values) = found.context("it is one of ours")?;
        let mut unnamed = values.clone();
        unnamed.as_object_mut().context("values")?.remove("person_field");
        let of = |event| Setting::of_events(recipe, url, &[event], &unnamed);
        assert!(of("contact.received")?.sender().is_ok(), "{recipe}");
        for event in ["newsletter.bounced", "person.erased"] {
            let refused = of(event)?.sender().err().context("it started")?;
            assert!(format!("{refused:#}").contains("line "), "{recipe}: {refused:#}");
        }
    }
    Ok(())
}
