//! What is wrong with an issue that its readers would see: pictures that are missing, links that lead nowhere, footnotes without a
//! text, and placeholders that nobody fills in.

use std::{sync::LazyLock, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http::{Request, StatusCode, header};
use http_body_util::Empty;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::{client::legacy, rt::TokioExecutor};
use regex_lite::Regex;
use site_service::tls::public_client_config;
use tokio::time::{Instant, timeout_at};
use url::Url;

/// How tools for newsletters write where a reader's name is to stand: `{{ name }}`, `{% if %}`, `<%= name %>`, `*|NAME|*` (which
/// Markdown reads as emphasis), `${name}`, `{$name}`, `%NAME%`, `%%Name%%` and `%recipient.name%`, `[[name]]`, `[First Name]` and `{name}`.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"\{\{[^{}\n]*[^{}\s][^{}\n]*\}\}|\{%[^\n]+?%\}|<%[^\n]+?%>|\*?\|[A-Z][A-Z0-9_:]+\|\*?|\$\{\s*[A-Za-z][^}\n]*\}|\{[$!][A-Za-z][^}\n]*\}|\B%[A-Za-z_][A-Za-z_.]+%\B|\[\[[A-Za-z][A-Za-z0-9_. ]*\]\]|(?i:\[(?:(?:first|last|full|f|l)[ _-]?)?name(?:,[^\]\n]*)?\])|(?:^|[\s(,"“'‘])\{[A-Za-z][A-Za-z0-9_.]+\}"#,
    )
});
/// A footnote that was not found, and stands there as it is written.
static FOOTNOTE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[\^[^\]\s]+\]"));

/// How long all of them are asked.
const DEADLINE: Duration = Duration::from_secs(15);
/// How many are asked at once.
const AT_ONCE: usize = 8;
/// What some sites answer no request without.
const AGENT: &str = "Mozilla/5.0 (compatible; sitectl)";

/// What is wrong, and what is to be asked for. Each is a sentence that begins with its line.
#[derive(Debug, Default)]
pub struct Findings {
    /// What is wrong.
    pub faults: Vec<String>,
    /// Addresses, and what is wrong where nothing is there.
    pub targets: Vec<(Url, String)>,
    /// The line of the file that is looked at.
    pub line: Option<usize>,
}

impl Findings {
    /// Notes what is wrong in this line.
    pub fn faults(&mut self, faults: impl IntoIterator<Item = String>) {
        let place = self.place();
        let faults = faults.into_iter().map(|what| format!("{place}{what}"));
        self.faults.extend(faults);
    }

    /// Notes an address to ask for, and what is wrong where nothing is there.
    pub fn ask_for(&mut self, url: &Url, fault: String) {
        self.targets
            .push((url.clone(), format!("{}{fault}", self.place())));
    }

    /// Asks for each address; what is not there is wrong. Gives those of which nothing was learned: whoever writes an issue may be where
    /// they are not reached.
    ///
    /// # Errors
    ///
    /// If TLS cannot be set up.
    pub async fn ask(&mut self) -> anyhow::Result<Vec<Url>> {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(public_client_config(None)?)
            .https_or_http()
            .enable_http1()
            .build();
        let client = legacy::Client::builder(TokioExecutor::new()).build(connector);
        let deadline = Instant::now() + DEADLINE;
        let asked = stream::iter(self.targets.drain(..)).map(async |(url, fault)| {
            let request = Request::get(url.as_str()).header(header::USER_AGENT, AGENT);
            let request = request.body(Empty::<&[u8]>::new())?;
            let answer = timeout_at(deadline, client.request(request)).await;
            let status = answer.ok().and_then(Result::ok).map(|answer| answer.status());
            anyhow::Ok((url, fault, status))
        });
        let mut unknown = Vec::new();
        let mut asked = asked.buffered(AT_ONCE);
        while let Some((url, fault, status)) = asked.try_next().await? {
            match status {
                Some(status @ (StatusCode::NOT_FOUND | StatusCode::GONE)) => {
                    self.faults.push(format!("{fault}: it answers {status}"));
                }
                Some(status) if status.is_success() || status.is_redirection() => {}
                _ => unknown.push(url),
            }
        }
        Ok(unknown)
    }

    fn place(&self) -> String {
        self.line
            .map_or_else(String::new, |line| format!("line {line}: "))
    }
}

/// The placeholders in these words, each in a sentence.
pub fn placeholders(words: &str) -> impl Iterator<Item = String> {
    PLACEHOLDER.find_iter(words).map(|found| {
        let found = found
            .as_str()
            .trim_start_matches(|c: char| c.is_whitespace() || "(,\"“'‘".contains(c));
        let emphasis = if found.starts_with('|') { "*" } else { "" };
        format!("nobody fills in the placeholder {emphasis}{found}{emphasis}")
    })
}

/// The footnotes in these words that have no text, as they are written in the file.
pub fn unknown_footnotes(words: &str) -> impl Iterator<Item = String> {
    let found = FOOTNOTE.find_iter(words);
    let found = found.filter(|found| !words[..found.start()].ends_with('\\'));
    found.map(|found| format!("the footnote {} has no text", found.as_str()))
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::newsletter::{article, links::SiteLinks};

    fn faults(markdown: &str) -> anyhow::Result<Vec<String>> {
        let links = SiteLinks::new(Url::parse("https://oculant.example")?, "x", None)?;
        let mut found = Findings::default();
        article::html(markdown, 1, &links, &mut found)?;
        Ok(found.faults)
    }

    #[test]
    fn what_readers_would_stumble_over_is_named_with_its_line() -> anyhow::Result<()> {
        for (markdown, named) in [
            (
                "Hello\n{{ name }}!\n",
                "line 2: nobody fills in the placeholder {{ name }}",
            ),
            ("Hello {{first_name}}\n", "{{first_name}}"),
            ("{% if name %}Hello\n", "{% if name %}"),
            ("Hello *|FNAME|*,\n", "*|FNAME|*"),
            ("Hello ${name}\n", "${name}"),
            ("Hello <%= name %>\n", "<%= name %>"),
            ("Hello {first_name},\n", "{first_name}"),
            ("Hello %FIRSTNAME%,\n", "%FIRSTNAME%"),
            ("Hello %recipient.name%,\n", "%recipient.name%"),
            ("Hello %%FirstName%%,\n", "%FirstName%"),
            ("Hello {$name}, ${ 1 }\n", "{$name}"),
            ("Hello ${ name }\n", "${ name }"),
            ("Hello [[name]]\n", "[[name]]"),
            ("Hello [First Name],\n", "[First Name]"),
            ("Hello [firstname,fallback=there]\n", "[firstname,fallback=there]"),
            ("Hello {{ имя }}\n", "{{ имя }}"),
            ("Hello,{name}!\n", "placeholder {name}"),
            ("[a](mailto:)\n", "it has no address"),
            ("[a](https://example.org/?to={{email}})\n", "{{email}}"),
            ("![Of {{ name }}](/x.png)\n", "{{ name }}"),
            ("One[^1].\n", "line 1: the footnote [^1] has no text"),
            ("One[^a]: two.\n\n[^b]: y\n", "the footnote [^a] has no text"),
            ("[a]()\n", "it has no address"),
            (
                "## One\n\n[a](#one)\n",
                "line 3: the link #one leads nowhere: mail programs do not follow it",
            ),
            ("[a](javascript:x)\n", "no mail program follows it"),
        ] {
            let found = faults(markdown)?;
            assert_eq!(found.len(), 1, "{markdown}: {found:?}");
            assert!(found[0].contains(named), "{markdown}: {found:?}");
        }
        Ok(())
    }

    #[test]
    fn what_is_meant_as_it_stands_is_no_fault() -> anyhow::Result<()> {
        for markdown in [
            "Helm writes `{{ .Values.name }}`.\n\n```\n{{ name }} [^1] ${HOME}\n```\n\n    {% if %}\n",
            "One[^1], again[^1].\n\n[^1]: With a [link](https://example.org/).\n\n    And a second paragraph.\n",
            "A quote [sic] and [1] and [^] and \\[^9].\n",
            "100 %% and 5 %% of {x}, {a, b} and {}; {{}} and ${100}.\n",
            "From 5% to 10%, 5%/10%, 12%net%; /blog/{id}, x^{ab} and [[PDF]](/contact).\n",
            "As \\[a](b c) and a list[0] (of 3), [![a](/x.png)](/contact), [b](</a b>).\n",
            "A list[names], [name](/contact), [their name] and [[1]]; `[[name]]` and C:\\\\%20%20x.\n",
            "See [all](https://example.org/%EF%BB%BF%E2%80%99).\n",
            "## One thing\n\nUp[^n]\n\n[^n]: A note.\n",
            "[a][b], [c][], <https://example.org/>, <me@example.org>\n\n[b]: /contact\n[c]: tel:+911234567\n",
            "| a | b |\n|---|---|\n|*a*|b|*c*|\n",
        ] {
            assert_eq!(faults(markdown)?, [""; 0], "{markdown}");
        }
        Ok(())
    }
}
