//! Settings of the client and the secrets.

use std::{io, path::PathBuf};

use clap::Args;
use site_service::tls::{CaFile, public_client_config};

use crate::{PrivateAddresses, Secrets, WebhookClient};

/// Settings that apply to all endpoints.
#[derive(Args, Debug)]
pub struct WebhookSettings {
    /// Lets webhooks go to private addresses and over plain HTTP
    #[arg(long, env = "WEBHOOKS_ALLOW_PRIVATE")]
    webhooks_allow_private: bool,
    /// File (PEM) of additional authorities to trust, for endpoints with certificates of a private authority
    #[arg(long, env = "WEBHOOKS_CA_FILE", value_parser = CaFile::parse)]
    webhooks_ca_file: Option<CaFile>,
    /// Folder with a file for each secret that recipes name
    #[arg(long, env = "WEBHOOKS_SECRETS_DIR")]
    webhooks_secrets_dir: Option<PathBuf>,
}

impl WebhookSettings {
    /// Creates the client of all endpoints.
    ///
    /// # Errors
    ///
    /// If no trusted certificate authority is found.
    pub fn client(&self) -> io::Result<WebhookClient> {
        let private = if self.webhooks_allow_private {
            PrivateAddresses::Allowed
        } else {
            PrivateAddresses::Refused
        };
        let tls = public_client_config(self.webhooks_ca_file.as_ref()).map_err(io::Error::other)?;
        Ok(WebhookClient::new(private, tls))
    }

    /// The secrets that recipes name.
    pub fn secrets(&self) -> Secrets {
        Secrets::in_folder(self.webhooks_secrets_dir.clone())
    }
}
