//! What a mail provider posts of mails that came back and of complaints: checked, and published for each subscriber that it is about,
//! as the notifier does with what a mail server says at once.

use std::time::Duration;

use mail_reports::{Post, PostError, PostedReport, Repetition};
use site_broker::PublishError;
use site_events::{EventData as _, event::NewsletterBounced, sending::SENDING_NAME};
use site_proto::newsletter::v1::TakeMailReportRequest;
use site_service::{RequestId, status};
use subscribers::SubscriberStoreError;
use time::OffsetDateTime;
use tonic::Status;
use uuid::Uuid;

use crate::{
    newsletter::Newsletter,
    settings::MailReportSettings,
    sns::{Sns, SnsError},
};

/// How long a request is remembered: longer than its signature is good, which may be of an hour from now.
const REMEMBERED: Duration = Duration::from_secs(3 * 60 * 60);

/// Why a request was not taken.
#[derive(Debug, thiserror::Error)]
pub enum MailReportError {
    /// No such provider is set up.
    #[error("there is no such provider")]
    UnknownProvider,
    /// It is not the provider's, or cannot be read.
    #[error(transparent)]
    Post(#[from] PostError),
    /// Another one was taken under its signature.
    #[error("another report was taken under its signature")]
    Repeated,
    /// It is not Amazon's, or Amazon was not reached.
    #[error(transparent)]
    Sns(#[from] SnsError),
    /// The record of a subscriber could not be read.
    #[error(transparent)]
    Store(#[from] SubscriberStoreError),
    /// An event could not be stored.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

impl From<MailReportError> for Status {
    fn from(error: MailReportError) -> Self {
        let sentence = error.to_string();
        match error {
            MailReportError::UnknownProvider => Self::not_found(sentence),
            MailReportError::Post(error) | MailReportError::Sns(SnsError::Post(error)) => match error {
                PostError::Unreadable(_) => Self::invalid_argument(sentence),
                PostError::Forged | PostError::Stale => Self::permission_denied(sentence),
            },
            MailReportError::Repeated => Self::permission_denied(sentence),
            MailReportError::Sns(SnsError::Away(_)) => status::unavailable("Amazon SNS was not reached"),
            MailReportError::Store(error) => error.into(),
            MailReportError::Publish(error) => error.into(),
        }
    }
}

/// From whom reports are taken.
pub struct MailReports {
    providers: MailReportSettings,
    sns: Option<Sns>,
}

impl MailReports {
    /// Those of these providers.
    ///
    /// # Errors
    ///
    /// If there is a topic of Amazon's, and no root certificates to reach Amazon by.
    pub fn new(providers: MailReportSettings) -> anyhow::Result<Self> {
        let sns = providers
            .ses_topic
            .clone()
            .map(|topic| Sns::new(topic, providers.ses_sns_url.clone()));
        Ok(Self {
            sns: sns.transpose()?,
            providers,
        })
    }

    /// Takes one request. One that fails half-way is completed by repeating it: each report has an id of its own, and what a signature is
    /// good for is claimed for this request, not for this time.
    ///
    /// # Errors
    ///
    /// If the request is not a provider's, another one was taken under its signature, it cannot be read, or is not known to be stored.
    pub async fn take(
        &self,
        newsletter: &Newsletter,
        request_id: &RequestId,
        request: &TakeMailReportRequest,
        now: OffsetDateTime,
    ) -> Result<(), MailReportError> {
        let read = self.read(request, now).await.inspect_err(|error| {
            tracing::warn!(provider = request.provider, %error, "a mail report was not taken");
        });
        let Some(post) = read? else {
            return Ok(());
        };
        if post.repetition == Repetition::Refused {
            let said = Uuid::new_v5(&post.id, &request.body);
            let claiming = newsletter.subscribers.claim_report(post.id, said, REMEMBERED);
            if !claiming.await? {
                let error = MailReportError::Repeated;
                tracing::warn!(provider = request.provider, %error, "a mail report was not taken");
                return Err(error);
            }
        }
        for report in post.reports {
            publish(newsletter, request_id, post.id, report).await?;
        }
        Ok(())
    }

    /// What a request says; nothing where it only asked whether reports are wanted.
    async fn read(
        &self,
        request: &TakeMailReportRequest,
        now: OffsetDateTime,
    ) -> Result<Option<Post>, MailReportError> {
        let TakeMailReportRequest {
            provider,
            authorization,
            body,
        } = request;
        let MailReportSettings {
            mailgun_signing_key: mailgun,
            postmark_webhook_password: postmark,
            ..
        } = &self.providers;
        match (provider.as_str(), mailgun, postmark, &self.sns) {
            ("mailgun", Some(mailgun), _, _) => Ok(Some(mailgun.read(body, now)?)),
            ("postmark", _, Some(postmark), _) => Ok(Some(postmark.read(authorization, body)?)),
            ("ses", _, _, Some(sns)) => Ok(sns.read(body, now).await?),
            _ => Err(MailReportError::UnknownProvider),
        }
    }
}

/// Publishes a report about a subscriber. Whoever is none is not told of: we sent them something else, or the sender did that shares
/// our account with the provider.
async fn publish(
    newsletter: &Newsletter,
    request_id: &RequestId,
    post: Uuid,
    report: PostedReport,
) -> Result<(), MailReportError> {
    let ids = newsletter.person_keys.person(&report.email);
    let known = newsletter.subscribers.find_any(&ids).await?;
    let Some(email) = known.subscriber.and_then(|subscriber| subscriber.email) else {
        return Ok(());
    };
    let id = NewsletterBounced::TYPE.id_for(Uuid::new_v5(&post, known.person.as_str().as_bytes()));
    let bounced = NewsletterBounced {
        email,
        channel: SENDING_NAME.to_owned(),
        reason: report.reason,
        kind: report.kind,
    };
    newsletter
        .publisher
        .publish(request_id, id, &known.person, bounced)
        .await?;
    Ok(())
}
