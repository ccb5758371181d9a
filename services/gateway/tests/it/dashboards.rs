//! Dashboards and alerts query only metrics that exist, and alerts fire as expected.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use anyhow::{Context, ensure};
use regex_lite::Regex;
use serde_json::Value;
use tempfile::TempDir;
use testkit::{generated, root};

use crate::promtool::promtool;

const OF_PROMETHEUS: [&str; 3] = ["job", "instance", "namespace"];
/// Suffixes of a histogram's series at Prometheus, each with its additional label.
const OF_A_HISTOGRAM: [(&str, Option<&str>); 3] = [("_bucket", Some("le")), ("_count", None), ("_sum", None)];
/// Prefixes of our metrics' names at Prometheus.
const OURS: [&str; 4] = ["site_", "http_server_", "rpc_server_", "messaging_"];

struct Known(BTreeMap<String, BTreeSet<String>>);

fn folder() -> PathBuf {
    root().join("k8s/components/observability")
}

impl Known {
    fn from_table() -> anyhow::Result<Self> {
        let mut known = BTreeMap::new();
        for row in generated::table("docs/telemetry.md", "metrics")?.lines().skip(2) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let [_, _, name, kind, _, labels, ..] = cells[..] else {
                anyhow::bail!("a row without labels: {row}");
            };
            let name = name.trim_matches('`');
            let labels = labels
                .split('`')
                .skip(1)
                .step_by(2)
                .map(|label| label.replace('.', "_"));
            let labels: BTreeSet<String> = labels.chain(OF_PROMETHEUS.map(str::to_owned)).collect();
            let parts = if kind == "histogram" {
                &OF_A_HISTOGRAM[..]
            } else {
                &[("", None)]
            };
            for (part, besides) in parts {
                let labels = labels.iter().cloned().chain(besides.map(str::to_owned));
                known.insert(format!("{name}{part}"), labels.collect());
            }
        }
        Ok(Self(known))
    }

    /// Fails if the query names a metric of ours that does not exist, or a label that the metric lacks.
    fn check(&self, query: &str) -> anyhow::Result<()> {
        let matcher = Regex::new(r#"(\w+)\s*(?:=~|!~|!=|=)\s*""#)?;
        let (mut had, mut is_ours_alone) = (BTreeSet::new(), true);
        for found in Regex::new(r"([\w:]+)\{([^}]*)\}")?.captures_iter(query) {
            let (_, [metric, matchers]) = found.extract();
            if !OURS.iter().any(|prefix| metric.starts_with(prefix)) {
                is_ours_alone = false;
                continue;
            }
            let labels = self
                .0
                .get(metric)
                .with_context(|| format!("nothing sends {metric}"))?;
            for found in matcher.captures_iter(matchers) {
                let label = &found[1];
                ensure!(labels.contains(label), "{metric} has no label {label}: {query}");
            }
            had.extend(labels.iter().map(String::as_str));
        }
        // Skips the check of label lists if the query names only recording rules, whose labels are unknown.
        is_ours_alone &= !had.is_empty();
        let lists = Regex::new(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")?;
        for list in lists.captures_iter(query).filter(|_| is_ours_alone) {
            for label in list[1]
                .split(',')
                .map(str::trim)
                .filter(|label| !label.is_empty())
            {
                ensure!(had.contains(label), "no metric has a label {label}: {query}");
            }
        }
        Ok(())
    }
}

#[test]
fn dashboards_and_canaries_query_existing_metrics() -> anyhow::Result<()> {
    let known = Known::from_table()?;
    for entry in fs::read_dir(folder().join("dashboards"))? {
        let dashboard: Value = serde_json::from_slice(&fs::read(entry?.path())?)?;
        for panel in dashboard["panels"].as_array().into_iter().flatten() {
            for target in panel["targets"].as_array().into_iter().flatten() {
                let query = target["expr"].as_str().unwrap_or_default();
                known.check(query).with_context(|| panel["title"].to_string())?;
            }
        }
    }
    let releases = fs::read_to_string(root().join("docs/releases.md"))?;
    for part in releases.split("```promql\n").skip(1) {
        known.check(part.split("```").next().unwrap_or_default())?;
    }
    Ok(())
}

/// Returns the alerts' rules in promtool's format, which is the content of `spec` in our PrometheusRule.
fn rules() -> anyhow::Result<String> {
    let file = fs::read_to_string(folder().join("alerts/site.yaml"))?;
    let (_, spec) = file
        .split_once("\nspec:\n")
        .context("alerts/site.yaml has no spec")?;
    let lines = spec.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
    Ok(lines.map(|line| format!("{line}\n")).collect())
}

fn values<'a>(rules: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = rules.lines().map(|line| line.trim().trim_start_matches("- "));
    lines.filter_map(move |line| line.strip_prefix(key))
}

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

fn name_of(rule: &str) -> &str {
    let first = rule.lines().next().unwrap_or_default();
    first.split_once(": ").map_or("", |(_, name)| name)
}

/// Returns the rules of `alerts`, and the recording rules that they query, in the order of the file.
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

/// Returns the alerts that a case names, also in the samples of its queries.
fn alerts_of(case: &str) -> anyhow::Result<BTreeSet<&str>> {
    let named = Regex::new(r#"alertname(?:: |=")(\w+)"#)?;
    let found = named.captures_iter(case).filter_map(|found| found.get(1));
    Ok(found.map(|name| name.as_str()).collect())
}

#[test]
fn every_alert_queries_existing_metrics_and_has_a_runbook_entry() -> anyhow::Result<()> {
    let (rules, known) = (rules()?, Known::from_table()?);
    for query in blocks(&rules, &["expr:"]) {
        known.check(&query)?;
    }
    let runbook = fs::read_to_string(root().join("docs/runbook.md"))?;
    let entries: Vec<&str> = runbook
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let alerts: Vec<&str> = values(&rules, "alert: ").collect();
    let expected = [alerts.as_slice(), &["Outages"]].concat();
    assert_eq!(expected, entries, "alerts and entries of the runbook");
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

/// Each case gets only the rules it needs, because promtool evaluates every rule at every step.
#[test]
fn alerts_fire_as_their_test_cases_expect() -> anyhow::Result<()> {
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
        let needed = needed(&rules, &alerts_of(case)?);
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
