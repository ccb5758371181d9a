//! `sitectl newsletter preview`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;
use mail_templates::{Brand, Kind, Rendered, Templates, issue_values};
use serde_json::json;

use super::post::Post;
use crate::output::print_output;

/// Stands where each subscriber has their own token.
const TOKEN: &str = "of-the-subscriber";

/// What the mail speaks for, and where it is written.
#[derive(Args, Debug)]
pub struct PreviewArgs {
    /// File of the company that the mails speak for
    #[arg(long, env = "BRAND_FILE", default_value = "brand.json")]
    brand_file: String,
    /// Writes the mail's HTML into this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Writes the mail's plain text into this file
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
}

impl PreviewArgs {
    /// Shows the mail of an issue as the notifier would send it, but for the link by which a subscriber leaves.
    ///
    /// # Errors
    ///
    /// If it cannot be rendered, or a file for it cannot be written.
    pub fn run(&self, post: &Post, site_url: &str, json: bool) -> anyhow::Result<()> {
        let issue = &post.issue;
        let unsubscribe = format!("{site_url}/?newsletter=unsubscribe&token={TOKEN}");
        let brand = Brand::read(&self.brand_file)
            .map_err(|reason| anyhow::anyhow!("The setting BRAND_FILE is wrong: {reason}"))?;
        let templates = Templates::new(&brand, site_url)?;
        let mail = templates.render(Kind::Issue, &issue_values(issue, &unsubscribe))?;
        for (file, content) in [(&self.html, &mail.html), (&self.text, &mail.text)] {
            if let Some(file) = file {
                write(file, content)?;
            }
        }
        let Rendered { subject, text, html } = &mail;
        let document = json!({
            "issue": issue, "remarks": post.remarks, "mail": { "subject": subject, "text": text, "html": html },
        });
        let mut lines = vec![
            format!("Name:     {}", issue.name),
            format!("Subject:  {}", subject.trim()),
            format!("Preview:  {}", issue.preview),
            format!("On the web: {}", issue.web.as_deref().unwrap_or("nowhere")),
            format!("Size:     {} bytes of HTML, {} of text", html.len(), text.len()),
        ];
        lines.extend(post.remarks.iter().cloned());
        lines.extend([String::new(), text.clone()]);
        print_output(json, &document, lines)
    }
}

fn write(file: &Path, content: &str) -> anyhow::Result<()> {
    fs::write(file, content).with_context(|| format!("{} cannot be written", file.display()))
}
