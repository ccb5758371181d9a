//! Dead-letter digest: an hourly mail to the operator that lists new dead letters. A crash after the send
//! and before the ack repeats the mail, with the same `Message-ID`.

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::{self, AckKind, Context, consumer::PullConsumer};
use futures_util::StreamExt;
use site_broker::{DIGEST_CONSUMER, Failure, consume::with_progress, dead_letters::DeadLetterSummary};
use site_events::DEAD_LETTERS_STREAM;
use site_service::drain::CancellationToken;
use time::OffsetDateTime;
use tokio::time::{sleep, timeout};

use crate::{
    deliver::Notifier,
    mail::{self, Attachment, DigestContent},
    storage::EndpointRecords,
    transport::smtp::{SmtpChannel, SmtpFailure},
};

const MAX_DEAD_LETTERS: usize = 1_000;
const RETRY_PAUSE: Duration = Duration::from_secs(60);
/// Timeout per dead letter, because a fetch never ends if the broker stops.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

pub struct DeadLetterDigest {
    pub notifier: Arc<Notifier>,
    pub consumer: PullConsumer,
    pub endpoints: Arc<EndpointRecords>,
    pub webhooks: Vec<String>,
    pub every: Duration,
    pub smtp_channel: SmtpChannel,
}

pub async fn consumer(context: &Context) -> anyhow::Result<PullConsumer> {
    let opened = context
        .get_consumer_from_stream(DIGEST_CONSUMER, DEAD_LETTERS_STREAM)
        .await;
    opened.map_err(|error| {
        anyhow::anyhow!("the consumer {DIGEST_CONSUMER} cannot be opened ({error}); run `sitectl setup`")
    })
}

impl DeadLetterDigest {
    /// Sends the first mail at once and then one per interval until `stop`. A failed mail is retried within a minute.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut pause = Duration::ZERO;
        while stop.run_until_cancelled(sleep(pause)).await.is_some() {
            pause = self.every;
            if let Err(error) = self.send_pending().await {
                tracing::error!(%error, "the dead-letter digest was not sent and will be retried");
                pause = self.every.min(RETRY_PAUSE);
            }
        }
    }

    async fn send_pending(&mut self) -> Result<(), SmtpFailure> {
        let letters = self.fetch().await.map_err(unavailable)?;
        if letters.is_empty() {
            return Ok(());
        }
        // Extends the ack wait, so that no other notifier gets the same dead letters during the send.
        let (pending, ack_wait) = (letters.clone(), self.consumer.cached_info().config.ack_wait);
        let extend = || acknowledge(AckKind::Progress, &pending);
        let sent = with_progress(self.send(&letters), ack_wait, extend).await;
        let outcome = match sent {
            Ok(()) => AckKind::Ack,
            // Makes the letters available to the next mail at once.
            Err(_) => AckKind::Nak(None),
        };
        acknowledge(outcome, &letters).await;
        sent
    }

    async fn send(&mut self, letters: &[jetstream::Message]) -> Result<(), SmtpFailure> {
        let content = DigestContent {
            letters: letters.iter().map(summary).collect(),
            remaining: self.consumer.info().await.map_err(unavailable)?.num_pending,
            endpoints: self.disabled_endpoints().await?,
        };
        let Notifier {
            mail_context, smtp, ..
        } = &*self.notifier;
        let write = || async {
            let mail = mail::dead_letters(mail_context, &content);
            let message = mail.into_message(mail_context, OffsetDateTime::now_utc());
            Ok::<_, SmtpFailure>(Some(message.map_err(Failure::from)?))
        };
        smtp.send(&self.smtp_channel, Attachment::LeftOut, write).await?;
        tracing::info!(dead_letters = letters.len(), "the dead-letter digest was sent");
        Ok(())
    }

    async fn fetch(&self) -> Result<Vec<jetstream::Message>, async_nats::Error> {
        let request = self.consumer.fetch().max_messages(MAX_DEAD_LETTERS);
        let mut messages = request.messages().await?;
        let mut fetched = Vec::new();
        while let Some(message) = timeout(FETCH_TIMEOUT, messages.next()).await? {
            fetched.push(message?);
        }
        Ok(fetched)
    }

    async fn disabled_endpoints(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut disabled = Vec::new();
        for name in &self.webhooks {
            if let Some(reason) = self.endpoints.state(name).await?.off {
                disabled.push((name.clone(), reason));
            }
        }
        Ok(disabled)
    }
}

async fn acknowledge(kind: AckKind, letters: &[jetstream::Message]) {
    for letter in letters {
        if let Err(error) = letter.ack_with(kind).await {
            tracing::warn!(%error, "a dead letter was not acknowledged; the digest may be sent again");
            return;
        }
    }
}

fn unavailable(error: impl std::fmt::Display) -> Failure {
    Failure::of_store(DEAD_LETTERS_STREAM, error)
}

fn summary(message: &jetstream::Message) -> (u64, DeadLetterSummary) {
    let number = message.info().map_or(0, |info| info.stream_sequence);
    let headers = message.headers.clone().unwrap_or_default();
    let summary = DeadLetterSummary::of(&message.subject, &headers, &message.payload);
    (number, summary)
}
