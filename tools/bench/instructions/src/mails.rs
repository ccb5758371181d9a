//! Mails, as the notifier writes them.

use anyhow::Context;
use clap::{Args, Parser};
use notifier::{Mail, MailContext, Settings, samples};
use tokio::runtime::Builder;

use crate::window::counted_window;

/// The mail that is written: what sales get for a contact form.
const SAMPLE: &str = "sales-lead";
const WARM_UP: u32 = 5;

/// Mails to write.
#[derive(Args)]
pub struct Mails {
    /// How many
    count: u32,
    /// Settings of the notifier
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

impl Mails {
    /// Writes them, others first to warm up.
    ///
    /// # Errors
    ///
    /// If the settings or a mail are wrong.
    pub fn run(self) -> anyhow::Result<()> {
        let flags = ["instructions".to_owned()].into_iter().chain(self.flags);
        let settings = Settings::try_parse_from(flags).context("the bench gives wrong settings")?;
        let context = MailContext::new(&settings)?;
        write(&context, mails(&context, WARM_UP)?)?;
        let mails = mails(&context, self.count)?;
        counted_window(|| write(&context, mails))
    }
}

/// So many of the same.
fn mails(context: &MailContext, count: u32) -> anyhow::Result<Vec<Mail>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let one = || {
        let samples = runtime.block_on(samples::mails(context))?;
        let found = samples.into_iter().find(|(name, _)| *name == SAMPLE);
        let (_, mail) = found.with_context(|| format!("there is no sample {SAMPLE}"))?;
        Ok(mail)
    };
    (0..count).map(|_| one()).collect()
}

/// As they go over the wire.
fn write(context: &MailContext, mails: Vec<Mail>) -> anyhow::Result<()> {
    for mail in mails {
        let message = mail.into_message(context, samples::TIME)?;
        std::hint::black_box(message.formatted());
    }
    Ok(())
}
