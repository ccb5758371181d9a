//! Metrics at an operator's collector, and their table in docs/telemetry.md.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use opentelemetry_proto::tonic::{
    common::v1::KeyValue,
    metrics::v1::{Metric, NumberDataPoint, metric::Data},
};
use reqwest::{Client, StatusCode, header, multipart, redirect::Policy};
use serde_json::{Value as Json, json};
use site_events::Channel;
use tempfile::TempDir;
use testkit::{MailFault, Ports, Stack, User, eventually, generated, measure::pdf};

use crate::{collector::Collector, log_lines, without_services::small_site};

const EXPORT: Duration = Duration::from_secs(90);
/// Seconds within which deliveries must succeed, as the service level objective and its alerts require.
const IN_TIME: f64 = 60.0;
/// Nothing listens on port 9, "discard" (RFC 863).
const NOBODY: &str = "127.0.0.1:9";
const HEAD: &str =
    "| metric | at Prometheus | kind | unit | labels | what it measures |\n|---|---|---|---|---|---|\n";

async fn observed() -> anyhow::Result<(Stack, Collector)> {
    observed_with(&[]).await
}

async fn observed_with_site() -> anyhow::Result<(Stack, Collector, TempDir)> {
    let folder = small_site()?;
    let site = folder.path().to_string_lossy();
    let (stack, collector) = observed_with(&[("SITE_DIR", &site)]).await?;
    Ok((stack, collector, folder))
}

async fn observed_with(more: &[(&str, &str)]) -> anyhow::Result<(Stack, Collector)> {
    let (collector, address) = Collector::start().await?;
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
        ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
        ("CLAMD", NOBODY),
    ];
    let settings = [&settings, more].concat();
    Ok((Stack::start(Ports::free()?, &settings).await?, collector))
}

async fn contact(stack: &Stack) -> anyhow::Result<StatusCode> {
    let url = format!("{}/api/contact", stack.site());
    let message = json!({ "name": "Asha", "email": "asha@example.org", "message": "Hello" });
    Ok(Client::new().post(url).json(&message).send().await?.status())
}

fn table(metrics: &[Metric]) -> String {
    let mut labels_of: BTreeMap<&str, (&Metric, BTreeSet<String>)> = BTreeMap::new();
    for metric in metrics {
        let (_, labels) = labels_of.entry(&metric.name).or_insert((metric, BTreeSet::new()));
        labels.extend(kind_and_labels(metric).1);
    }
    let rows = labels_of.values().map(|(metric, labels)| {
        let (kind, _) = kind_and_labels(metric);
        let Metric {
            name,
            unit,
            description,
            ..
        } = metric;
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let at_prometheus = at_prometheus(name, unit, kind);
        format!(
            "| `{name}` | `{at_prometheus}` | {kind} | `{unit}` | {} | {description} |\n",
            labels.join(", ")
        )
    });
    std::iter::once(HEAD.to_owned()).chain(rows).collect()
}

fn kind_and_labels(metric: &Metric) -> (&'static str, BTreeSet<String>) {
    let labels_of = |points: &[NumberDataPoint]| -> Vec<KeyValue> {
        let labels = points.iter().flat_map(|point| point.attributes.clone());
        labels.collect()
    };
    let (kind, labels) = match &metric.data {
        Some(Data::Sum(sum)) if sum.is_monotonic => ("counter", labels_of(&sum.data_points)),
        Some(Data::Sum(sum)) => ("sum", labels_of(&sum.data_points)),
        Some(Data::Gauge(gauge)) => ("gauge", labels_of(&gauge.data_points)),
        Some(Data::Histogram(histogram)) => {
            let labels = histogram.data_points.iter();
            let labels = labels.flat_map(|point| point.attributes.clone());
            ("histogram", labels.collect())
        }
        _ => ("unknown", Vec::new()),
    };
    (kind, labels.into_iter().map(|label| label.key).collect())
}

/// Returns the metric's name at the collector's Prometheus exporter
/// (<https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/>).
fn at_prometheus(name: &str, unit: &str, kind: &str) -> String {
    let unit = match unit {
        "s" => "_seconds",
        "ms" => "_milliseconds",
        "By" => "_bytes",
        "1" if kind == "gauge" => "_ratio",
        _ => "",
    };
    let total = if kind == "counter" { "_total" } else { "" };
    format!("{}{unit}{total}", name.replace('.', "_"))
}

#[tokio::test]
async fn the_generated_table_of_metrics_is_current() -> anyhow::Result<()> {
    let (mut stack, collector, _site) = observed_with_site().await?;
    assert_eq!(contact(&stack).await?, StatusCode::OK);
    let report = json!({ "remote": "blog", "reason": "slow" });
    let report = Client::new()
        .post(format!("{}/api/remote-failure", stack.site()))
        .json(&report);
    assert_eq!(report.send().await?.status(), StatusCode::OK);
    let application = multipart::Form::new()
        .part("resume", multipart::Part::bytes(pdf(100_000)).file_name("cv.pdf"))
        .text("name", "Asha")
        .text("email", "asha@example.org")
        .text("position", "Intern")
        .text("coverLetter", "Hello.");
    let apply = Client::new()
        .post(format!("{}/api/career-application", stack.site()))
        .multipart(application);
    assert_eq!(apply.send().await?.status(), StatusCode::OK);

    stack.nats.stop().await?;
    assert_eq!(contact(&stack).await?, StatusCode::SERVICE_UNAVAILABLE);
    let committed = generated::table("docs/telemetry.md", "metrics")?;
    let whole = eventually("every metric of the table", EXPORT, async || {
        (table(&collector.metrics()) == committed).then_some(())
    });
    let _timed_out = whole.await.is_err();
    generated::ensure_table_is_current("docs/telemetry.md", "metrics", &table(&collector.metrics()))
}

#[tokio::test]
async fn waiting_mails_have_a_lag_and_an_age() -> anyhow::Result<()> {
    let (stack, collector) = observed().await?;
    stack.mail_server()?.fault(MailFault::Stopped);
    assert_eq!(contact(&stack).await?, StatusCode::OK);
    let sales = [("channel", "contact-received-sales")];
    eventually("a lag of one that grows old", EXPORT, async || {
        let lag = collector.gauge_of("site.consumer.lag", &sales)?;
        let age = collector.gauge_of("site.consumer.oldest.age", &sales)?;
        (lag == 1.0 && age > 0.0 && age < EXPORT.as_secs_f64()).then_some(())
    })
    .await?;
    let unavailable = [("channel", "contact-received-sales"), ("outcome", "unavailable")];
    eventually("the attempt that failed", EXPORT, async || {
        (collector.count_of("site.deliveries", &unavailable)? >= 1).then_some(())
    })
    .await
}

#[tokio::test]
async fn alerted_metrics_start_at_zero() -> anyhow::Result<()> {
    let (stack, collector) = observed().await?;
    let sales = [("channel", Channel::SalesLead.name())];
    let none = async |metric: &str, labels: &[(&str, &str)]| {
        eventually("a count of none", EXPORT, async || {
            (collector.count_of(metric, labels)? == 0).then_some(())
        })
        .await
    };
    for form in ["contact", "newsletter", "career-application"] {
        for outcome in ["accepted", "unavailable", "failed"] {
            none("site.submissions", &[("form", form), ("outcome", outcome)]).await?;
        }
    }
    none("site.resume.scans", &[("outcome", "not_scanned")]).await?;
    none("site.dead_letters", &sales).await?;

    let operator = stack.nats.client(User::Operator).await?;
    operator
        .publish("site.contact.received.nobody", "not an event".into())
        .await?;
    operator.flush().await?;
    eventually("one dead letter", EXPORT, async || {
        let counted = collector.count_of("site.dead_letters", &sales)?;
        let waiting = collector.gauge_of("site.dead_letters.waiting", &[])?;
        (counted == 1 && waiting > 0.0).then_some(())
    })
    .await?;

    assert_eq!(contact(&stack).await?, StatusCode::OK);
    let bounds = eventually("the age of a delivery", EXPORT, async || {
        let Some(Data::Histogram(ages)) = collector.last("site.delivery.age")?.data else {
            return None;
        };
        Some(ages.data_points.first()?.explicit_bounds.clone())
    })
    .await?;
    assert!(bounds.contains(&IN_TIME), "{bounds:?}");
    Ok(())
}

#[tokio::test]
async fn forms_without_scripts_are_counted_and_logged_like_all_others() -> anyhow::Result<()> {
    let (stack, collector) = observed().await?;
    let browser = Client::builder().redirect(Policy::none()).build()?;
    for (name, status, outcome) in [
        ("Asha", StatusCode::SEE_OTHER, "accepted"),
        ("", StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
    ] {
        let form = browser.post(format!("{}/api/contact", stack.site()));
        let form = form.header(header::ACCEPT, "text/html");
        let form = form.body(format!("name={name}&email=asha@example.org&message=Hello"));
        let form = form.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answer = form.send().await?;
        assert_eq!(answer.status(), status);
        let labels = [("form", "contact"), ("outcome", outcome)];
        eventually(outcome, EXPORT, async || {
            (collector.count_of("site.submissions", &labels) == Some(1)).then_some(())
        })
        .await?;
    }
    let answered = |line: &Json| line["http.route"] == "/api/contact";
    let answered = log_lines::found(&stack.logs.join("gateway.log"), 2, answered).await?;
    let outcomes: Vec<&Json> = answered.iter().map(|line| &line["outcome"]).collect();
    assert_eq!(outcomes, ["accepted", "invalid"]);
    Ok(())
}

#[tokio::test]
async fn page_loads_are_counted_by_route_without_prefetches() -> anyhow::Result<()> {
    let (stack, collector, _site) = observed_with_site().await?;
    let browser = Client::new();
    let get = async |path: &str, headers: &[(&'static str, &str)]| {
        let mut request = browser.get(format!("{}{path}", stack.site()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        anyhow::Ok(request.send().await?.status())
    };
    for purpose in ["prefetch", "prefetch;prerender"] {
        assert_eq!(get("/about", &[("sec-purpose", purpose)]).await?, StatusCode::OK);
    }
    assert_eq!(get("/about", &[("purpose", "prefetch")]).await?, StatusCode::OK);
    let head = browser.head(format!("{}/about", stack.site())).send().await?;
    assert_eq!(head.status(), StatusCode::OK);
    assert_eq!(get("/main.js", &[]).await?, StatusCode::OK);
    // Loads a page from the disk, from the cache, and by revalidation.
    assert_eq!(get("/about", &[]).await?, StatusCode::OK);
    assert_eq!(get("/about?utm_source=mail", &[]).await?, StatusCode::OK);
    let later = ("if-modified-since", "Tue, 01 Jan 2999 00:00:00 GMT");
    assert_eq!(get("/about", &[later]).await?, StatusCode::NOT_MODIFIED);
    // Paths that do not exist must not become labels, because strangers choose them.
    for path in ["/a-stranger/wrote-this", "/missing?token=secret"] {
        assert_eq!(get(path, &[]).await?, StatusCode::NOT_FOUND);
    }
    let loads = |route| collector.count_of("site.page.loads", &[("route", route)]);
    eventually("all page loads", EXPORT, async || {
        (loads("/about") == Some(3) && loads("not-found") == Some(2)).then_some(())
    })
    .await?;
    assert_eq!(loads("/"), Some(0));
    assert_eq!(loads("/main.js"), None);
    assert_eq!(loads("/a-stranger/wrote-this"), None);
    Ok(())
}

#[tokio::test]
async fn refusals_are_counted_by_limit() -> anyhow::Result<()> {
    let (stack, collector) = observed_with(&[("RATE_BURST", "1"), ("RATE_PER_MINUTE", "1")]).await?;
    let counted = async |limit: &'static str, refusals: i64| {
        eventually(limit, EXPORT, async || {
            let label = [("limit", limit)];
            (collector.count_of("site.limit.refusals", &label) == Some(refusals)).then_some(())
        })
        .await
    };
    for limit in ["rate", "uploads", "pace", "bodies"] {
        counted(limit, 0).await?;
    }
    assert_eq!(contact(&stack).await?, StatusCode::OK);
    assert_eq!(contact(&stack).await?, StatusCode::TOO_MANY_REQUESTS);
    counted("rate", 1).await?;
    let refused = |line: &Json| line["message"] == "a request was rejected by a limit";
    let refused = log_lines::found(&stack.logs.join("gateway.log"), 1, refused).await?;
    let line = &refused[0];
    assert_eq!((&line["level"], &line["limit"]), (&json!("INFO"), &json!("rate")));
    assert!(line["request_id"].is_string(), "{line}");
    assert_eq!(refused.len(), 1);
    Ok(())
}
