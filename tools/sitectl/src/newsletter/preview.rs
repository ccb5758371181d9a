//! `sitectl newsletter preview`.

use std::{fs, path::PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde_json::json;
use site_events::event::Audience;
use site_mail::{Brand, Kind, Rendered, Templates, issue_values};

use super::{PostArgs, post};
use crate::output::print_output;

/// Placeholder of a subscriber's token.
const TOKEN: &str = "of-the-subscriber";

#[derive(Args, Debug)]
pub struct PreviewArgs {
    #[command(flatten)]
    post: PostArgs,
    /// File that names the company
    #[arg(long, env = "BRAND_FILE", default_value = "brand.json")]
    brand_file: String,
    /// File to write the mail's HTML to
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Shows the mail of an issue as the notifier sends it, with a placeholder in the unsubscribe link.
///
/// # Errors
///
/// If the mail cannot be rendered, or its HTML cannot be written.
pub async fn preview(args: &PreviewArgs) -> anyhow::Result<()> {
    let issue = post::read(&args.post, Audience::Subscribers).await?;
    let site_url = &args.post.site_url;
    let unsubscribe = format!("{site_url}/?newsletter=unsubscribe&token={TOKEN}");
    let brand = Brand::read(&args.brand_file)
        .map_err(|reason| anyhow::anyhow!("The setting BRAND_FILE is wrong: {reason}"))?;
    let templates = Templates::new(&brand, site_url)?;
    let mail = templates.render(Kind::Issue, &issue_values(&issue, &unsubscribe))?;
    let Rendered { subject, text, html } = &mail;
    if let Some(file) = &args.html {
        fs::write(file, html).with_context(|| format!("{} cannot be written", file.display()))?;
    }
    let lines = [
        format!("Name:     {}", issue.name),
        format!("Subject:  {}", subject.trim()),
        format!("Preview:  {}", issue.preview),
        format!("On the web: {}", issue.web.as_deref().unwrap_or("nowhere")),
        format!("Size:     {} bytes of HTML, {} of text\n", html.len(), text.len()),
        text.clone(),
    ];
    let mail = json!({ "subject": subject, "text": text, "html": html });
    print_output(args.json, &json!({ "issue": issue, "mail": mail }), lines)
}
