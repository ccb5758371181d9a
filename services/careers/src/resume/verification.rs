//! The look into a résumé, off the threads that serve, and one at a time: so many as come at once cost the memory of one.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use tokio::{
    sync::Mutex,
    task::{JoinError, spawn_blocking},
};

use super::{Look, ResumeError, doc, docx, kind::ResumeKind, pdf};

/// The place where résumés wait for their turn.
#[derive(Default)]
pub struct Verification {
    /// The file that is looked at. Kept: threads that take turns would each keep as much.
    content: Arc<Mutex<Vec<u8>>>,
}

impl Verification {
    /// Waits for its turn and looks whether the file is of this kind.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn verify(&self, kind: ResumeKind, file: &Path) -> io::Result<Look> {
        // Owned by the work: a visitor who goes away ends the waiting, and the turn only with it.
        let mut content = Arc::clone(&self.content).lock_owned().await;
        let file = file.to_owned();
        let work = spawn_blocking(move || {
            content.clear();
            File::open(file)?.read_to_end(&mut content)?;
            Ok(look(kind, &content))
        });
        work.await.unwrap_or_else(|error| refused(kind, error))
    }
}

/// A file that a parser fails over is the visitor's, not our outage.
fn refused(kind: ResumeKind, error: JoinError) -> io::Result<Look> {
    if !error.is_panic() {
        return Err(io::Error::other(error));
    }
    tracing::error!("a résumé was refused: its parser panicked");
    Ok(Err(ResumeError::Content(kind)))
}

/// Looks whether this is of this kind.
///
/// # Errors
///
/// If it is anything else, is protected, or would take more to look at than a résumé.
pub(super) fn look(kind: ResumeKind, content: &[u8]) -> Look {
    match kind {
        ResumeKind::Pdf => pdf::look(content),
        ResumeKind::Doc => doc::look(content),
        ResumeKind::Docx => docx::look(content),
    }
}
