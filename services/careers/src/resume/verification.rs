//! Checks of résumés, off the threads that serve and one at a time: many at once take the memory of one.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use tokio::{sync::Mutex, task::spawn_blocking};

use super::{Look, ResumeError, doc, docx, kind::ResumeKind, pdf};

/// The turn to be checked, and the file that is. It is kept: threads that take turns would each keep as much.
#[derive(Default)]
pub struct Verification(Arc<Mutex<Vec<u8>>>);

impl Verification {
    /// Waits for the turn and checks whether the file is of this kind.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn verify(&self, kind: ResumeKind, file: &Path) -> io::Result<Look> {
        // Held by the thread: it works on when the visitor has left.
        let mut content = Arc::clone(&self.0).lock_owned().await;
        let file = file.to_owned();
        let work = spawn_blocking(move || {
            content.clear();
            File::open(file)?.read_to_end(&mut content)?;
            Ok(look(kind, &content))
        });
        // A parser that panics is no outage of ours: the visitor is asked for another file.
        work.await.unwrap_or_else(|_| {
            tracing::error!("a résumé was refused: its parser panicked");
            Ok(Err(ResumeError::Content(kind)))
        })
    }
}

/// Checks whether this is of this kind.
///
/// # Errors
///
/// If it is anything else, has a password, or exceeds the budget of a check.
pub(super) fn look(kind: ResumeKind, content: &[u8]) -> Look {
    match kind {
        ResumeKind::Pdf => pdf::look(content),
        ResumeKind::Doc => doc::look(content),
        ResumeKind::Docx => docx::look(content),
    }
}
