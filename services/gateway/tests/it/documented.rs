//! The table of metrics in docs/telemetry.md, as operators read it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use anyhow::Context;
use testkit::root;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Documented {
    pub name: String,
    pub at_prometheus: String,
    pub kind: String,
    pub unit: String,
    pub labels: BTreeSet<String>,
}

/// Every row.
pub fn metrics() -> anyhow::Result<Vec<Documented>> {
    let page = fs::read_to_string(root().join("docs/telemetry.md"))?;
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let metrics: Vec<_> = rows.filter_map(row).collect();
    anyhow::ensure!(!metrics.is_empty(), "docs/telemetry.md has no table of metrics");
    Ok(metrics)
}

/// The labels of each metric that others tell and alerts ask for, by its name at Prometheus.
pub fn metrics_of_others() -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let page = fs::read_to_string(root().join("docs/telemetry.md"))?;
    let section = page
        .split_once("## Metrics of others\n")
        .and_then(|(_, after)| after.split("\n## ").next())
        .context("docs/telemetry.md has no metrics of others")?;
    let in_code = |cell: &str| -> BTreeSet<String> {
        let names = cell.split('`').skip(1).step_by(2);
        names.map(str::to_owned).collect()
    };
    let mut found = BTreeMap::new();
    // The first line of a table is its head; the second begins with no space.
    for row in section.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let mut cells = row.split('|').skip(2);
        let (Some(names), Some(labels)) = (cells.next(), cells.next()) else {
            anyhow::bail!("a row without labels: {row}");
        };
        for name in in_code(names) {
            anyhow::ensure!(found.insert(name, in_code(labels)).is_none(), "told twice: {row}");
        }
    }
    Ok(found)
}

/// The tree of spans that the page shows.
pub fn trace() -> anyhow::Result<String> {
    let page = fs::read_to_string(root().join("docs/telemetry.md"))?;
    let tree = page
        .split_once("```text\n")
        .and_then(|(_, after)| after.split_once("```"));
    tree.map(|(tree, _)| tree.to_owned())
        .ok_or_else(|| anyhow::anyhow!("docs/telemetry.md shows no trace"))
}

fn row(line: &str) -> Option<Documented> {
    let plain = |cell: &str| cell.trim().trim_matches('`').to_owned();
    let mut cells = line.split('|').skip(1);
    Some(Documented {
        name: cells.next().map(plain)?,
        at_prometheus: cells.next().map(plain)?,
        kind: cells.next().map(plain)?,
        unit: cells.next().map(plain)?,
        labels: cells
            .next()?
            .split(',')
            .map(plain)
            .filter(|label| !label.is_empty())
            .collect(),
    })
}
