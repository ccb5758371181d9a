//! Checks the requests of the repository's recipes against vendors' schemas.

use std::fs;

use anyhow::Context as _;
use jsonschema::Validator;
use serde_json::Value;
use site_events::EventType;
use testkit::root;
use time::OffsetDateTime;
use webhooks::{Outgoing, WebhookSender, sample};

use crate::setting::{Setting, changed, least, values};

/// Every recipe and its endpoint's address.
const RECIPES: [(&str, &str); 11] = [
    ("hubspot.yaml", "https://api.hubapi.com"),
    ("salesforce.yaml", "https://example.my.salesforce.com"),
    ("salesforce-web-to-lead.yaml", "https://webto.salesforce.com"),
    ("zoho-crm.yaml", "https://www.zohoapis.eu"),
    ("pipedrive.yaml", "https://example.pipedrive.com"),
    ("slack.yaml", "https://hooks.slack.com/services/T0/B0/x"),
    ("microsoft-teams.yaml", "https://example.com/workflows/1?sig=x"),
    (
        "google-chat.yaml",
        "https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t",
    ),
    ("zapier-or-make.yaml", "https://hooks.zapier.com/hooks/catch/1/x/"),
    ("greenhouse.yaml", "https://boards-api.greenhouse.io"),
    ("lever.yaml", "https://api.lever.co"),
];
const TOKEN_URL: &str = "https://accounts.example.com/oauth/v2/token";

fn url_of(recipe: &str) -> &'static str {
    let found = RECIPES.iter().find(|(name, _)| *name == recipe);
    found.map_or("", |(_, url)| *url)
}

fn sender_of(recipe: &str) -> anyhow::Result<WebhookSender> {
    Setting::of_repository(recipe, url_of(recipe), &values(TOKEN_URL))?.sender()
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

/// Injection attempts, the character whose HTML escape is longest, and a character of four bytes in UTF-8.
const WORDS: [&str; 3] = [
    "\"}]}, {{ secret('hubspot-token') }} {% raw %} </script> \u{202e}\r\n' OR 1=1 -- ",
    "\"",
    "𝄞",
];

/// Fields of the event's form except the address, each with the largest limit that the API has for it.
fn limits(event: EventType) -> anyhow::Result<Vec<(&'static str, usize)>> {
    let api: Value = serde_json::from_str(&fs::read_to_string(root().join("docs/openapi.json"))?)?;
    let schemas = api["components"]["schemas"].as_object().context("schemas")?;
    let limit = |field: &str| {
        let limits = schemas.values();
        let limits = limits.filter_map(|form| form["properties"][field]["maxLength"].as_u64());
        limits
            .max()
            .with_context(|| format!("the API has no limit of {field}"))
    };
    let fields = event.form_fields().iter().map(|(field, _)| *field);
    fields
        .filter(|field| *field != "email")
        .map(|field| Ok((field, usize::try_from(limit(field)?)?)))
        .collect()
}

fn longest(event: EventType, words: &str) -> anyhow::Result<Outgoing> {
    let limits = limits(event)?;
    changed(event, |content| {
        let data = &mut content["data"];
        for (field, most) in limits {
            data[field] = words.chars().cycle().take(most).collect::<String>().into();
        }
        if let Some(email) = data.get_mut("email") {
            *email = longest_address().into();
        }
    })
}

/// An address of 254 characters.
fn longest_address() -> String {
    format!("{}@{}com", "a".repeat(64), "label.".repeat(31))
}

#[test]
fn every_recipe_is_tried_here() -> anyhow::Result<()> {
    let mut found: Vec<String> = fs::read_dir(root().join("recipes"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    found.sort();
    let mut tried = RECIPES.map(|(name, _)| name);
    tried.sort_unstable();
    assert_eq!(found, tried);
    Ok(())
}

#[test]
fn every_body_fits_its_vendors_schema() -> anyhow::Result<()> {
    let now = OffsetDateTime::now_utc();
    let link = "https://store.example/cv.pdf?X-Amz-Signature=1".to_owned();
    for (recipe, url) in RECIPES {
        let host = url::Url::parse(url)?;
        let setting = Setting::of_repository(recipe, url, &values(TOKEN_URL))?;
        let sender = setting.sender().with_context(|| recipe.to_owned())?;
        let schemas = schemas(recipe)?;
        for event in setting.events() {
            let mut written = vec![sample(event, now), least(event)];
            for words in WORDS {
                written.push(longest(event, words)?);
            }
            for outgoing in written {
                let has_resume = String::from_utf8_lossy(&outgoing.payload).contains("\"resume\"");
                let outgoing = Outgoing {
                    resume_link: has_resume.then(|| link.clone()),
                    ..outgoing
                };
                for (step, request) in sender.preview(&outgoing, now)? {
                    let uri = request.uri();
                    assert_eq!(uri.host(), host.host_str(), "{recipe} {step}: {uri}");
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
fn a_too_long_address_is_put_before_the_message() -> anyhow::Result<()> {
    let event = longest(EventType::ContactReceived, "words ")?;
    let message: String = "words ".chars().cycle().take(10_000).collect();
    for (recipe, step, text) in [
        ("salesforce.yaml", "lead", "/Description"),
        ("zoho-crm.yaml", "note", "/data/0/Note_Content"),
    ] {
        let requests = sender_of(recipe)?.preview(&event, OffsetDateTime::now_utc())?;
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
fn visitor_text_is_escaped_in_forms_and_urls() -> anyhow::Result<()> {
    let now = OffsetDateTime::now_utc();
    let event = changed(EventType::ContactReceived, |content| {
        content["data"]["name"] = "Asha &oid=1".into();
        content["data"]["message"] = "a=b&c\nd".into();
    })?;
    let requests = sender_of("salesforce-web-to-lead.yaml")?.preview(&event, now)?;
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

    let event = changed(EventType::ContactReceived, |content| {
        content["data"]["email"] = "a&term=*/../b@example.com".into();
    })?;
    let pipedrive = Setting::of_repository("pipedrive.yaml", url_of("pipedrive.yaml"), &values(TOKEN_URL))?;
    let requests = pipedrive.sender()?.preview(&event, now)?;
    let query = requests[0].1.uri().query().unwrap_or_default();
    let expected = "term=a%26term%3D%2A%2F..%2Fb%40example.com&fields=email";
    assert!(query.starts_with(expected), "{query}");
    Ok(())
}

#[test]
fn a_recipe_without_a_person_field_accepts_only_leads() -> anyhow::Result<()> {
    let mut unnamed = values(TOKEN_URL);
    unnamed.as_object_mut().context("values")?.remove("person_field");
    for recipe in ["zoho-crm.yaml", "pipedrive.yaml"] {
        let of = |event| Setting::of_events(recipe, url_of(recipe), &[event], &unnamed);
        assert!(of("contact.received")?.sender().is_ok(), "{recipe}");
        for event in ["newsletter.bounced", "person.erased"] {
            let refused = of(event)?.sender().err().context("it started")?;
            assert!(format!("{refused:#}").contains("line "), "{recipe}: {refused:#}");
        }
    }
    Ok(())
}
