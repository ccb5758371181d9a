//! `sitectl subscribers`: the newsletter's subscribers, to be taken out, brought in, or given another chance.

mod export;
mod import;
mod lift;
mod lines;
mod table;

use std::path::PathBuf;

use ::subscribers::{State, Subscriber};
use clap::{Args, Subcommand, ValueEnum};
use visitor::{PersonKey, links, links::LinkBuilder, token::TokenKey};

use crate::common_args::CommonArgs;

/// Which of the commands, and what it needs to know.
#[derive(Args)]
pub struct SubscribersArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes all subscribers to stdout, as CSV
    Export {
        /// Only those in this state; may be given more than once
        #[arg(long, value_enum)]
        state: Vec<StateName>,
        #[command(flatten)]
        links: LinkArgs,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Brings in who gave their consent elsewhere, and who left elsewhere; nobody gets a mail by it
    Import {
        /// CSV with at least the columns email, confirmed (RFC 3339) and source; or, for those whose state is
        /// unsubscribed, email and state, and ended (RFC 3339) where it is known; - reads stdin
        #[arg(value_name = "FILE")]
        from: PathBuf,
        /// Does it; without this it is a dry run
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        key: PersonKeyArgs,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Lets mails go again to an address that came back as not existing
    Lift {
        /// The subscriber's e-mail address
        #[arg(value_name = "E-MAIL")]
        email: String,
        #[command(flatten)]
        key: PersonKeyArgs,
        #[command(flatten)]
        common: CommonArgs,
    },
}

/// What the unsubscribe links in an export are made with.
#[derive(Args)]
struct LinkArgs {
    /// Key of the tokens in mailed links, at least 32 bytes, the same in every service; with it the export tells how
    /// each can unsubscribe
    #[arg(long, env = "TOKEN_KEY", hide_env_values = true, value_parser = TokenKey::new, requires = "site_url")]
    token_key: Option<TokenKey>,
    /// Address of the site, for these links
    #[arg(long, env = "SITE_URL", value_parser = links::site_url)]
    site_url: Option<String>,
}

/// What finds a person's record.
#[derive(Args)]
struct PersonKeyArgs {
    /// Key of the person ids, at least 32 bytes, the same in every service
    #[arg(long, env = "PERSON_KEY", hide_env_values = true, value_parser = PersonKey::new)]
    person_key: PersonKey,
}

impl LinkArgs {
    fn maker(&self) -> Option<LinkBuilder> {
        let token_key = self.token_key.as_ref()?;
        Some(LinkBuilder::new(self.site_url.as_deref()?, token_key))
    }
}

/// Does what was asked for.
pub async fn run(args: &SubscribersArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::Export { state, links, common } => {
            export::export(state, links.maker().as_ref(), common).await
        }
        Command::Import {
            from,
            yes,
            key,
            common,
        } => {
            let mode = if *yes {
                import::Mode::Apply
            } else {
                import::Mode::DryRun
            };
            import::import(from, mode, key, common).await
        }
        Command::Lift { email, key, common } => lift::lift(email, key, common).await,
    }
}

/// Where a subscription stands, by its name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateName {
    Pending,
    Confirmed,
    Unsubscribed,
    Suppressed,
}

impl StateName {
    fn of(subscriber: &Subscriber) -> Self {
        match subscriber.state {
            State::Pending { .. } => Self::Pending,
            State::Confirmed { .. } => Self::Confirmed,
            State::Unsubscribed { .. } => Self::Unsubscribed,
            State::Suppressed { .. } => Self::Suppressed,
        }
    }

    fn named(name: &str) -> Option<Self> {
        let all = Self::value_variants().iter();
        all.copied().find(|state_name| state_name.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Unsubscribed => "unsubscribed",
            Self::Suppressed => "suppressed",
        }
    }
}
