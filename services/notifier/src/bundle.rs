//! Delivers events in bundles: what is beyond so many mails within an hour waits for others of its channel, and they go out in one
//! mail. Each stays a delivery of its own, held and recorded by [`Deliveries::deliver_once`](crate::storage::Deliveries::deliver_once): whoever
//! leads the bundle writes its mail and hands it over for all, and tells each what came of it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use site_broker::Remedy;
use time::OffsetDateTime;
use tokio::{sync::oneshot, time::sleep};

use crate::{
    delivery_error::DeliveryError,
    gathering::{BundleSize, Gathering},
    mail::{self, Attachment, BundleKind, Mail, MailContext, MailError, RecruiterExtrasLoader},
    storage::{EventStream, Handover, Unsent},
    transport::smtp::{Smtp, SmtpChannel, SmtpFailure},
};

/// The size of a bundle: its mail can be read to its end, and is written in some megabytes. One event takes up to
/// 120 kB.
const MAX_SIZE: BundleSize = BundleSize {
    members: 50,
    bytes: 256 * 1024,
};

/// The most deliveries of a channel with bundles that are under way at once: a bundle that fills up, and as many beside it. A quarter
/// must be free for the broker to be asked for more.
pub const MAILS_AT_ONCE: usize = 2 * MAX_SIZE.members;

/// What came of an event that waited for others.
pub enum Bundled {
    /// It is done with.
    Done(Handover),
    /// It is to go out by itself: no other came, or the mail server takes no mail with it in.
    Alone,
}

/// Sends bundles.
pub struct Bundles {
    pub events: EventStream,
    pub recruiter_extras: Arc<RecruiterExtrasLoader>,
    pub mail_context: Arc<MailContext>,
    pub smtp: Arc<Smtp>,
    /// How long an event waits for others.
    pub period: Duration,
    /// Those that fill up.
    pub open: OpenBundles,
}

/// The bundles that fill up.
pub struct OpenBundles {
    leads: Gathering<Member>,
    applications: Gathering<Member>,
}

/// An event that waits for others, and where it is told what came of it.
struct Member {
    unsent: Unsent<'static>,
    answer: oneshot::Sender<Result<Bundled, DeliveryError>>,
}

/// Why a bundle was not handed over.
#[derive(Debug, thiserror::Error)]
enum BundleError {
    #[error(transparent)]
    Smtp(#[from] SmtpFailure),
    #[error(transparent)]
    Mail(#[from] MailError),
}

impl BundleError {
    fn may_be_of_one_member(&self) -> bool {
        match self {
            Self::Mail(_) => true,
            Self::Smtp(error) => !matches!(error.failure.remedy, Remedy::RetryLater { .. }),
        }
    }
}

impl OpenBundles {
    fn of(&self, kind: BundleKind) -> &Gathering<Member> {
        match kind {
            BundleKind::Leads => &self.leads,
            BundleKind::Applications => &self.applications,
        }
    }
}

impl Default for OpenBundles {
    fn default() -> Self {
        Self {
            leads: Gathering::new(MAX_SIZE),
            applications: Gathering::new(MAX_SIZE),
        }
    }
}

impl Member {
    /// Whoever waited for that may be gone.
    fn tell(self, answer: Result<Bundled, DeliveryError>) {
        drop(self.answer.send(answer));
    }
}

impl Bundles {
    /// Waits for others, and goes out with them. At a stop it waits no longer.
    ///
    /// # Errors
    ///
    /// If its entry cannot be written, or the bundle is not handed over.
    pub async fn send_with_others(
        &self,
        kind: BundleKind,
        smtp_channel: &SmtpChannel,
        unsent: Unsent<'static>,
    ) -> Result<Bundled, DeliveryError> {
        let (answer, answered) = oneshot::channel();
        let bytes = unsent.delivery().payload().len();
        let lead = self.open.of(kind).join(Member { unsent, answer }, bytes);
        if let Some(lead) = lead {
            let wait = async {
                tokio::select! {
                    () = sleep(self.period) => {}
                    () = self.smtp.stopped() => {}
                }
            };
            let members = lead.members(wait).await;
            self.send_bundle(kind, smtp_channel, members).await;
        }
        answered.await.unwrap_or(Err(DeliveryError::BundleIsGone))
    }

    /// Hands the bundle over, and tells each member what came of it. What the server does not take as it is, is handed over by
    /// halves: in the end only the event that is to blame for it is alone.
    async fn send_bundle(&self, kind: BundleKind, smtp_channel: &SmtpChannel, members: Vec<Member>) {
        let mut parts = vec![members];
        while let Some(mut members) = parts.pop() {
            match self.try_to_send(kind, smtp_channel, &mut members).await {
                Ok(Handover::Sent) => {
                    tracing::info!(events = members.len(), "a bundle was sent");
                    tell_all(members, || Ok(Bundled::Done(Handover::Bundled)));
                }
                // Fewer than two are left of it.
                Ok(_) => tell_all(members, || Ok(Bundled::Alone)),
                Err(error) if error.may_be_of_one_member() => {
                    tracing::warn!(%error, events = members.len(), "a bundle was not taken; each half of it is tried by itself");
                    parts.push(members.split_off(members.len() / 2));
                    parts.push(members);
                }
                Err(BundleError::Mail(_)) => {}
                Err(BundleError::Smtp(error)) => tell_all(members, || Err(error.clone().into())),
            }
        }
    }

    /// One mail of the members; of fewer than two there is none. Those that are not to be sent, or whose mail cannot be written, are told
    /// so and leave.
    async fn try_to_send(
        &self,
        kind: BundleKind,
        smtp_channel: &SmtpChannel,
        members: &mut Vec<Member>,
    ) -> Result<Handover, BundleError> {
        if members.len() < 2 {
            return Ok(Handover::Before);
        }
        let answers = Mutex::default();
        let write = || async {
            let writing = members
                .iter()
                .map(|member| self.write_entry(kind, &member.unsent));
            let (mails, leaving) = mails_and_answers(join_all(writing).await);
            *answers.lock().unwrap_or_else(PoisonError::into_inner) = leaving;
            if mails.len() < 2 {
                return Ok(None);
            }
            let now = OffsetDateTime::now_utc();
            Ok(Some(mail::write_bundle(&self.mail_context, kind, mails, now)?))
        };
        let sent = self.smtp.send(smtp_channel, Attachment::LeftOut, write).await;
        let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut answers = answers.into_iter();
        for member in std::mem::take(members) {
            match answers.next().flatten() {
                Some(answer) => member.tell(answer),
                None => members.push(member),
            }
        }
        sent
    }

    /// The mail of one event, or why there is to be none.
    async fn write_entry(
        &self,
        kind: BundleKind,
        unsent: &Unsent<'_>,
    ) -> Result<Result<Mail, Handover>, DeliveryError> {
        let (context, extras) = (&self.mail_context, &self.recruiter_extras);
        let (delivery, now) = (unsent.delivery(), OffsetDateTime::now_utc());
        let mail = mail::write_entry(context, extras, kind, delivery, now).await?;
        let instead = self.events.instead_of_sending(unsent).await?;
        Ok(instead.map_or(Ok(mail), Err))
    }
}

/// The mails that were written, and of each event, in its order, what its member is told if it has none.
fn mails_and_answers(
    written: Vec<Result<Result<Mail, Handover>, DeliveryError>>,
) -> (Vec<Mail>, Vec<Option<Result<Bundled, DeliveryError>>>) {
    let mut mails = Vec::new();
    let answers = written.into_iter().map(|written| match written {
        Ok(Ok(mail)) => {
            mails.push(mail);
            None
        }
        Ok(Err(handover)) => Some(Ok(Bundled::Done(handover))),
        Err(error) => Some(Err(error)),
    });
    let answers = answers.collect();
    (mails, answers)
}

fn tell_all(members: Vec<Member>, answer: impl Fn() -> Result<Bundled, DeliveryError>) {
    for member in members {
        member.tell(answer());
    }
}
