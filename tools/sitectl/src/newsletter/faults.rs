//! What is wrong with an issue that its readers would see: missing pictures, dead links, footnotes without a text, and placeholders
//! that nobody fills in.

use std::{collections::BTreeMap, future, sync::LazyLock, time::Duration};

use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use regex_lite::Regex;
use tokio::time::timeout;
use url::Url;

use crate::http_client::http_client;

/// How tools for newsletters write where a reader's name is to stand: `{{ name }}`, `{% if %}`, `<%= name %>`, `*|NAME|*` (which
/// Markdown reads as emphasis), `${name}`, `{$name}`, `%NAME%`, `%%Name%%` and `%recipient.name%`, `[[name]]`, `[First Name]` and `{name}`;
/// and a footnote that has no text, which Markdown leaves as it is.
static UNFILLED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"\{\{[^{}\n]*[^{}\s][^{}\n]*\}\}|\{%[^\n]+?%\}|<%[^\n]+?%>|\*?\|[A-Z][A-Z0-9_:]+\|\*?|\$\{\s*[A-Za-z][^}\n]*\}|\{[$!][A-Za-z][^}\n]*\}|\B%[A-Za-z_][A-Za-z_.]+%\B|\[\[[A-Za-z][A-Za-z0-9_. ]*\]\]|(?i:\[(?:(?:first|last|full|f|l)[ _-]?)?name(?:,[^\]\n]*)?\])|(?:^|[\s(,"“'‘])\{[A-Za-z][A-Za-z0-9_.]+\}|\\?\[\^[^\]\s]+\]"#;
    Regex::new(pattern).expect("a pattern of ours")
});
/// How long one address is asked, and how many are at once.
const TIMEOUT: Duration = Duration::from_secs(10);
const AT_ONCE: usize = 16;

/// What is wrong, and what is to be asked for.
#[derive(Debug, Default)]
pub struct Findings {
    pub faults: Vec<String>,
    /// Addresses, and what is wrong where nothing is there.
    asked: BTreeMap<Url, String>,
}

impl Findings {
    /// Notes what nobody fills in of these words, as they stand in the file.
    pub fn look_at(&mut self, written: &str) {
        for found in UNFILLED.find_iter(written) {
            let before = |c: char| c.is_whitespace() || "(,\"“'‘".contains(c);
            let found = found.as_str().trim_start_matches(before);
            if found.starts_with("[^") {
                self.faults.push(format!("the footnote {found} has no text"));
            } else if !found.starts_with('\\') {
                let emphasis = if found.starts_with('|') { "*" } else { "" };
                self.faults.push(format!(
                    "nobody fills in the placeholder {emphasis}{found}{emphasis}"
                ));
            }
        }
    }

    /// Notes an address to ask for, and what is wrong where nothing is there.
    pub fn ask_for(&mut self, url: &Url, fault: String) {
        let mut page = url.clone();
        page.set_fragment(None);
        self.asked.insert(page, fault);
    }

    /// Asks for each address, and gives all faults. One that is not reached, or answers otherwise, is none: whoever writes an issue may
    /// be where it is not reached.
    ///
    /// # Errors
    ///
    /// If TLS cannot be set up.
    pub async fn ask(self) -> anyhow::Result<Vec<String>> {
        let client = http_client()?;
        let answers = stream::iter(self.asked).map(async |(url, fault)| {
            let asked = client.get(url.as_str().parse().ok()?);
            let status = timeout(TIMEOUT, asked).await.ok()?.ok()?.status();
            let is_dead = matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE);
            is_dead.then(|| format!("{fault}: it answers {status}"))
        });
        let dead = answers.buffered(AT_ONCE).filter_map(future::ready);
        let faults = stream::iter(self.faults).chain(dead);
        Ok(faults.collect().await)
    }
}
