//! Services whose clocks step while they run.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use serde_json::json;
use testkit::{Clock, Ports, Shape, Stack};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::time::Instant;

const HOUR: Duration = Duration::from_secs(60 * 60);
/// Far less than any step.
const SOON: Duration = Duration::from_secs(20);

/// Sends a message; how far the time of its event is from ours, in seconds.
async fn offset_of_an_event(stack: &Stack, message: &str) -> anyhow::Result<f64> {
    let url = format!("{}/api/contact", stack.site());
    let form = json!({ "name": "Zoë", "email": "zoe@example.org", "message": message });
    let started = Instant::now();
    let answer = reqwest::Client::new().post(&url).json(&form).send().await?;
    anyhow::ensure!(answer.status().is_success(), "{}", answer.status());
    anyhow::ensure!(started.elapsed() < SOON, "a timer stands still");
    let event = stack.nats.events().await?.pop().context("no event")?;
    let time = event["time"].as_str().context("no time")?;
    let time = OffsetDateTime::parse(time, &Rfc3339)?.unix_timestamp();
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(time as f64 - now.as_secs_f64())
}

#[tokio::test]
async fn the_clock_of_a_service_steps_forth_and_back_and_everything_goes_on() -> anyhow::Result<()> {
    let shape = Shape {
        clock: Clock::Stepped,
        ..Shape::USUAL
    };
    let mut stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
    let is_about = |found: f64, expected: f64| (found - expected).abs() < SOON.as_secs_f64();
    let hour = HOUR.as_secs_f64();

    assert!(is_about(offset_of_an_event(&stack, "0").await?, 0.0));
    for name in stack.names() {
        stack.clock_of(name)?.step_forth(HOUR)?;
    }
    assert!(is_about(offset_of_an_event(&stack, "1").await?, hour));
    for name in stack.names() {
        stack.clock_of(name)?.step_back(3 * HOUR)?;
    }
    assert!(is_about(offset_of_an_event(&stack, "2").await?, -2.0 * hour));

    // One that starts again keeps the clock that it had.
    stack.take_service("contact")?.kill().await?;
    stack.start_service("contact")?;
    stack.ready(SOON).await?;
    assert!(is_about(offset_of_an_event(&stack, "3").await?, -2.0 * hour));
    stack.clock_of("contact")?.set_right()?;
    assert!(is_about(offset_of_an_event(&stack, "4").await?, 0.0));

    stack.inbox()?.mails_to("zoe@example.org", 5, 3 * SOON).await?;
    assert_eq!(stack.ended(), None);
    stack.stop().await
}
