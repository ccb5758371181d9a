//! Checks that errors in recipes name the file and the line.

use crate::setting::Setting;

const RECIPE: &str = "\
steps:
  - name: lead
    events: [contact.received]
    path: /leads
    headers:
      Authorization: 'Bearer {{ secret(\"hubspot-token\") }}'
    json: |
      {
        \"name\": {{ data.name }},
        \"who\": {{ values.who }}
      }
";

/// Part of the recipe, its faulty replacement, and the line and words of the expected error.
const WRONG: [(&str, &str, usize, &str); 21] = [
    ("data.name", "data.nmae", 9, "undefined"),
    ("values.who", "values.owner", 10, "undefined"),
    ("{{ data.name }}", "{{ data.name", 9, "syntax error"),
    ("{{ data.name }}", "{{ data.name|upcase }}", 9, "unknown filter"),
    ("{{ data.name }}", "Asha", 9, "it makes no JSON"),
    ("data.name }},", "data.name }}", 10, "it makes no JSON"),
    ("hubspot-token", "hubspot-key", 6, "secret hubspot-key cannot"),
    ("hubspot-token", "../hubspot-token", 6, "a secret is named by"),
    ("path: /leads", "path: leads", 4, "a path begins with /"),
    ("path: /leads", "path: /a/%2E./leads", 4, "leads not up"),
    ("/leads", "/leads/{{ resume_link }}", 4, "it has no value"),
    ("name: lead", "name: Lead", 2, "a step is named by"),
    ("contact.received]", "contact.read]", 3, "no event contact.read"),
    ("    path: /leads", "    when: data.nmae == ''", 4, "undefined"),
    ("    path: /leads", "    when: attempt >", 4, "syntax error"),
    ("    path: /leads", "    keep: { id: data }", 4, "JSON pointer"),
    (
        "    path: /leads",
        "    answers: [{ status: ok, means: done }]",
        4,
        "a status is 409",
    ),
    ("    path: /leads", "    method: \"GET IT\"", 4, "no method"),
    ("    path: /leads", "    pfad: /leads", 4, "unknown field"),
    ("    path: /leads", "    form: { a: b }", 2, "json or a form"),
    ("Authorization", "Authori zation", 6, "no name of a header"),
];

fn refusal(recipe: &str, events: &[&str]) -> anyhow::Result<(usize, String)> {
    let (setting, _folder) = Setting::of(recipe, "https://crm.example", events)?;
    let refused = setting.sender().err();
    let said = refused.map(|error| error.to_string()).unwrap_or_default();
    let (_, rest) = said.split_once("recipe.yaml, line ").unwrap_or_default();
    let (line, reason) = rest.split_once(": ").unwrap_or_default();
    Ok((line.parse().unwrap_or_default(), reason.to_owned()))
}

#[test]
fn a_valid_recipe_is_accepted() -> anyhow::Result<()> {
    let (setting, _folder) = Setting::of(RECIPE, "https://crm.example", &["contact.received"])?;
    setting.sender().map(drop)
}

#[test]
fn a_mistake_is_named_with_its_line() -> anyhow::Result<()> {
    for (right, wrong, line, said) in WRONG {
        let recipe = RECIPE.replace(right, wrong);
        assert_ne!(recipe, RECIPE, "{wrong}");
        let (found, reason) = refusal(&recipe, &["contact.received"])?;
        assert!(reason.contains(said), "{wrong}: {reason}");
        assert_eq!(found, line, "{wrong}: {reason}");
        assert!(!reason.contains("value-of"), "{reason}");
    }
    Ok(())
}

#[test]
fn an_event_without_a_step_is_named() -> anyhow::Result<()> {
    let (_, reason) = refusal(RECIPE, &["contact.received", "careers.applied"])?;
    assert_eq!(reason, "no step is made for the event careers.applied");
    Ok(())
}

#[test]
fn an_optional_field_may_not_be_required() -> anyhow::Result<()> {
    let recipe = RECIPE.replace(
        "\"who\": {{ values.who }}",
        "\"page\": {{ data.attribution.page.path }}",
    );
    let (line, reason) = refusal(&recipe, &["contact.received"])?;
    assert_eq!(line, 10, "{reason}");
    Ok(())
}
