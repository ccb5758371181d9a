//! Receives the stream of an application: first the résumé, then the commit with the form.

use std::path::Path;

use site_proto::careers::v1::{ApplyRequest, Commit, apply_request::Part};
use tokio_stream::{Stream, StreamExt};
use tonic::Status;

use crate::{
    apply::ApplyError,
    resume::{MAX_BYTES, ResumeError},
    spool::{Spool, Spooled},
};

/// Spools the résumé to `folder`, and returns it with the commit. Without a commit no file remains.
///
/// # Errors
///
/// If the stream breaks or violates the protocol, or the résumé is too large or cannot be spooled.
pub async fn receive(
    folder: &Path,
    mut parts: impl Stream<Item = Result<ApplyRequest, Status>> + Unpin,
) -> Result<(Commit, Option<Spooled>), ApplyError> {
    let mut spool: Option<Spool> = None;
    while let Some(request) = parts.next().await {
        match request.map_err(ApplyError::Stream)?.part {
            Some(Part::ResumeStart(_)) if spool.is_some() => {
                return Err(ApplyError::Resume(ResumeError::Several));
            }
            Some(Part::ResumeStart(start)) => {
                let opened = Spool::open(folder, start.file_name).await;
                spool = Some(opened.map_err(ApplyError::Spool)?);
            }
            Some(Part::ResumeChunk(chunk)) => {
                let spool = spool
                    .as_mut()
                    .ok_or(ApplyError::Protocol("a chunk came before its résumé"))?;
                if spool.size_bytes + chunk.len() as u64 > MAX_BYTES {
                    return Err(ApplyError::TooLarge);
                }
                spool.write(&chunk).await.map_err(ApplyError::Spool)?;
            }
            Some(Part::Commit(commit)) => {
                let resume = match spool {
                    Some(spool) => Some(spool.finish().await.map_err(ApplyError::Spool)?),
                    None => None,
                };
                return Ok((commit, resume));
            }
            None => return Err(ApplyError::Protocol("a message holds one part")),
        }
    }
    Err(ApplyError::Protocol("the stream ended without the commit"))
}
