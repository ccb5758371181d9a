//! The look into a résumé, off the threads that serve, and one at a time: so many as come at once cost the memory of one.

use std::{
    fs::File,
    io::{self, Read, Seek},
    path::Path,
    sync::Arc,
};

use tokio::{
    sync::Semaphore,
    task::{JoinError, spawn_blocking},
};

use super::{doc, docx, kind::ResumeKind, other_kinds, pdf, verdict::Verdict};

/// The place where résumés wait for their turn.
pub struct Verification {
    turns: Arc<Semaphore>,
}

impl Verification {
    pub fn new() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(1)),
        }
    }

    /// Waits for its turn and looks whether the file is of this kind.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn verify(&self, kind: ResumeKind, file: &Path) -> io::Result<Verdict> {
        let turns = Arc::clone(&self.turns);
        let turn = turns.acquire_owned().await.map_err(io::Error::other)?;
        let file = file.to_owned();
        let work = spawn_blocking(move || {
            // Owned by the work: a visitor who goes away ends the waiting, and the turn only with it.
            let _turn = turn;
            verify(kind, &mut File::open(file)?)
        });
        work.await.unwrap_or_else(refused)
    }
}

/// A file that a parser fails over is the visitor's, not our outage.
fn refused(error: JoinError) -> io::Result<Verdict> {
    if !error.is_panic() {
        return Err(io::Error::other(error));
    }
    tracing::error!("a résumé was refused: its parser panicked");
    Ok(Verdict::Differs)
}

/// Whether the file's content is of this kind, and of no other at the same time.
pub(super) fn verify(kind: ResumeKind, file: &mut (impl Read + Seek)) -> io::Result<Verdict> {
    let verdict = match kind {
        ResumeKind::Pdf => pdf::verify(file),
        ResumeKind::Doc => doc::verify(file),
        ResumeKind::Docx => docx::verify(file),
    }?;
    if verdict == Verdict::Agrees && other_kinds::has_mark(kind, file)? {
        return Ok(Verdict::Differs);
    }
    Ok(verdict)
}
