//! Dead-letter digest: every hour, or as often as the settings say, a mail tells the operator what became a dead letter
//! since. Dead letters that were told of are acknowledged to the broker, the others come again. After a crash between the two a mail comes
//! twice, under the same `Message-ID`.

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

/// The most dead letters that one mail tells of.
const MAX_DEAD_LETTERS: usize = 1_000;
/// The pause after a mail that was not sent.
const RETRY_PAUSE: Duration = Duration::from_secs(60);
/// How long the broker may take over each dead letter that it is asked for. One that goes down answers a request never.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

/// Tells the operator what could not be delivered.
pub struct DeadLetterDigest {
    pub notifier: Arc<Notifier>,
    pub consumer: PullConsumer,
    /// How the endpoints fare, and which there are.
    pub endpoints: Arc<EndpointRecords>,
    pub webhooks: Vec<String>,
    pub every: Duration,
    pub smtp_channel: SmtpChannel,
}

/// Opens the consumer of dead letters.
///
/// # Errors
///
/// If it is not there, or the broker does not answer.
pub async fn consumer(context: &Context) -> anyhow::Result<PullConsumer> {
    let opened = context
        .get_consumer_from_stream(DIGEST_CONSUMER, DEAD_LETTERS_STREAM)
        .await;
    opened.map_err(|error| {
        anyhow::anyhow!("the consumer {DIGEST_CONSUMER} cannot be opened ({error}); run `sitectl setup`")
    })
}

impl DeadLetterDigest {
    /// Sends the first mail at once, and then one at every interval until `stop`. A mail that fails is sent with the next one, within a
    /// minute at the latest.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut pause = Duration::ZERO;
        while stop.run_until_cancelled(sleep(pause)).await.is_some() {
            pause = self.every;
            if let Err(error) = self.send_pending().await {
                tracing::error!(%error, "the operator was not told of dead letters; will try again");
                pause = self.every.min(RETRY_PAUSE);
            }
        }
    }

    async fn send_pending(&mut self) -> Result<(), SmtpFailure> {
        let letters = self.fetch().await.map_err(unavailable)?;
        if letters.is_empty() {
            return Ok(());
        }
        // Held while the mail is sent: another notifier would be handed them, and send another.
        let (held, ack_wait) = (letters.clone(), self.consumer.cached_info().config.ack_wait);
        let hold = || acknowledge(AckKind::Progress, &held);
        let sent = with_progress(self.send(&letters), ack_wait, hold).await;
        let outcome = match sent {
            Ok(()) => AckKind::Ack,
            // So that the next mail may tell of them, however soon it is.
            Err(_) => AckKind::Nak(None),
        };
        acknowledge(outcome, &letters).await;
        sent
    }

    async fn send(&mut self, letters: &[jetstream::Message]) -> Result<(), SmtpFailure> {
        let content = DigestContent {
            letters: letters.iter().map(summary).collect(),
            remaining: self.consumer.info().await.map_err(unavailable)?.num_pending,
            endpoints: self.switched_off().await?,
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
        tracing::info!(
            dead_letters = letters.len(),
            "the operator was told of dead letters"
        );
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

    async fn switched_off(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut off = Vec::new();
        for name in &self.webhooks {
            if let Some(reason) = self.endpoints.state(name).await?.off {
                off.push((name.clone(), reason));
            }
        }
        Ok(off)
    }
}

async fn acknowledge(kind: AckKind, letters: &[jetstream::Message]) {
    for letter in letters {
        if let Err(error) = letter.ack_with(kind).await {
            tracing::warn!(%error, "the broker was not told of a mail to the operator; it may be sent again");
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
