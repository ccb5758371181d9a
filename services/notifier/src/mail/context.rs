//! The mail context: brand, addresses, links, templates and keys.

use std::time::Duration;

use lettre::message::Mailbox;
use resumes::{ResumeStore, ResumeStoreError};
use site_events::event::StoredResume;
use site_mail::dkim::Signer;
use site_mail::{Brand, Templates, is_example};
use visitor::links::LinkBuilder;

use crate::Settings;

/// Maximum lifetime of an S3 signature. The privacy policy states this value.
const RESUME_LINK_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Values and keys for rendering mails.
pub struct MailContext {
    pub(crate) brand: Brand,
    pub(crate) from: Mailbox,
    pub(crate) sales: Mailbox,
    pub(crate) recruiters: Mailbox,
    pub(crate) operator: Mailbox,
    pub(crate) resumes: ResumeStore,
    pub(crate) link_lifetime: Duration,
    pub(crate) templates: Templates,
    pub(crate) signer: Option<Signer>,
    pub(crate) links: LinkBuilder,
}

impl MailContext {
    /// Parses the templates and the DKIM key.
    ///
    /// # Errors
    ///
    /// If a template or the key is invalid; the error names the setting.
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        let brand = &settings.brand;
        let our = |set: &Option<Mailbox>, address: &lettre::Address| {
            set.clone()
                .unwrap_or_else(|| Mailbox::new(Some(brand.name.clone()), address.clone()))
        };
        let (store, addresses) = (&settings.store, &settings.addresses);
        let signer = Signer::new(&settings.dkim)
            .map_err(|reason| anyhow::anyhow!("The setting DKIM_KEY is wrong: {reason}"))?;
        Ok(Self {
            from: our(&addresses.mail_from, &brand.emails.sales),
            sales: our(&addresses.sales_to, &brand.emails.sales),
            operator: our(&addresses.operator_to, &brand.emails.admin),
            recruiters: our(&addresses.recruiters_to, &brand.emails.careers),
            resumes: ResumeStore::for_links(store, settings.s3_public_endpoint.as_deref()),
            link_lifetime: store.link_lifetime(RESUME_LINK_LIFETIME),
            templates: Templates::new(brand, &settings.site_url)?,
            signer,
            links: LinkBuilder::new(&settings.site_url, &settings.token_key),
            brand: brand.clone(),
        })
    }

    /// Checks that none of our addresses is in an example domain, where nobody reads mail.
    ///
    /// # Errors
    ///
    /// If an address is in an example domain; the error names its setting.
    pub fn ensure_real_addresses(&self) -> anyhow::Result<()> {
        let ours = [
            ("SALES_TO", &self.sales),
            ("RECRUITERS_TO", &self.recruiters),
            ("OPERATOR_TO", &self.operator),
            ("MAIL_FROM", &self.from),
        ];
        let examples = ours.into_iter().filter(|(_, mailbox)| is_example(&mailbox.email));
        let examples: Vec<&str> = examples.map(|(name, _)| name).collect();
        anyhow::ensure!(
            examples.is_empty(),
            "Nobody reads mail in domains for examples such as oculant.example: set {}, or, for a demo, \
             ALLOW_EXAMPLE_ADDRESSES=true.",
            examples.join(", ")
        );
        Ok(())
    }

    /// An expiring link to a résumé.
    ///
    /// # Errors
    ///
    /// If the link cannot be signed.
    pub async fn resume_link(&self, resume: &StoredResume) -> Result<String, ResumeStoreError> {
        self.resumes
            .presigned_url(&resume.key, &resume.file_name, self.link_lifetime)
            .await
    }
}
