//! Dead-letter digest: every hour, or as often as the settings say, a mail tells the operator what became a dead letter
//! since. Nothing of it is kept in memory: what was told of is acknowledged to the broker, and what was not comes again.
//! What a mail is to tell of is recorded before it is sent, so that a repetition after a crash is the same mail.

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::{self, AckKind, Context, consumer::PullConsumer};
use futures_util::StreamExt;
use site_broker::{DIGEST_CONSUMER, consume::with_progress, dead_letters::DeadLetterSummary};
use site_events::DEAD_LETTERS_STREAM;
use site_service::drain::CancellationToken;
use time::OffsetDateTime;
use tokio::time::timeout;

use crate::{
    mail::{self, Attachment, DigestContent, MailContext, MailError},
    storage::{Deliveries, EndpointStates, LastDigest, Unavailable},
    transport::smtp::{Smtp, SmtpChannel, SmtpFailure},
};

/// The most dead letters that one mail tells of.
const MAX_DEAD_LETTERS: usize = 1_000;
/// The pause after a mail that was not sent.
const RETRY_PAUSE: Duration = Duration::from_secs(60);
/// How long the broker may take over each dead letter that it is asked for. One that goes down answers a request never.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

/// Tells the operator what could not be delivered.
pub struct DeadLetterDigest {
    pub deliveries: Deliveries,
    pub mail_context: Arc<MailContext>,
    pub smtp: Arc<Smtp>,
    pub consumer: PullConsumer,
    /// How the endpoints fare, and which there are.
    pub states: Arc<EndpointStates>,
    pub endpoints: Vec<String>,
    pub every: Duration,
    pub smtp_channel: SmtpChannel,
}

/// Why the operator was not told.
#[derive(Debug, thiserror::Error)]
enum DigestError {
    #[error("the dead letters cannot be read: {0}")]
    Broker(async_nats::Error),
    #[error(transparent)]
    Store(#[from] Unavailable),
    #[error(transparent)]
    Mail(#[from] MailError),
    #[error(transparent)]
    Smtp(#[from] SmtpFailure),
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
        while stop
            .run_until_cancelled(tokio::time::sleep(pause))
            .await
            .is_some()
        {
            pause = self.every;
            if let Err(error) = self.send_pending().await {
                tracing::error!(%error, "the operator was not told of dead letters; will try again");
                pause = self.every.min(RETRY_PAUSE);
            }
        }
    }

    async fn send_pending(&mut self) -> Result<(), DigestError> {
        let fetched = self.fetch().await.map_err(DigestError::Broker)?;
        if fetched.is_empty() {
            return Ok(());
        }
        // Held until they are told of: another notifier that was handed them would read that their mail is still to be sent.
        let held = fetched.clone();
        let ack_wait = self.consumer.cached_info().config.ack_wait;
        with_progress(self.send_fetched(fetched), ack_wait, || report_progress(&held)).await
    }

    async fn send_fetched(&mut self, fetched: Vec<jetstream::Message>) -> Result<(), DigestError> {
        let last = self.deliveries.last_digest().await?;
        let (again, new): (Vec<_>, Vec<_>) = fetched
            .into_iter()
            .partition(|message| last.numbers.contains(&sequence(message)));
        if last.sent {
            acknowledge(again).await?;
        } else {
            self.send_digest(again).await?;
        }
        self.send_digest(new).await
    }

    /// Sends one mail of these, which is recorded before and after, and then acknowledges them.
    async fn send_digest(&mut self, letters: Vec<jetstream::Message>) -> Result<(), DigestError> {
        if letters.is_empty() {
            return Ok(());
        }
        let mut digest = LastDigest {
            numbers: letters.iter().map(sequence).collect(),
            sent: false,
        };
        self.deliveries.record_digest(&digest).await?;
        if let Err(error) = self.send(&letters).await {
            give_back(letters).await?;
            return Err(error);
        }
        digest.sent = true;
        self.deliveries.record_sent_digest(&digest).await?;
        acknowledge(letters).await
    }

    async fn send(&mut self, letters: &[jetstream::Message]) -> Result<(), DigestError> {
        let content = DigestContent {
            letters: letters.iter().map(summary).collect(),
            remaining: self.remaining().await.map_err(DigestError::Broker)?,
            endpoints: self.switched_off().await?,
        };
        let write = || async {
            let mail = mail::dead_letters(&self.mail_context, &content);
            let message = mail.into_message(&self.mail_context, OffsetDateTime::now_utc())?;
            Ok::<_, DigestError>(Some(message))
        };
        self.smtp
            .send(&self.smtp_channel, Attachment::LeftOut, write)
            .await?;
        tracing::info!(
            dead_letters = letters.len(),
            "the operator was told of dead letters"
        );
        Ok(())
    }

    async fn fetch(&self) -> Result<Vec<jetstream::Message>, async_nats::Error> {
        let mut messages = self
            .consumer
            .fetch()
            .max_messages(MAX_DEAD_LETTERS)
            .messages()
            .await?;
        let mut fetched = Vec::new();
        while let Some(message) = timeout(FETCH_TIMEOUT, messages.next()).await? {
            fetched.push(message?);
        }
        Ok(fetched)
    }

    async fn remaining(&mut self) -> Result<u64, async_nats::Error> {
        Ok(self.consumer.info().await?.num_pending)
    }

    async fn switched_off(&self) -> Result<Vec<(String, String)>, DigestError> {
        let mut off = Vec::new();
        for name in &self.endpoints {
            if let Some(reason) = self.states.of(name).await?.off {
                off.push((name.clone(), reason));
            }
        }
        Ok(off)
    }
}

async fn acknowledge(letters: Vec<jetstream::Message>) -> Result<(), DigestError> {
    acknowledge_as(AckKind::Ack, letters).await
}

/// So that the next mail may tell of them, however soon it is.
async fn give_back(letters: Vec<jetstream::Message>) -> Result<(), DigestError> {
    acknowledge_as(AckKind::Nak(None), letters).await
}

async fn acknowledge_as(kind: AckKind, letters: Vec<jetstream::Message>) -> Result<(), DigestError> {
    for letter in letters {
        letter.ack_with(kind).await.map_err(DigestError::Broker)?;
    }
    Ok(())
}

async fn report_progress(letters: &[jetstream::Message]) {
    for letter in letters {
        if let Err(error) = letter.ack_with(AckKind::Progress).await {
            tracing::debug!(%error, "the broker was not told that the mail to the operator goes on");
            return;
        }
    }
}

fn sequence(message: &jetstream::Message) -> u64 {
    message.info().map_or(0, |info| info.stream_sequence)
}

fn summary(message: &jetstream::Message) -> (u64, DeadLetterSummary) {
    let headers = message.headers.clone().unwrap_or_default();
    (
        sequence(message),
        DeadLetterSummary::of(&message.subject, &headers, &message.payload),
    )
}
