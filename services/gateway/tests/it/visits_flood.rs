//! What a beacon costs the gateway, beside a page: in the same run, in turns.

use std::time::Duration;

use anyhow::Context;
use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::{Client, RequestBuilder, StatusCode, header};
use serde_json::json;
use testkit::{Stack, measure::processor_time};

use crate::visits::counting;

const REQUESTS: usize = 2_000;
const AT_ONCE: usize = 16;
const TURNS: usize = 3;

/// Processor time that the gateway takes to answer so many.
async fn cost(
    stack: &Stack,
    status: StatusCode,
    request: impl Fn() -> RequestBuilder,
) -> anyhow::Result<Duration> {
    let pid = stack.service("gateway")?.pid().context("it runs")?;
    let before = processor_time(pid)?;
    let answers = stream::iter((0..REQUESTS).map(|_| request().send())).buffer_unordered(AT_ONCE);
    answers
        .try_for_each(async |answer| {
            assert_eq!(answer.status(), status);
            // A connection serves the next request once its answer is read.
            answer.bytes().await.map(drop)
        })
        .await?;
    Ok(processor_time(pid)? - before)
}

async fn ensure_cheaper_than_a_page(per_second: &str) -> anyhow::Result<()> {
    let (stack, collector) = counting(&[("VISITS_PER_SECOND", per_second)]).await?;
    let http = Client::new();
    let page = || {
        let page = http.get(format!("{}/terms", stack.site()));
        page.header(header::ACCEPT_ENCODING, "br")
    };
    let told = json!({
        "campaign": "monsoon", "views": ["home", "contact"], "starts": ["contact"],
        "vitals": { "page": "home", "lcp": 1400, "inp": 40, "cls": 0.01 },
    });
    let beacon = || {
        let beacon = http.post(format!("{}/api/visits", stack.site()));
        beacon.header("sec-fetch-site", "same-origin").json(&told)
    };
    let (mut pages, mut beacons) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..TURNS {
        pages += cost(&stack, StatusCode::OK, page).await?;
        beacons += cost(&stack, StatusCode::NO_CONTENT, beacon).await?;
    }
    let each = |time: Duration| time.as_micros() / (TURNS * REQUESTS) as u128;
    let ratio = beacons.as_secs_f64() / pages.as_secs_f64();
    eprintln!(
        "{per_second} a second: a page {} µs, a beacon {} µs: {ratio:.2}",
        each(pages),
        each(beacons)
    );
    assert!(ratio < 1.0, "a beacon {beacons:?}, a page {pages:?}");
    drop(collector);
    stack.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_beacons_costs_less_than_one_of_pages() -> anyhow::Result<()> {
    ensure_cheaper_than_a_page("10").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_beacon_that_is_counted_costs_less_than_a_page() -> anyhow::Result<()> {
    ensure_cheaper_than_a_page("1000000").await
}
