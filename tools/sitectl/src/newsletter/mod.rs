//! `sitectl newsletter`: an issue of the newsletter, looked at, sent, watched, paused and ended.

mod article;
mod control;
mod faults;
mod html;
mod links;
mod plain_text;
mod post;
mod preview;
mod reach;
mod reachability;
mod refused;
mod send;
mod status;
mod test_mail;

use std::{borrow::Cow, path::PathBuf};

use clap::{Args, Subcommand};
use site_events::event::Audience;
use visitor::{EmailAddress, PersonKeySettings, links as visitor_links};

use self::post::Post;
use crate::common_args::{CommonArgs, ModeArgs};

/// What `--yes` is for in `send`.
const SEND_YES: &str =
    "Sends it without asking; without this it asks at a terminal, and elsewhere it is a dry run";

/// Which of the commands, and what it needs to know.
#[derive(Args, Debug)]
pub struct NewsletterArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Shows the mail that subscribers would get; sends nothing
    Preview {
        #[command(flatten)]
        post: PostArgs,
        #[command(flatten)]
        preview: preview::PreviewArgs,
        /// Answers in JSON
        #[arg(long)]
        json: bool,
    },
    /// Sends an issue to addresses of your own, to look at it
    Test {
        #[command(flatten)]
        post: PostArgs,
        /// Where it goes; may be given more than once
        #[arg(long, value_name = "E-MAIL", required = true, value_parser = EmailAddress::parse)]
        to: Vec<EmailAddress>,
        #[command(flatten)]
        key: PersonKeySettings,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Sends an issue to all who confirmed their subscription, once it was said how many those are; asks for it at a terminal
    #[command(mut_arg("yes", |yes| yes.help(SEND_YES)))]
    Send {
        #[command(flatten)]
        post: PostArgs,
        /// Sends an issue that was sent before once more to those whose mail the mail server refused, and to nobody else
        #[arg(long)]
        refused: bool,
        #[command(flatten)]
        mode: ModeArgs,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// How far an issue is, or all of them
    Status {
        /// The name
        name: Option<String>,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Has no mail of an issue begun, until it is resumed
    Pause {
        /// The name
        name: String,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Lets an issue that is paused go on
    Resume {
        /// The name
        name: String,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Ends an issue: who has no mail of it yet gets none
    Cancel {
        /// The name
        name: String,
        #[command(flatten)]
        mode: ModeArgs,
        #[command(flatten)]
        common: CommonArgs,
    },
}

/// The issue, and how its links are written.
#[derive(Args, Debug)]
struct PostArgs {
    /// A post of the blog, or another Markdown file
    #[arg(value_name = "FILE")]
    post: PathBuf,
    /// What the issue is called; the file's name by default. No two that are sent have the same
    #[arg(long)]
    name: Option<String>,
    /// Address of the site, for its links and pictures
    #[arg(long, env = "SITE_URL", default_value = "http://localhost:8080", value_parser = visitor_links::site_url)]
    site_url: String,
    /// Goes on although a picture is missing, a link leads nowhere, or a placeholder is left
    #[arg(long)]
    force: bool,
}

impl PostArgs {
    /// What the issue is called.
    fn name(&self) -> Cow<'_, str> {
        match (&self.name, self.post.file_stem()) {
            (Some(name), _) => name.into(),
            (None, Some(stem)) => stem.to_string_lossy(),
            (None, None) => "".into(),
        }
    }

    async fn read(&self, audience: Audience) -> anyhow::Result<Post> {
        let post = Post::read(&self.post, self.name.as_deref(), &self.site_url, audience)?;
        post.look(&self.post, self.force).await
    }
}

/// Does what was asked for.
///
/// # Errors
///
/// If the issue cannot be read or is not known, the broker does not answer, or it was not said to go ahead.
pub async fn run(args: &NewsletterArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::Preview { post, preview, json } => {
            preview.run(&post.read(Audience::Subscribers).await?, &post.site_url, *json)
        }
        Command::Test {
            post,
            to,
            key,
            common,
        } => test_mail::send_test(post.read(Audience::Test).await?, to, &key.person_key, common).await,
        Command::Send {
            post,
            refused: true,
            mode,
            common,
        } => refused::repeat(&post.name(), mode.mode(), common).await,
        Command::Send {
            post, mode, common, ..
        } => send::send(post.read(Audience::Subscribers).await?, mode.mode(), common).await,
        Command::Status { name, common } => status::status(name.as_deref(), common).await,
        Command::Pause { name, common } => control::pause(name, common).await,
        Command::Resume { name, common } => control::resume(name, common).await,
        Command::Cancel { name, mode, common } => control::cancel(name, mode.mode(), common).await,
    }
}
