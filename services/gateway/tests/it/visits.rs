//! Counts of visits: what is counted, what is not, and that nobody can be told from them.

use std::time::Duration;

use futures_util::stream;
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric::Data, number_data_point::Value as Number};
use reqwest::{Body, Client, Method, RequestBuilder, Response, StatusCode, header};
use serde_json::{Value, json};
use testkit::{Ports, Stack, eventually};

use crate::{collector::Collector, log_lines, without_services::Gateway};

const EXPORT: Duration = Duration::from_secs(60);
const CAMPAIGN: &str = "monsoon";
/// Stands in all that one visitor's browser could be told by.
const MARK: &str = "qzxmark";
const NETWORK_ADDRESS: &str = "203.0.113.77";

/// A stack that exports its metrics several times a second, with these settings besides.
pub async fn counting(more: &[(&str, &str)]) -> anyhow::Result<(Stack, Collector)> {
    let (collector, address) = Collector::start().await?;
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
        ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
        ("OTEL_BSP_SCHEDULE_DELAY", "200"),
        ("OTEL_BLRP_SCHEDULE_DELAY", "200"),
        ("VISIT_CAMPAIGNS", "monsoon,partner-mail"),
    ];
    Ok((
        Stack::start(Ports::free()?, &[&settings, more].concat()).await?,
        collector,
    ))
}

/// A beacon of one of our pages, without its body.
pub fn beacon(stack: &Stack) -> RequestBuilder {
    let beacon = Client::new().post(format!("{}/api/visits", stack.site()));
    beacon.header("sec-fetch-site", "same-origin")
}

/// Waits until so many are counted, and for one export more: of the same one others were taken a moment before.
pub async fn until_counted(collector: &Collector, beacons: i64) -> anyhow::Result<()> {
    let outcome = [("outcome", "counted")];
    let counted = || collector.count_of("site.visit.beacons", &outcome) == Some(beacons);
    eventually("all that was sent", EXPORT, async || counted().then_some(())).await?;
    let exports = || {
        collector
            .metrics()
            .iter()
            .filter(|metric| metric.name == "site.visit.beacons")
            .count()
    };
    let before = exports();
    eventually("one export more", EXPORT, async || {
        (exports() > before).then_some(())
    })
    .await
}

/// What each series of a counter told last.
fn counts(collector: &Collector, metric: &str) -> Vec<i64> {
    let Some(Data::Sum(sum)) = collector.last(metric).and_then(|metric| metric.data) else {
        return Vec::new();
    };
    let values = sum.data_points.iter().map(|point| point.value);
    values
        .filter_map(|value| match value? {
            Number::AsInt(value) => Some(value),
            Number::AsDouble(_) => None,
        })
        .collect()
}

async fn refusal(request: RequestBuilder) -> anyhow::Result<StatusCode> {
    let answer: Response = request.send().await?;
    let status = answer.status();
    assert_eq!(answer.json::<Value>().await?["success"], json!(false), "{status}");
    Ok(status)
}

#[tokio::test]
async fn what_is_no_beacon_of_one_of_our_pages_is_refused() -> anyhow::Result<()> {
    let gateway = Gateway::start(&["--cors-origins", "https://friend.example"]).await?;
    let send = |content_type: &'static str, body: String| {
        let request = gateway
            .post("/api/visits")
            .header(header::CONTENT_TYPE, content_type);
        request.body(body)
    };
    let json = |body: &str| send("application/json", body.to_owned());
    assert_eq!(json("{}").send().await?.status(), StatusCode::NO_CONTENT);
    let charset = send(
        "application/json; charset=utf-8",
        r#"{"views":["home"]}"#.to_owned(),
    );
    assert_eq!(charset.send().await?.status(), StatusCode::NO_CONTENT);
    for body in ["", "{", r#"{"views":["/contact"]}"#, r#"{"visitor":"a"}"#] {
        assert_eq!(refusal(json(body)).await?, StatusCode::BAD_REQUEST, "{body}");
    }
    let large = format!("{{}}{}", " ".repeat(1023));
    assert_eq!(refusal(json(&large)).await?, StatusCode::PAYLOAD_TOO_LARGE);
    let plain = send("text/plain", "{}".to_owned());
    assert_eq!(refusal(plain).await?, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    for site in ["cross-site", "same-site", "none"] {
        let elsewhere = json("{}").header("sec-fetch-site", site);
        let elsewhere = elsewhere.header(header::ORIGIN, "https://friend.example");
        assert_eq!(refusal(elsewhere).await?, StatusCode::FORBIDDEN, "{site}");
    }
    let get = gateway
        .client
        .request(Method::GET, format!("{}/api/visits", gateway.url));
    assert_eq!(refusal(get).await?, StatusCode::METHOD_NOT_ALLOWED);
    Ok(())
}

#[tokio::test]
async fn its_answer_has_the_headers_of_all_others_and_no_id() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    let counted = gateway.post("/api/visits").json(&json!({ "views": ["home"] }));
    let counted = counted.header("x-request-id", "visitor-0001").send().await?;
    assert_eq!(counted.status(), StatusCode::NO_CONTENT);
    let (of_visits, of_all) = (counted.headers(), gateway.get("/api/nothing").send().await?);
    for name in of_all.headers().keys().filter(|name| name.as_str().contains('-')) {
        let is_of_a_body = name.as_str().starts_with("content-") && name != header::CONTENT_SECURITY_POLICY;
        if name != "x-request-id" && !is_of_a_body {
            assert_eq!(of_visits.get(name), of_all.headers().get(name), "{name}");
        }
    }
    assert!(!of_visits.contains_key("x-request-id") && !of_visits.contains_key(header::SET_COOKIE));
    Ok(())
}

#[tokio::test]
async fn a_beacon_that_does_not_arrive_is_waited_for_a_few_seconds() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    let never = Body::wrap_stream(stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let stalled = gateway
        .post("/api/visits")
        .header(header::CONTENT_TYPE, "application/json");
    assert_eq!(refusal(stalled.body(never)).await?, StatusCode::REQUEST_TIMEOUT);
    Ok(())
}

#[tokio::test]
async fn a_campaign_that_cannot_be_one_ends_the_start() {
    let many = vec!["a"; 21].join(",");
    for (campaigns, why) in [
        ("monsoon,other", "what visits of no such campaign are counted as"),
        ("asha@example.org", "no campaign's name"),
        (many.as_str(), "names 21, and visits are counted by at most 20"),
    ] {
        let refused = Gateway::start(&["--visit-campaigns", campaigns]).await.err();
        let refused = refused.map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains(why), "{campaigns}: {refused}");
    }
}

#[expect(clippy::too_many_lines, reason = "a test is told in one piece")]
#[tokio::test]
async fn visits_are_counted_by_lists_of_ours_and_of_who_sent_them_nothing_is_kept() -> anyhow::Result<()> {
    let (stack, collector) = counting(&[]).await?;
    let send = |body: Value| {
        let marked = beacon(&stack)
            .header(header::USER_AGENT, format!("{MARK}-browser"))
            .header(header::REFERER, format!("{}/contact?token={MARK}", stack.site()))
            .header("x-forwarded-for", NETWORK_ADDRESS)
            .header("x-request-id", format!("{MARK}-0001"))
            .header(
                "traceparent",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            )
            .header(header::COOKIE, format!("id={MARK}"));
        marked.json(&body).send()
    };
    for body in [
        json!({ "campaign": CAMPAIGN, "views": ["home", "contact"], "starts": ["contact"], "ends": ["contact"] }),
        json!({ "campaign": MARK, "views": ["home"], "starts": ["newsletter"] }),
        json!({ "views": ["home"], "vitals": { "page": "home", "lcp": -5, "inp": 1e300, "cls": 1e300 } }),
    ] {
        assert_eq!(send(body).await?.status(), StatusCode::NO_CONTENT);
    }
    // What is refused is not kept either.
    let refused = send(json!({ "views": [MARK] })).await?;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    until_counted(&collector, 3).await?;
    let count = |metric, labels: &[(&str, &str)]| collector.count_of(metric, labels);
    for (page, campaign, views) in [
        ("home", CAMPAIGN, 1),
        ("contact", CAMPAIGN, 1),
        ("home", "other", 1),
        ("home", "none", 1),
        ("contact", "other", 0),
        ("terms", "partner-mail", 0),
    ] {
        let labels = [("page", page), ("campaign", campaign)];
        assert_eq!(count("site.page.views", &labels), Some(views), "{labels:?}");
    }
    for (form, starts, ends) in [
        ("contact", 1, 1),
        ("newsletter", 1, 0),
        ("career-application", 0, 0),
    ] {
        assert_eq!(
            count("site.form.starts", &[("form", form)]),
            Some(starts),
            "{form}"
        );
        assert_eq!(count("site.form.ends", &[("form", form)]), Some(ends), "{form}");
    }
    // 16 kinds of pages, and the two campaigns with `none` and `other`.
    assert_eq!(counts(&collector, "site.page.views").len(), 16 * 4);
    assert_eq!(count("site.visit.beacons", &[("outcome", "refused")]), Some(1));
    // The figures are clipped to what a page's can be.
    for (metric, most) in [
        ("site.web_vitals.inp", 10.0),
        ("site.web_vitals.cls", 10.0),
        ("site.web_vitals.lcp", 0.0),
    ] {
        let Some(Data::Histogram(figures)) = collector.last(metric).and_then(|metric| metric.data) else {
            panic!("{metric} is not told");
        };
        let sums: Vec<_> = figures.data_points.iter().map(|point| point.sum).collect();
        assert_eq!(sums, [Some(most)], "{metric}");
    }
    ensure_untold(stack, &collector).await
}

/// Ends the stack, and looks for the visitor in all that it has logged and exported. There is not even a line of theirs.
async fn ensure_untold(stack: Stack, collector: &Collector) -> anyhow::Result<()> {
    let log = stack.logs().join("gateway.log");
    stack.stop_keeping_files().await?;
    let lines = log_lines::read(&log)?;
    let told = [
        ("lines", format!("{lines:?}")),
        ("log records", format!("{:?}", collector.logs())),
        ("spans", format!("{:?}", collector.spans())),
        ("metrics", format!("{:?}", collector.metrics())),
    ];
    assert!(!lines.is_empty());
    for (what, told) in told {
        for mark in [
            MARK,
            NETWORK_ADDRESS,
            "/api/visits",
            "0af7651916cd43dd8448eb211c80319c",
        ] {
            assert!(!told.contains(mark), "{mark} stands in {what}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn who_objects_is_counted_nowhere() -> anyhow::Result<()> {
    let (stack, collector) = counting(&[]).await?;
    let all = json!({
        "views": ["terms"], "starts": ["contact"], "ends": ["contact"], "vitals": { "page": "terms", "lcp": 1 },
    });
    for objection in ["sec-gpc", "dnt"] {
        let answer = beacon(&stack).header(objection, "1").json(&all).send().await?;
        assert_eq!(answer.status(), StatusCode::NO_CONTENT, "{objection}");
        // Nor is it read: what is none would be refused.
        let broken = beacon(&stack).header(objection, "1").body("{");
        assert_eq!(
            broken.send().await?.status(),
            StatusCode::NO_CONTENT,
            "{objection}"
        );
    }
    // One who does not, so that there is something to wait for.
    let home = beacon(&stack).json(&json!({ "views": ["home"] }));
    assert_eq!(home.send().await?.status(), StatusCode::NO_CONTENT);
    until_counted(&collector, 1).await?;
    let sum = |metric: &str| counts(&collector, metric).iter().sum::<i64>();
    assert_eq!(sum("site.page.views"), 1);
    assert_eq!(sum("site.form.starts") + sum("site.form.ends"), 0);
    assert_eq!(sum("site.visit.beacons"), 1);
    let has_figures = |metric: &Metric| metric.name.starts_with("site.web_vitals");
    assert!(!collector.metrics().iter().any(has_figures));
    stack.stop().await
}

#[tokio::test]
async fn one_of_so_many_counts_for_all_of_them() -> anyhow::Result<()> {
    const SENT: usize = 400;
    const ONE_IN: i64 = 4;
    let (stack, collector) = counting(&[("VISITS_ONE_IN", "4"), ("VISITS_PER_SECOND", "100000")]).await?;
    for _ in 0..SENT {
        let sent = beacon(&stack).json(&json!({ "views": ["home"], "starts": ["contact"] }));
        assert_eq!(sent.send().await?.status(), StatusCode::NO_CONTENT);
    }
    let of = |outcome| collector.count_of("site.visit.beacons", &[("outcome", outcome)]);
    let counted = eventually("all that was sent", EXPORT, async || {
        let (counted, skipped) = (of("counted")?, of("skipped")?);
        (counted + skipped == i64::try_from(SENT).ok()?).then_some(counted)
    })
    .await?;
    // A hundred, and seven standard deviations (8.7) to each side.
    assert!((40..=160).contains(&counted), "{counted}");
    until_counted(&collector, counted).await?;
    let home = [("page", "home"), ("campaign", "none")];
    assert_eq!(
        collector.count_of("site.page.views", &home),
        Some(counted * ONE_IN)
    );
    let started = collector.count_of("site.form.starts", &[("form", "contact")]);
    assert_eq!(started, Some(counted * ONE_IN));
    stack.stop().await
}
