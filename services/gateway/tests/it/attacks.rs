//! Attacks on the whole stack by programs that are made for it, in a short form; the long one is `cargo xtask attack`.

use testkit::{Ports, Stack, external_program};
use tokio::process::Command;

/// So that what is attacked is more than the limit of requests.
const WITHOUT_RATE_LIMITS: [(&str, &str); 4] = [
    ("RATE_PER_MINUTE", "1000000"),
    ("RATE_BURST", "1000000"),
    ("LINK_RATE_PER_MINUTE", "1000000"),
    ("VISITS_PER_SECOND", "1000000"),
];

/// Runs it against a stack of its own; it fails where something does not hold.
async fn attack(command: Command) -> anyhow::Result<()> {
    let stack = Stack::start(Ports::free()?, &WITHOUT_RATE_LIMITS).await?;
    let info = serde_json::to_vec(&stack.info())?;
    external_program::run(command, &info).await?;
    stack.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_frames_and_calls_break_no_server_and_are_not_its_fault() -> anyhow::Result<()> {
    let mut frames = external_program::python("services/gateway/tests/attacks/broken_frames.py")?;
    frames.args(["--mutations", "100"]);
    attack(frames).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_by_the_openapi_document_or_against_it_is_answered_as_it_says() -> anyhow::Result<()> {
    let script = "services/gateway/tests/attacks/openapi_requests.py";
    let mut requests = external_program::python_of("schemathesis", script)?;
    requests.args(["--max-examples", "20", "--seed", "1"]);
    attack(requests).await
}
