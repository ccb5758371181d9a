//! A configuration that follows the files that it is made of.

use std::sync::{Arc, Mutex, PoisonError};

use super::pem::PemFile;

/// A TLS configuration, made anew when a file that it is made of has changed.
pub struct Reloaded<C> {
    make: fn(&[PemFile]) -> anyhow::Result<C>,
    latest: Mutex<(Vec<PemFile>, Arc<C>)>,
}

impl<C> Reloaded<C> {
    /// Of these files, as they are now.
    ///
    /// # Errors
    ///
    /// If nothing can be made of them.
    pub fn new(files: Vec<PemFile>, make: fn(&[PemFile]) -> anyhow::Result<C>) -> anyhow::Result<Self> {
        let config = Arc::new(make(&files)?);
        Ok(Self {
            make,
            latest: Mutex::new((files, config)),
        })
    }

    /// Of the files as they are now; where these cannot be used, as they were before.
    pub fn latest(&self) -> Arc<C> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let (files, config) = &mut *latest;
        let kept = |error: anyhow::Error| {
            tracing::warn!(
                error = %error,
                "renewed certificates cannot be used; those before are kept"
            );
        };
        match files
            .iter()
            .map(PemFile::read_again)
            .collect::<Result<Vec<_>, _>>()
        {
            Ok(found) if found == *files => {}
            Ok(found) => {
                match (self.make)(&found) {
                    Ok(made) => {
                        *config = Arc::new(made);
                        tracing::info!("certificates were renewed");
                    }
                    Err(error) => kept(error),
                }
                *files = found;
            }
            Err(error) => kept(error),
        }
        Arc::clone(config)
    }
}
