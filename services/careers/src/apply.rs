//! Application use case: store the résumé, then the event, then answer.
//!
//! An uncommitted application stores nothing. The sweep removes a stored résumé that no event names.

use std::{collections::BTreeSet, io, path::PathBuf};

use site_broker::{PublishError, Publisher, Stored};
use site_events::{
    EventData,
    event::{ActiveContent, CareersApplied, Scan},
};
use site_proto::careers::v1::{ApplicationForm, ApplyRequest};
use site_service::{
    RequestId,
    drain::Drain,
    idempotency::{IdempotencyKey, InvalidIdempotencyKey},
    status::{self, Violations},
};
use tonic::{Status, Streaming};
use uuid::Uuid;
use visitor::PersonKey;

use crate::{
    application,
    receiving::receive,
    resume::{ResumeError, ResumeKind, Verification},
    scanner::{Infected, Scanner},
    settings::STORING_TIME,
    spool::Spooled,
    upload::{UploadError, Uploads},
};

const RESUME: &str = "resume";

pub struct Careers {
    pub publisher: Publisher,
    pub uploads: Uploads,
    pub person_key: PersonKey,
    pub spool: PathBuf,
    pub verification: Verification,
    pub scanner: Option<Scanner>,
}

pub enum ApplyError {
    Invalid(Violations),
    /// The résumé is rejected while it arrives, before the fields are validated.
    Resume(ResumeError),
    Infected(Infected),
    Key(InvalidIdempotencyKey),
    /// The client broke the protocol of the stream.
    Protocol(&'static str),
    Stream(Status),
    /// The service stops, and the rest of the grace period is needed to store complete applications.
    Stopping,
    TooLarge,
    Spool(io::Error),
    Upload(UploadError),
    Publish(PublishError),
}

impl From<ApplyError> for Status {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Invalid(violations) => violations.into_status(),
            ApplyError::Resume(error) => refused_resume(error),
            ApplyError::Infected(infected) => refused_resume(infected),
            ApplyError::Key(error) => Self::invalid_argument(error.to_string()),
            ApplyError::Protocol(reason) => Self::failed_precondition(reason),
            ApplyError::Stream(status) => status,
            ApplyError::Stopping => status::unavailable("the service stops"),
            ApplyError::TooLarge => {
                Self::out_of_range("Your résumé is larger than 10 MB. Please send a smaller file.")
            }
            ApplyError::Spool(error) => {
                tracing::error!(%error, "résumé not spooled");
                status::unavailable("the résumé cannot be spooled")
            }
            ApplyError::Upload(error) => {
                tracing::warn!(%error, "résumé not stored");
                status::unavailable("the store is unavailable")
            }
            ApplyError::Publish(error) => error.into(),
        }
    }
}

fn refused_resume(sentence: impl ToString) -> Status {
    let mut violations = Violations::default();
    violations.check::<()>(RESUME, Err(sentence));
    violations.into_status()
}

/// Stores an application, and returns the id of its event.
///
/// # Errors
///
/// If a field or the résumé is invalid, the stream breaks, the service stops, or storage is not confirmed.
pub async fn apply(
    careers: &Careers,
    request_id: &RequestId,
    drain: &Drain,
    parts: Streaming<ApplyRequest>,
) -> Result<Uuid, ApplyError> {
    let (commit, spooled) = tokio::select! {
        received = receive(&careers.spool, parts) => received?,
        () = drain.left(STORING_TIME) => return Err(ApplyError::Stopping),
    };
    let key: IdempotencyKey = commit.idempotency_key.parse().map_err(ApplyError::Key)?;
    let form = commit.form.unwrap_or_default();
    let (mut applied, resume) = validated(&careers.verification, form, spooled).await?;

    let person = careers.person_key.person(&applied.email);
    let event_id = CareersApplied::TYPE.submission_id(&careers.person_key, key, &person);
    let upload = match resume {
        Some(resume) => {
            let scan = scan(careers, &resume.spooled).await?;
            let upload = careers.uploads.start(&person, resume, scan).await;
            Some(upload.map_err(ApplyError::Upload)?)
        }
        None => None,
    };
    applied.resume = upload.as_ref().map(|upload| upload.stored.clone());
    let published = careers
        .publisher
        .publish_submission(request_id, event_id, &person, applied, key.binding())
        .await;
    // Only `Stored::New` proves that a stored event names this résumé. Otherwise the sweep checks for an event.
    if let (Some(upload), Ok(Stored::New)) = (upload, &published) {
        careers.uploads.commit(upload).await;
    }
    published.map(|_| event_id).map_err(ApplyError::Publish)
}

pub struct CheckedResume {
    pub spooled: Spooled,
    pub kind: ResumeKind,
    pub active_content: BTreeSet<ActiveContent>,
}

/// Validates form and résumé together, so that the visitor sees all errors at once.
///
/// # Errors
///
/// If the form or the résumé has violations (the error holds all), or the file cannot be read.
pub async fn validated(
    verification: &Verification,
    form: ApplicationForm,
    spooled: Option<Spooled>,
) -> Result<(CareersApplied, Option<CheckedResume>), ApplyError> {
    let mut violations = Violations::default();
    let application = application::validated(form, &mut violations);
    let resume = match spooled {
        Some(spooled) => {
            let checked = checked(verification, spooled).await;
            violations
                .check(RESUME, checked.map_err(ApplyError::Spool)?)
                .map(Some)
        }
        None => Some(None),
    };
    match (application, resume) {
        (Some(application), Some(resume)) => Ok((application, resume)),
        _ => Err(ApplyError::Invalid(violations)),
    }
}

async fn checked(
    verification: &Verification,
    spooled: Spooled,
) -> io::Result<Result<CheckedResume, ResumeError>> {
    if spooled.size_bytes == 0 {
        return Ok(Err(ResumeError::Empty));
    }
    let Some(kind) = ResumeKind::of_name(&spooled.file_name) else {
        return Ok(Err(ResumeError::Ending));
    };
    let look = verification.verify(kind, &spooled.path()).await?;
    Ok(look.map(|active_content| CheckedResume {
        spooled,
        kind,
        active_content,
    }))
}

async fn scan(careers: &Careers, resume: &Spooled) -> Result<Scan, ApplyError> {
    match &careers.scanner {
        Some(scanner) => scanner.scan(&resume.path()).await.map_err(ApplyError::Infected),
        None => Ok(Scan::NotScanned),
    }
}
