//! The stream of an application: its parts in whatever order they come, up to the commit.

use std::time::Instant;

use site_events::Attribution;
use site_proto::careers::v1::{ApplyRequest, FieldName, apply_request::Part};
use tokio_stream::{Stream, StreamExt};
use tonic::Status;

use crate::{
    application::RawForm,
    spool::{Spool, SpoolError, SpoolFolder, Spooled},
    upload_metrics::UploadMetrics,
};

/// The stream's parts up to the commit.
pub struct Committed {
    pub form: RawForm,
    pub resume: Option<Spooled>,
    pub attribution: Option<Attribution>,
    pub idempotency_key: String,
}

/// Why an application was not received.
pub enum ReceiveError {
    /// The stream itself broke.
    Stream(Status),
    /// The stream broke our protocol.
    Protocol(&'static str),
    /// There is more than one résumé.
    SeveralResumes,
    /// The résumé is too large, or could not be spooled.
    Spool(SpoolError),
}

impl From<SpoolError> for ReceiveError {
    fn from(error: SpoolError) -> Self {
        Self::Spool(error)
    }
}

/// Receives an application, its résumé into this folder. What comes without a commit leaves nothing there.
///
/// # Errors
///
/// If the stream breaks, or is none of our protocol, or the résumé is too large or cannot be spooled.
pub async fn receive(
    folder: &SpoolFolder,
    metrics: &UploadMetrics,
    mut parts: impl Stream<Item = Result<ApplyRequest, Status>> + Unpin,
) -> Result<Committed, ReceiveError> {
    let mut form = RawForm::default();
    let mut spool: Option<Spool> = None;
    let mut attribution = None;
    let started = Instant::now();
    while let Some(request) = parts.next().await {
        match request.map_err(ReceiveError::Stream)?.part {
            Some(Part::Field(field)) => {
                let name = FieldName::try_from(field.name).unwrap_or(FieldName::Unspecified);
                form.set(name, field.value);
            }
            Some(Part::Attribution(told)) => attribution = Attribution::of(Some(told)),
            Some(Part::ResumeStart(_)) if spool.is_some() => {
                return Err(ReceiveError::SeveralResumes);
            }
            Some(Part::ResumeStart(start)) => {
                spool = Some(Spool::open(folder, start.file_name).await?);
            }
            Some(Part::ResumeChunk(chunk)) => {
                let spool = spool
                    .as_mut()
                    .ok_or(ReceiveError::Protocol("a chunk came before its résumé"))?;
                spool.write(&chunk).await?;
            }
            Some(Part::Commit(commit)) => {
                let resume = match spool {
                    Some(spool) => Some(spool.finish().await?),
                    None => None,
                };
                if let Some(spooled) = &resume {
                    metrics.record(spooled.size_bytes, started.elapsed());
                }
                return Ok(Committed {
                    form,
                    resume,
                    attribution,
                    idempotency_key: commit.idempotency_key,
                });
            }
            None => return Err(ReceiveError::Protocol("a message holds one part")),
        }
    }
    Err(ReceiveError::Protocol("the stream ended without the commit"))
}
