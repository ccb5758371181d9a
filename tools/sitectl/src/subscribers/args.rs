//! Arguments of the export: the key of links.

use clap::Args;
use visitor::{links, links::LinkBuilder, token::TokenKey};

/// What the unsubscribe links in an export are made with.
#[derive(Args, Debug)]
pub struct LinkArgs {
    /// Key of the tokens in mailed links, at least 32 bytes, the same in every service; with it the export tells how
    /// each can unsubscribe
    #[arg(long, env = "TOKEN_KEY", hide_env_values = true, value_parser = TokenKey::new, requires = "site_url")]
    token_key: Option<TokenKey>,
    /// Address of the site, for these links
    #[arg(long, env = "SITE_URL", value_parser = links::site_url)]
    site_url: Option<String>,
}

impl LinkArgs {
    pub fn maker(&self) -> Option<LinkBuilder> {
        let token_key = self.token_key.as_ref()?;
        Some(LinkBuilder::new(self.site_url.as_deref()?, token_key))
    }
}
