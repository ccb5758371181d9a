//! Bulk publishing.

use async_nats::jetstream::{Context, message::PublishMessage};
use futures_util::{StreamExt, TryStreamExt, stream};

/// Maximum of unacknowledged messages. With one at a time, a million messages would take an hour.
const IN_FLIGHT: usize = 2_000;

/// Publishes messages in no particular order, and waits until all are stored.
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
