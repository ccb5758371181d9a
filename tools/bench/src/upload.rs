//! `bench upload`: applications with a résumé.

use std::fs;

use testkit::{Ports, Stack, measure::pdf};

use crate::{
    Turns, WITHOUT_LIMITS,
    compare::{Contender, compare},
    forms,
    peers::Peer,
    table::Row,
    wrk::Requests,
};

const LEAST: f64 = 0.5;
const MEGABYTES: usize = 5;

/// Measures applications on a stack without a notifier.
///
/// # Errors
///
/// If a program does not start, or rejects an upload.
pub async fn upload(turns: Turns) -> anyhow::Result<Vec<Row>> {
    let mut stack = Stack::start_as(forms(), Ports::free()?, &WITHOUT_LIMITS).await?;
    stack.stop_service("notifier").await?;
    let resume = stack.logs.with_file_name("resume.pdf");
    fs::write(&resume, pdf(MEGABYTES * 1_000_000))?;

    let axum = Peer::axum(&stack).await?;
    let broker = stack.nats.servers[0].process()?;
    let mut rows = Vec::new();
    // The gateway rejects more than ten uploads at a time.
    for connections in [1, 8] {
        let ours = Contender {
            name: "ours",
            url: stack.site(),
            processes: vec![stack.service("gateway")?, stack.service("careers")?, broker],
            least: Some(LEAST),
        };
        let contenders = [axum.contender(Some(broker)), ours];
        let requests = Requests::Application(&resume);
        let case = format!("{MEGABYTES} MB, {connections} at once");
        rows.extend(compare(&case, &contenders, requests, connections, turns).await?);
    }
    stack.stop().await?;
    Ok(rows)
}
