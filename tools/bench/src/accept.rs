//! `bench accept`: contact forms.

use testkit::{Ports, Stack};

use crate::{
    Turns, WITHOUT_LIMITS,
    compare::{Contender, compare},
    forms,
    peers::Peer,
    table::Row,
    wrk::Requests,
};

/// Minimum ratio: three quarters of the measured one. A lower ratio is a regression.
const LEAST: f64 = 0.25;

/// Measures contact forms on a stack without a notifier.
///
/// # Errors
///
/// If a program does not start, or rejects a form.
pub async fn accept(turns: Turns) -> anyhow::Result<Vec<Row>> {
    let mut stack = Stack::start_as(forms(), Ports::free()?, &WITHOUT_LIMITS).await?;
    // Storage for the events of a few minutes of load.
    stack.nats.provision(&["--storage-mb", "8000"]).await?;
    stack.stop_service("notifier").await?;
    // Stores an event of a second kind. Otherwise the broker scans all subjects for a consumer with two
    // filters, which takes 40 ms at 100,000 messages.
    Requests::Newsletter.send(&stack.site(), 1, 1).await?;

    let axum = Peer::axum(&stack).await?;
    let fastify = Peer::fastify(&stack).await?;
    let broker = stack.nats.servers[0].process()?;
    let mut rows = Vec::new();
    for connections in [64, 1] {
        let ours = Contender {
            name: "ours",
            url: stack.site(),
            processes: vec![stack.service("gateway")?, stack.service("contact")?, broker],
            least: Some(LEAST),
        };
        let [axum, fastify] = [&axum, &fastify].map(|peer| peer.contender(Some(broker)));
        let case = format!("forms, {connections} connections");
        let contenders = [axum, fastify, ours];
        rows.extend(compare(&case, &contenders, Requests::Contact, connections, turns).await?);
    }
    stack.stop().await?;
    Ok(rows)
}
