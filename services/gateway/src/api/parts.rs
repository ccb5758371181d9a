//! From multipart to gRPC: each part of an application goes on as it arrives.

use std::time::Duration;

use axum::{
    body::Bytes,
    extract::{
        Multipart,
        multipart::{Field as FormPart, MultipartError},
    },
};
use http::StatusCode;
use site_proto::careers::v1::{ApplyRequest, Commit, Field, FieldName, ResumeStart, apply_request::Part};
use tokio::{sync::mpsc, time::timeout};

use super::{Attribution, HONEYPOT, Submission};
use crate::{api_error::ApiError, derived_key::SubmissionDigest};

/// How long no byte of an upload may arrive.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);
/// The most bytes of one text field that are taken in; the service's limits are lower.
const FIELD_BYTES: usize = 128 * 1024;
/// The most bytes of a file's name that go on: its end, where the ending is. The service keeps less.
const FILE_NAME_BYTES: usize = 1024;
const RESUME: &str = "resume";
const ATTRIBUTION: &str = "attribution";

/// What was forwarded.
pub enum Forwarded {
    /// All parts, and the commit.
    Application,
    /// A robot's parts, without a commit.
    Spam,
}

/// Forwards the whole form, and the commit once it was all there. Stops early where the
/// receiver is gone: then the service has refused already.
///
/// # Errors
///
/// If the form cannot be read, a part of it is too large, or nothing arrives for [`IDLE_TIMEOUT`].
pub async fn forward(
    mut form: Multipart,
    mut submission: Submission,
    to: mpsc::Sender<ApplyRequest>,
) -> Result<Forwarded, ApiError> {
    let mut spam = false;
    let mut attribution = None;
    let mut digest = SubmissionDigest::of("career-application");
    while let Some(mut part) = arriving(form.next_field()).await? {
        match part.name().unwrap_or_default() {
            RESUME => forward_resume(&mut part, &mut digest, &to).await?,
            ATTRIBUTION => attribution = Some(read_attribution(&text(&mut part).await?)?),
            HONEYPOT => spam |= !text(&mut part).await?.is_empty(),
            other => match field_name(other) {
                Some(name) => {
                    let value = text(&mut part).await?;
                    digest.set(name.as_str_name(), &value);
                    let name = name.into();
                    send(&to, Part::Field(Field { name, value })).await;
                }
                None => while chunk(&mut part).await?.is_some() {},
            },
        }
    }
    if spam {
        return Ok(Forwarded::Spam);
    }
    if let Some(attribution) = submission.attribution(attribution) {
        send(&to, Part::Attribution(attribution)).await;
    }
    let commit = Commit {
        idempotency_key: submission.key(digest).to_string(),
    };
    send(&to, Part::Commit(commit)).await;
    Ok(Forwarded::Application)
}

/// A browser sends a part without name and content where no file was chosen.
async fn forward_resume(
    part: &mut FormPart<'_>,
    digest: &mut SubmissionDigest,
    to: &mpsc::Sender<ApplyRequest>,
) -> Result<(), ApiError> {
    let file_name = part.file_name().unwrap_or_default();
    let kept_from = file_name.ceil_char_boundary(file_name.len().saturating_sub(FILE_NAME_BYTES));
    let file_name = file_name[kept_from..].to_owned();
    let first = chunk(part).await?;
    if file_name.is_empty() && first.is_none() {
        return Ok(());
    }
    send(to, Part::ResumeStart(ResumeStart { file_name })).await;
    let mut next = first;
    while let Some(bytes) = next {
        digest.add(RESUME, &bytes);
        send(to, Part::ResumeChunk(bytes)).await;
        next = chunk(part).await?;
    }
    Ok(())
}

/// Where the receiver is gone, the service has refused and its answer is what counts.
async fn send(to: &mpsc::Sender<ApplyRequest>, part: Part) {
    let _gone = to.send(ApplyRequest { part: Some(part) }).await;
}

async fn text(part: &mut FormPart<'_>) -> Result<String, ApiError> {
    let mut bytes = Vec::new();
    while let Some(more) = chunk(part).await? {
        if bytes.len() + more.len() > FIELD_BYTES {
            return Err(ApiError::of(StatusCode::PAYLOAD_TOO_LARGE));
        }
        bytes.extend_from_slice(&more);
    }
    String::from_utf8(bytes).map_err(|_| ApiError::of(StatusCode::BAD_REQUEST))
}

async fn chunk(part: &mut FormPart<'_>) -> Result<Option<Bytes>, ApiError> {
    arriving(part.chunk()).await
}

async fn arriving<T>(read: impl Future<Output = Result<T, MultipartError>>) -> Result<T, ApiError> {
    match timeout(IDLE_TIMEOUT, read).await {
        Ok(read) => read.map_err(|error| unreadable(error.status())),
        Err(_) => Err(ApiError::of(StatusCode::REQUEST_TIMEOUT)),
    }
}

/// A body that breaks off or is framed wrongly is the sender's, whatever the reader of parts calls it.
fn unreadable(status: StatusCode) -> ApiError {
    ApiError::of(if status.is_server_error() {
        StatusCode::BAD_REQUEST
    } else {
        status
    })
}

fn read_attribution(raw: &str) -> Result<Attribution, ApiError> {
    serde_json::from_str(raw).map_err(|_| ApiError::of(StatusCode::BAD_REQUEST))
}

fn field_name(name: &str) -> Option<FieldName> {
    Some(match name {
        "name" => FieldName::Name,
        "email" => FieldName::Email,
        "phone" => FieldName::Phone,
        "position" => FieldName::Position,
        "experience" => FieldName::Experience,
        "coverLetter" => FieldName::CoverLetter,
        _ => return None,
    })
}
