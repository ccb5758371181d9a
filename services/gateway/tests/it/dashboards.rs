//! Dashboards and alerts ask for nothing that no service sends, and every alert says what to do.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use anyhow::{Context, ensure};
use regex_lite::Regex;
use serde_json::Value;
use tempfile::TempDir;
use testkit::root;

use crate::{documented, promtool::promtool};

/// What Prometheus adds to the labels of the services: who sent it.
const OF_PROMETHEUS: [&str; 2] = ["job", "instance"];
/// What Prometheus makes of one histogram, and the label that each part has besides.
const OF_A_HISTOGRAM: [(&str, Option<&str>); 3] = [("_bucket", Some("le")), ("_count", None), ("_sum", None)];

/// The labels of each metric, by the names that Prometheus has for both.
struct Known(BTreeMap<String, BTreeSet<String>>);

fn folder() -> PathBuf {
    root().join("k8s/components/observability")
}

impl Known {
    /// What the services send.
    fn documented() -> anyhow::Result<Self> {
        let mut known = BTreeMap::new();
        for metric in documented::metrics()? {
            let labels = metric.labels.iter().map(|label| label.replace('.', "_"));
            let labels: BTreeSet<String> = labels.chain(OF_PROMETHEUS.map(str::to_owned)).collect();
            let name = metric.at_prometheus;
            if metric.kind != "histogram" {
                known.insert(name, labels);
                continue;
            }
            for (part, besides) in OF_A_HISTOGRAM {
                let besides = besides.map(str::to_owned);
                known.insert(
                    format!("{name}{part}"),
                    labels.iter().cloned().chain(besides).collect(),
                );
            }
        }
        Ok(Self(known))
    }

    /// What the services send, and what others tell that alerts ask for.
    fn of_all() -> anyhow::Result<Self> {
        let Self(mut known) = Self::documented()?;
        for (name, labels) in documented::metrics_of_others()? {
            let labels = labels.into_iter().chain(OF_PROMETHEUS.map(str::to_owned));
            ensure!(known.insert(name, labels.collect()).is_none(), "told twice");
        }
        Ok(Self(known))
    }

    /// The metrics that a query asks for: the names in front of braces, which all of ours have. Each
    /// must have every label that it is chosen by, and one of them each that the query sums by or joins on.
    fn asked_for(&self, query: &str) -> anyhow::Result<Vec<String>> {
        let lists = Regex::new(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")?;
        let lists = lists
            .captures_iter(query)
            .flat_map(|found| found.extract::<1>().1);
        let of_all: Vec<&str> = lists
            .flat_map(|list| list.split(','))
            .map(str::trim)
            .filter(|label| !label.is_empty())
            .collect();
        let matcher = Regex::new(r#"(\w+)\s*(?:=~|!~|!=|=)\s*""#)?;
        let (mut asked, mut had) = (Vec::new(), BTreeSet::new());
        for found in Regex::new(r"([\w:]+)\{([^}]*)\}")?.captures_iter(query) {
            let (_, [metric, matchers]) = found.extract();
            let labels = self.0.get(metric);
            let labels = labels.with_context(|| format!("nothing sends {metric}"))?;
            let chosen_by = matcher
                .captures_iter(matchers)
                .map(|found| found.extract::<1>().1[0]);
            for label in chosen_by {
                ensure!(labels.contains(label), "{metric} has no label {label}: {query}");
            }
            had.extend(labels.iter().map(String::as_str));
            asked.push(metric.to_owned());
        }
        for label in of_all {
            ensure!(had.contains(label), "{asked:?} have no label {label}: {query}");
        }
        Ok(asked)
    }
}

/// Every query of a dashboard, with the panel that it is of.
fn queries(dashboard: &Value) -> Vec<(String, String)> {
    let of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let panels = dashboard["panels"].as_array().into_iter().flatten();
    panels
        .flat_map(|panel| {
            let targets = panel["targets"].as_array().into_iter().flatten();
            targets.map(move |target| (of(&panel["title"]), of(&target["expr"])))
        })
        .collect()
}

#[test]
fn every_panel_asks_for_metrics_that_the_services_send_and_each_of_these_is_shown() -> anyhow::Result<()> {
    let known = Known::documented()?;
    let mut shown = BTreeSet::new();
    let mut names = Vec::new();
    for entry in fs::read_dir(folder().join("dashboards"))? {
        let path = entry?.path();
        let dashboard: Value = serde_json::from_slice(&fs::read(&path)?)?;
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        for (panel, query) in queries(&dashboard) {
            let asked = known.asked_for(&query).with_context(|| panel.clone())?;
            assert!(!asked.is_empty(), "{panel} asks for nothing: {query}");
            shown.extend(asked);
        }
    }
    names.sort();
    assert_eq!(
        names,
        ["delivery", "forms", "overview", "runtime", "uploads", "visits"]
    );
    for metric in documented::metrics()? {
        let name = &metric.at_prometheus;
        let is_shown = shown.iter().any(|shown| shown.starts_with(name));
        assert!(is_shown, "no dashboard shows {name}");
    }
    Ok(())
}

/// The rules as promtool reads them: what stands below `spec` of the PrometheusRule.
fn rules() -> anyhow::Result<String> {
    let file = fs::read_to_string(folder().join("alerts/site.yaml"))?;
    let (_, spec) = file
        .split_once("\nspec:\n")
        .context("alerts/site.yaml has no spec")?;
    let lines = spec.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
    Ok(lines.map(|line| format!("{line}\n")).collect())
}

/// The values of all lines with this key in the file of alerts.
fn values<'a>(rules: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = rules.lines().map(|line| line.trim().trim_start_matches("- "));
    lines.filter_map(move |line| line.strip_prefix(key))
}

/// The lines that begin with one of these keys, each with what stands below it, further in.
fn blocks(rules: &str, keys: &[&str]) -> Vec<String> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = rules.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| {
        let line = line.trim_start();
        keys.iter().any(|key| line.starts_with(key))
    });
    starts
        .map(|(at, start)| {
            let below = lines[at + 1..]
                .iter()
                .take_while(|line| depth(line) > depth(start));
            std::iter::once(start)
                .chain(below)
                .map(|line| format!("{line}\n"))
                .collect()
        })
        .collect()
}

/// What a rule records, or the alert that it is.
fn name_of(rule: &str) -> &str {
    let (_, name) = rule
        .lines()
        .next()
        .and_then(|line| line.split_once(": "))
        .unwrap_or_default();
    name
}

/// Of these rules, in their order, those that these alerts come to: themselves, and what they ask for of what others record.
fn needed<'a>(rules: &'a [String], alerts: &BTreeSet<&str>) -> Vec<&'a str> {
    let mut needed: Vec<&str> = Vec::new();
    for rule in rules.iter().rev() {
        let name = name_of(rule);
        if alerts.contains(name) || name.contains(':') && needed.iter().any(|other| other.contains(name)) {
            needed.push(rule);
        }
    }
    needed.reverse();
    needed
}

#[test]
fn a_label_that_a_metric_does_not_have_is_noticed() -> anyhow::Result<()> {
    let known = Known::documented()?;
    let asked = known.asked_for(
        r#"sum by (le, channel) (rate(site_delivery_age_seconds_bucket{le=~"60(\\.0)?", job="notifier"}[5m]))"#,
    )?;
    assert_eq!(asked, ["site_delivery_age_seconds_bucket"]);
    for (query, label) in [
        (r#"site_consumer_lag{form="contact"}"#, "form"),
        (
            r#"site_submissions_total{form="contact", http_route=~"/api/.*"}"#,
            "http_route",
        ),
        ("sum by (channel, outcome) (site_consumer_lag{})", "outcome"),
        (
            "site_consumer_lag{} * on(form) site_consumer_oldest_age_seconds{}",
            "form",
        ),
        ("sum by (le) (site_delivery_age_seconds_count{})", "le"),
    ] {
        let refused = known.asked_for(query).err().map(|error| error.to_string());
        let refused = refused.with_context(|| format!("taken: {query}"))?;
        assert!(refused.contains(&format!("no label {label}:")), "{refused}");
    }
    Ok(())
}

#[test]
fn every_alert_asks_for_what_is_sent_and_has_an_entry_in_the_runbook() -> anyhow::Result<()> {
    let rules = rules()?;
    let known = Known::of_all()?;
    let queries = blocks(&rules, &["expr:"]);
    let named = values(&rules, "alert: ").chain(values(&rules, "record: "));
    assert_eq!(queries.len(), named.count(), "a query for each rule");
    let mut asked = BTreeSet::new();
    for query in queries {
        asked.extend(known.asked_for(&query)?);
    }
    let others = documented::metrics_of_others()?;
    let in_vain: Vec<&String> = others.keys().filter(|name| !asked.contains(*name)).collect();
    assert!(in_vain.is_empty(), "no alert asks for {in_vain:?}");
    let runbook = fs::read_to_string(root().join("docs/runbook.md"))?;
    let entries: Vec<&str> = runbook
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let alerts: Vec<&str> = values(&rules, "alert: ").collect();
    assert_eq!(alerts, entries, "alerts and entries of the runbook");
    let addresses: Vec<&str> = values(&rules, "runbook_url: ").collect();
    let expected = entries
        .iter()
        .map(|entry| format!("docs/runbook.md#{}", entry.to_lowercase()));
    assert_eq!(addresses, expected.collect::<Vec<_>>());
    let cases = fs::read_to_string(folder().join("alerts/tests.yaml"))?;
    for alert in alerts {
        let (still, firing): (Vec<&str>, Vec<&str>) = cases
            .split("alertname: ")
            .filter(|case| case.starts_with(&format!("{alert}\n")))
            .partition(|case| case.contains("exp_alerts: []"));
        assert!(!firing.is_empty(), "no case shows that {alert} fires");
        assert!(!still.is_empty(), "no case shows that {alert} keeps still");
    }
    Ok(())
}

/// promtool evaluates every rule that it is given for every case, at every moment of it: so each case is given those alone that its
/// alerts come to.
#[test]
fn alerts_fire_and_keep_still_as_their_cases_say() -> anyhow::Result<()> {
    const CASE: &str = "\n  - name: ";
    let (scratch, text) = (TempDir::new()?, rules()?);
    let file = |name: &str| scratch.path().join(name);
    fs::write(file("site.yaml"), &text)?;
    promtool("check", [file("site.yaml")])?;
    let rules = blocks(&text, &["- record: ", "- alert: "]);
    let mut untried: BTreeSet<&str> = rules.iter().map(|rule| name_of(rule)).collect();
    let tests = fs::read_to_string(folder().join("alerts/tests.yaml"))?;
    let mut parts = tests.split(CASE);
    let head = parts.next().context("the file has a head")?;
    let mut files = Vec::new();
    for (number, case) in parts.enumerate() {
        let needed = needed(&rules, &values(case, "alertname: ").collect());
        untried.retain(|name| !needed.iter().any(|rule| name_of(rule) == *name));
        let name = format!("rules-{number}.yaml");
        fs::write(
            file(&name),
            format!("groups:\n  - name: rules\n    rules:\n{}", needed.concat()),
        )?;
        files.push(file(&format!("tests-{number}.yaml")));
        fs::write(
            &files[number],
            format!("{}{CASE}{case}\n", head.replace("site.yaml", &name)),
        )?;
    }
    assert!(untried.is_empty(), "no case comes to {untried:?}");
    promtool("test", files)
}
