//! A day of 1,000 visits whose funnels are known, and what the dashboard's own queries make of it.

use std::{collections::BTreeMap, fmt::Write, fs};

use anyhow::Context;
use opentelemetry_proto::tonic::{
    common::v1::KeyValue,
    metrics::v1::{Metric, metric::Data, number_data_point::Value as Number},
};
use reqwest::StatusCode;
use serde_json::{Value, json};
use testkit::root;

use crate::{
    collector::{Collector, text},
    promtool::promtool,
    visits::{beacon, counting, until_counted},
};

/// The day in parts, after each of which the figures are looked at.
const PARTS: usize = 12;
/// Minutes in one: Prometheus asks once a minute.
const PART_MINUTES: usize = 24 * 60 / PARTS;

/// Visits of one kind.
struct Visits {
    count: usize,
    campaign: Option<&'static str>,
    views: &'static [&'static str],
    starts: &'static [&'static str],
    ends: &'static [&'static str],
}

static DAY: [Visits; 8] = [
    visits(440, None, &["home"], &[], &[]),
    visits(200, Some("monsoon"), &["home", "contact"], &[], &[]),
    visits(120, Some("monsoon"), &["contact"], &["contact"], &[]),
    visits(80, Some("monsoon"), &["contact"], &["contact"], &["contact"]),
    visits(
        60,
        Some("partner-mail"),
        &["article"],
        &["newsletter"],
        &["newsletter"],
    ),
    visits(
        40,
        Some("somebody-elses"),
        &["article", "blog-list"],
        &["newsletter"],
        &[],
    ),
    visits(40, None, &["careers", "position"], &["career-application"], &[]),
    visits(
        20,
        None,
        &["careers", "position"],
        &["career-application"],
        &["career-application"],
    ),
];

const fn visits(
    count: usize,
    campaign: Option<&'static str>,
    views: &'static [&'static str],
    starts: &'static [&'static str],
    ends: &'static [&'static str],
) -> Visits {
    Visits {
        count,
        campaign,
        views,
        starts,
        ends,
    }
}

/// What the panels show in the end: titles, what their queries tell things apart by, and the figures.
fn expected() -> BTreeMap<&'static str, Vec<(&'static str, f64)>> {
    BTreeMap::from([
        (
            "Page views, by kind of page",
            vec![
                (r#"{page="home"}"#, 640.0),
                (r#"{page="contact"}"#, 400.0),
                (r#"{page="article"}"#, 100.0),
                (r#"{page="careers"}"#, 60.0),
                (r#"{page="position"}"#, 60.0),
                (r#"{page="blog-list"}"#, 40.0),
            ],
        ),
        (
            "Page views, by campaign",
            vec![
                (r#"{campaign="monsoon"}"#, 600.0),
                (r#"{campaign="none"}"#, 560.0),
                (r#"{campaign="other"}"#, 80.0),
                (r#"{campaign="partner-mail"}"#, 60.0),
            ],
        ),
        ("Form: contact: pages with it", vec![("{}", 400.0)]),
        ("Form: contact: begun", vec![("{}", 200.0)]),
        ("Form: contact: accepted", vec![("{}", 80.0)]),
        ("Form: newsletter: pages with it", vec![("{}", 140.0)]),
        ("Form: newsletter: begun", vec![("{}", 100.0)]),
        ("Form: newsletter: accepted", vec![("{}", 60.0)]),
        ("Form: career-application: pages with it", vec![("{}", 120.0)]),
        ("Form: career-application: begun", vec![("{}", 60.0)]),
        ("Form: career-application: accepted", vec![("{}", 20.0)]),
        // Four of five pages are in one bucket, and of these 75 of 80 are as fast as this, were they spread in it evenly.
        (
            "LCP at p75, by kind of page",
            vec![(r#"{page="home"}"#, 1.984), (r#"{page="contact"}"#, 3.969)],
        ),
        (
            "INP at p75, by kind of page",
            vec![(r#"{page="home"}"#, 0.247), (r#"{page="contact"}"#, 0.494)],
        ),
        (
            "CLS at p75, by kind of page",
            vec![(r#"{page="home"}"#, 0.247), (r#"{page="contact"}"#, 0.484)],
        ),
    ])
}

/// The beacons of the day.
fn beacons() -> Vec<Value> {
    let of_kind = |visits: &'static Visits| {
        (0..visits.count).map(move |number| {
            let mut beacon = json!({ "views": visits.views, "starts": visits.starts, "ends": visits.ends });
            if let Some(campaign) = visits.campaign {
                beacon["campaign"] = json!(campaign);
            }
            if let Some(vitals) = visits.views.first().and_then(|page| vitals(page, number)) {
                beacon["vitals"] = vitals;
            }
            beacon
        })
    };
    DAY.iter().flat_map(of_kind).collect()
}

/// Figures of a page. Each fifth is slow.
fn vitals(page: &str, number: usize) -> Option<Value> {
    let (lcp, inp, cls) = match (page, number % 5 == 4) {
        ("home", true) => (9_000, 900, 0.9),
        ("home", false) => (1_900, 240, 0.22),
        ("contact", true) => (19_000, 1_900, 0.9),
        ("contact", false) => (3_900, 490, 0.4),
        _ => return None,
    };
    Some(json!({ "page": page, "lcp": lcp, "inp": inp, "cls": cls }))
}

/// Values of each series of Prometheus before the day, and after each part of it.
type Series = BTreeMap<String, Vec<f64>>;

/// Adds what stands in the last export of each metric of visits.
fn add_last(series: &mut Series, collector: &Collector) {
    let names = [
        "site.page.views",
        "site.form.starts",
        "site.form.ends",
        "site.visit.beacons",
        "site.web_vitals.lcp",
        "site.web_vitals.inp",
        "site.web_vitals.cls",
    ];
    for metric in names.iter().filter_map(|name| collector.last(name)) {
        for (name, value) in series_of(&metric) {
            series.entry(name).or_default().push(value);
        }
    }
}

/// The series that the collector's exporter makes of a metric.
fn series_of(metric: &Metric) -> Vec<(String, f64)> {
    let unit = if metric.unit == "s" { "_seconds" } else { "" };
    let name = format!("{}{unit}", metric.name.replace('.', "_"));
    match &metric.data {
        Some(Data::Sum(sum)) => {
            let points = sum.data_points.iter();
            points
                .filter_map(|point| match point.value? {
                    Number::AsInt(value) => Some((
                        labelled(&format!("{name}_total"), &point.attributes, None),
                        value as f64,
                    )),
                    Number::AsDouble(_) => None,
                })
                .collect()
        }
        Some(Data::Histogram(histogram)) => {
            let mut all = Vec::new();
            for point in &histogram.data_points {
                let mut sum = 0;
                let ends = point.explicit_bounds.iter().map(f64::to_string);
                let ends = ends.chain(["+Inf".to_owned()]);
                for (end, count) in ends.zip(&point.bucket_counts) {
                    sum += count;
                    let series = labelled(&format!("{name}_bucket"), &point.attributes, Some(&end));
                    all.push((series, sum as f64));
                }
            }
            all
        }
        _ => Vec::new(),
    }
}

fn labelled(name: &str, attributes: &[KeyValue], le: Option<&str>) -> String {
    let told = attributes
        .iter()
        .filter_map(|label| Some((label.key.as_str(), text(label)?)));
    let all = told.chain([("job", "gateway")]).chain(le.map(|end| ("le", end)));
    let all: Vec<String> = all.map(|(label, value)| format!("{label}=\"{value}\"")).collect();
    format!("{name}{{{}}}", all.join(","))
}

/// Each value for as long as it was the last one.
fn samples(values: &[f64]) -> String {
    let each = values
        .iter()
        .map(|value| format!("{value}+0x{}", PART_MINUTES - 1));
    each.collect::<Vec<_>>().join(" ")
}

/// The queries of the dashboard that are about its whole range, each by the title of its panel, and where that has several by its legend.
fn queries() -> anyhow::Result<BTreeMap<String, String>> {
    let path = root().join("k8s/components/observability/dashboards/visits.json");
    let dashboard: Value = serde_json::from_slice(&fs::read(path)?)?;
    let mut queries = BTreeMap::new();
    for panel in dashboard["panels"].as_array().into_iter().flatten() {
        let targets = panel["targets"].as_array().context("a panel has queries")?;
        let title = panel["title"].as_str().context("a panel has a title")?;
        for target in targets {
            let query = target["expr"].as_str().context("a query")?;
            let legend = target["legendFormat"].as_str().unwrap_or_default();
            let name = if targets.len() > 1 {
                format!("{title}: {legend}")
            } else {
                title.to_owned()
            };
            if query.contains("$__range") {
                queries.insert(name, query.replace("$__range", "1d"));
            }
        }
    }
    Ok(queries)
}

/// A test of promtool: the series, and what the queries make of them at the day's end.
fn promtool_test(series: &Series) -> anyhow::Result<String> {
    let (queries, expected) = (queries()?, expected());
    let names: Vec<&str> = queries.keys().map(String::as_str).collect();
    let known: Vec<&str> = expected.keys().copied().collect();
    assert_eq!(names, known, "each panel about the range has its figures here");
    let mut test = "rule_files: []\ntests:\n  - interval: 1m\n    input_series:\n".to_owned();
    for (name, values) in series {
        writeln!(
            test,
            "      - series: '{name}'\n        values: '{}'",
            samples(values)
        )?;
    }
    test += "    promql_expr_test:\n";
    for (name, query) in &queries {
        // Kinds of pages and campaigns that nobody came by are there, too, with none.
        writeln!(
            test,
            "      - expr: 'round(({query}) > 0, 0.001)'\n        eval_time: 1d\n        exp_samples:"
        )?;
        for (labels, figure) in &expected[name.as_str()] {
            writeln!(
                test,
                "          - labels: '{labels}'\n            value: {figure}"
            )?;
        }
    }
    Ok(test)
}

#[tokio::test]
async fn a_day_of_a_thousand_visits_stands_on_the_dashboard_as_it_was() -> anyhow::Result<()> {
    let beacons = beacons();
    assert_eq!(beacons.len(), 1_000);
    let (stack, collector) = counting(&[("VISITS_PER_SECOND", "100000")]).await?;
    let mut series = Series::new();
    // Yesterday's: a histogram is not there before its first figure.
    for page in ["home", "contact"] {
        let yesterday = beacon(&stack).json(&json!({ "vitals": vitals(page, 0) }));
        assert_eq!(yesterday.send().await?.status(), StatusCode::NO_CONTENT);
    }
    let mut sent = 2;
    until_counted(&collector, sent).await?;
    add_last(&mut series, &collector);
    for part in 0..PARTS {
        // Some of all kinds in each part.
        for told in beacons.iter().skip(part).step_by(PARTS) {
            let answer = beacon(&stack).json(told).send().await?;
            assert_eq!(answer.status(), StatusCode::NO_CONTENT);
            sent += 1;
        }
        until_counted(&collector, sent).await?;
        add_last(&mut series, &collector);
    }
    stack.stop().await?;
    let scratch = tempfile::tempdir()?;
    let file = scratch.path().join("day.yaml");
    fs::write(&file, promtool_test(&series)?)?;
    promtool("test", [file])
}
