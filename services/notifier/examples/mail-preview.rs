//! Writes every sample mail into a folder, as HTML and as text, to be looked at: `cargo xtask generate`.

use std::{fs, path::Path};

use anyhow::Context;
use clap::Parser;
use notifier::{MailContext, Settings, samples};

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a preview says where it is")]
async fn main() -> anyhow::Result<()> {
    let folder = std::env::args()
        .nth(1)
        .context("Name the folder to write into.")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    let brand = concat!("--brand-file=", env!("CARGO_MANIFEST_DIR"), "/../../brand.json");
    let settings = Settings::try_parse_from([
        "mail-preview",
        brand,
        "--site-url=https://oculant.example",
        "--token-key=a key that signs only what nobody follows",
        "--s3-access-key-id=preview",
        "--s3-secret-access-key=preview",
    ])?;
    let context = MailContext::new(&settings)?;
    for (name, mail) in samples::mails(&context).await? {
        let words = mail.rendered(&context)?;
        fs::write(folder.join(format!("{name}.html")), words.html)?;
        fs::write(
            folder.join(format!("{name}.txt")),
            format!("Subject: {}\n\n{}", words.subject, words.text),
        )?;
    }
    println!("The mails are in {}.", folder.display());
    Ok(())
}
