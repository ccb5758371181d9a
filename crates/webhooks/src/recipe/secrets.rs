//! Secrets of recipes, one per file. They are read for every request, so a changed secret needs no restart.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// Source of the secrets that recipes name.
#[derive(Debug, Clone)]
pub struct Secrets {
    source: Source,
    /// Secrets read so far, to hide them in previews.
    read: Arc<Mutex<BTreeMap<String, String>>>,
}

#[derive(Debug, Clone)]
enum Source {
    Folder(Option<PathBuf>),
    /// Placeholders with the secrets' names.
    Names,
}

impl Secrets {
    /// Reads each secret from its own file in this folder. Without a folder, every look-up fails.
    pub fn in_folder(folder: Option<PathBuf>) -> Self {
        Self::of(Source::Folder(folder))
    }

    /// Returns placeholders instead of secrets, for people who may see requests but no secrets.
    pub fn hidden() -> Self {
        Self::of(Source::Names)
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            read: Arc::default(),
        }
    }

    /// Reads the secret of this name.
    ///
    /// # Errors
    ///
    /// The reason why the secret cannot be read.
    pub fn get(&self, name: &str) -> Result<String, String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.starts_with('.') || !name.chars().all(is_name) {
            return Err(format!(
                "a secret is named by letters, digits, hyphens and dots, and not {name:?}"
            ));
        }
        let folder = match &self.source {
            Source::Names => return Ok(placeholder(name)),
            Source::Folder(None) => {
                return Err(format!(
                    "the secret {name} is nowhere: the setting WEBHOOKS_SECRETS_DIR names no folder"
                ));
            }
            Source::Folder(Some(folder)) => folder,
        };
        let content = fs::read_to_string(folder.join(name));
        let content = content
            .map_err(|error| format!("the secret {name} cannot be read in WEBHOOKS_SECRETS_DIR: {error}"))?;
        let secret = content.trim_end_matches(['\r', '\n']).to_owned();
        if secret.is_empty() {
            return Err(format!("the secret {name} is empty"));
        }
        self.note(name, &secret);
        Ok(secret)
    }

    /// Adds a secret for [`Self::hide`] that does not come from a file.
    pub fn note(&self, name: &str, secret: &str) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(name.to_owned(), secret.to_owned());
    }

    /// Replaces secrets in a text by placeholders with their names.
    pub fn hide(&self, text: &str) -> String {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let hide =
            |text: String, (name, secret): (&String, &String)| text.replace(secret, &placeholder(name));
        read.iter().fold(text.to_owned(), hide)
    }
}

fn placeholder(name: &str) -> String {
    format!("[secret {name}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_reread_and_stays_in_its_folder() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("token"), "first\n")?;
        let secrets = Secrets::in_folder(Some(folder.path().to_owned()));
        assert_eq!(secrets.get("token").as_deref(), Ok("first"));
        fs::write(folder.path().join("token"), "second")?;
        assert_eq!(secrets.get("token").as_deref(), Ok("second"));
        assert_eq!(secrets.hide("Bearer second"), "Bearer [secret token]");
        for name in ["../token", "a/b", "", "..", ".hidden"] {
            assert!(secrets.get(name).is_err(), "{name}");
        }
        fs::write(folder.path().join("empty"), "\n")?;
        assert_eq!(
            secrets.get("empty").err().as_deref(),
            Some("the secret empty is empty")
        );
        Ok(())
    }

    #[test]
    fn a_hidden_secret_is_shown_by_name() {
        assert_eq!(Secrets::hidden().get("token").as_deref(), Ok("[secret token]"));
        let nowhere = Secrets::in_folder(None).get("token").err().unwrap_or_default();
        assert!(nowhere.contains("WEBHOOKS_SECRETS_DIR"), "{nowhere}");
    }
}
