//! Dashboards and alerts ask for nothing that no service sends, and every alert says what to do.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use anyhow::Context;
use serde_json::Value;
use tempfile::TempDir;
use testkit::root;

use crate::documented;

/// What Prometheus adds to the labels of the services: bounds of a histogram, and who sent it.
const OF_PROMETHEUS: [&str; 3] = ["le", "job", "instance"];
/// What Prometheus makes of one histogram.
const OF_A_HISTOGRAM: [&str; 3] = ["_bucket", "_count", "_sum"];

fn folder() -> PathBuf {
    root().join("k8s/components/observability")
}

/// The names that Prometheus has for what the services send.
fn known() -> anyhow::Result<BTreeSet<String>> {
    let names = documented::metrics()?.into_iter().flat_map(|metric| {
        let name = metric.at_prometheus;
        match metric.kind.as_str() {
            "histogram" => OF_A_HISTOGRAM
                .iter()
                .map(|part| format!("{name}{part}"))
                .collect(),
            _ => vec![name],
        }
    });
    Ok(names.collect())
}

fn is_of_a_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':')
}

/// The metrics that a query asks for: the names in front of braces, which all of ours have.
fn asked_for(query: &str) -> Vec<&str> {
    let before_braces = query.split('{').rev().skip(1);
    before_braces
        .map(|text| {
            text.rsplit(|letter| !is_of_a_name(letter))
                .next()
                .unwrap_or_default()
        })
        .filter(|name| !name.is_empty())
        .collect()
}

/// The labels that a query sums by.
fn summed_by(query: &str) -> impl Iterator<Item = &str> {
    let lists = query.split("by (").skip(1);
    let lists = lists.filter_map(|text| text.split_once(')').map(|(list, _)| list));
    lists.flat_map(|list| list.split(',')).map(str::trim)
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
    let known = known()?;
    let labels: BTreeSet<String> = documented::metrics()?
        .iter()
        .flat_map(|metric| &metric.labels)
        .map(|label| label.replace('.', "_"))
        .chain(OF_PROMETHEUS.map(str::to_owned))
        .collect();
    let mut shown = BTreeSet::new();
    let mut names = Vec::new();
    for entry in fs::read_dir(folder().join("dashboards"))? {
        let path = entry?.path();
        let dashboard: Value = serde_json::from_slice(&fs::read(&path)?)?;
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        for (panel, query) in queries(&dashboard) {
            for label in summed_by(&query) {
                assert!(
                    labels.contains(label),
                    "{panel} sums by {label}, which no metric has"
                );
            }
            let asked = asked_for(&query);
            assert!(!asked.is_empty(), "{panel} asks for nothing: {query}");
            for metric in asked {
                assert!(
                    known.contains(metric),
                    "{panel} asks for {metric}, which nothing sends"
                );
                shown.insert(metric.to_owned());
            }
        }
    }
    names.sort();
    assert_eq!(names, ["delivery", "forms", "overview", "runtime", "uploads"]);
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

#[test]
fn every_alert_asks_for_what_is_sent_and_has_an_entry_in_the_runbook() -> anyhow::Result<()> {
    let rules = rules()?;
    let known = known()?;
    // A summary's braces are no query's.
    let queries = rules.lines().filter(|line| !line.contains("summary:"));
    for metric in queries.flat_map(asked_for) {
        assert!(
            known.contains(metric),
            "an alert asks for {metric}, which nothing sends"
        );
    }
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

#[test]
fn alerts_fire_and_keep_still_as_their_cases_say() -> anyhow::Result<()> {
    let promtool = root().join("target/tools/promtool");
    anyhow::ensure!(promtool.exists(), "There is no promtool; run: cargo xtask setup");
    let scratch = TempDir::new()?;
    fs::write(scratch.path().join("site.yaml"), rules()?)?;
    fs::copy(
        folder().join("alerts/tests.yaml"),
        scratch.path().join("tests.yaml"),
    )?;
    let tested = Command::new(promtool)
        .args(["test", "rules", "tests.yaml"])
        .current_dir(scratch.path())
        .output()
        .context("promtool does not start")?;
    let said = [tested.stdout, tested.stderr].concat();
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&said));
    Ok(())
}
