//! Publishing of more messages than would be stored in time one after the other.

use async_nats::jetstream::{Context, message::PublishMessage};
use futures_util::{StreamExt, TryStreamExt, stream};

/// How many may be sent and not acknowledged yet. Each by itself would take an hour for a million.
const IN_FLIGHT: usize = 2_000;

/// Publishes each under its subject, and waits until all are stored, in whatever order.
pub async fn publish_all(
    context: &Context,
    messages: impl IntoIterator<Item = anyhow::Result<(String, PublishMessage)>>,
) -> anyhow::Result<()> {
    let stored = stream::iter(messages).map(|message| async move {
        let (subject, message) = message?;
        context.send_publish(subject, message).await?.await?;
        anyhow::Ok(())
    });
    stored.buffer_unordered(IN_FLIGHT).try_collect().await
}
