//! What is wrong with an issue that its readers would see: pictures that are missing, links that lead nowhere, footnotes without a
//! text, and placeholders that nobody fills in.

use std::{fmt, sync::LazyLock};

use pulldown_cmark::{Event, Tag, TagEnd};
use regex_lite::Regex;
use url::Url;

use super::{
    article::Article,
    links::{Picture, SiteLinks},
};

/// How tools for newsletters write where a reader's name is to stand: `{{ name }}`, `{% if %}`, `<%= name %>`, `*|NAME|*` (which
/// Markdown reads as emphasis), `${name}`, `{$name}`, `%NAME%`, `%%Name%%` and `%recipient.name%`, `[[name]]`, `[First Name]` and `{name}`.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"\{\{[^{}\n]*[^{}\s][^{}\n]*\}\}|\{%[^\n]+?%\}|<%[^\n]+?%>|\*?\|[A-Z][A-Z0-9_:]+\|\*?|\$\{\s*[A-Za-z][^}\n]*\}|\{[$!][A-Za-z][^}\n]*\}|\B%[A-Za-z_][A-Za-z_.]+%\B|\[\[[A-Za-z][A-Za-z0-9_. ]*\]\]|(?i:\[(?:(?:first|last|full|f|l)[ _-]?)?name(?:,[^\]\n]*)?\])|(?:^|[\s(,"“'‘])\{[A-Za-z][A-Za-z0-9_.]+\}"#,
    )
});
/// A footnote that was not found, and stands there as it is written.
static FOOTNOTE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[\^[^\]\s]+\]"));

/// Something that is wrong, in the words of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// In which line of the file.
    pub line: Option<usize>,
    /// What.
    pub what: String,
}

/// What is to be asked for, to see whether it is there.
pub struct Target {
    /// The address.
    pub url: Url,
    /// What is wrong if it is not.
    pub fault: Fault,
}

/// What a look at the words alone finds.
#[derive(Default)]
pub struct Findings {
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// What is to be asked for.
    pub targets: Vec<Target>,
}

/// Looks at an article: Markdown that begins in this line of its file.
///
/// # Errors
///
/// If it has a picture that lies with somebody else.
pub fn look(
    markdown: &str,
    first_line: usize,
    article: &Article<'_>,
    links: &SiteLinks,
) -> anyhow::Result<Findings> {
    let (mut found, mut is_code) = (Findings::default(), false);
    for (event, range) in article.pieces() {
        let line = Some(first_line + markdown[..range.start].matches('\n').count());
        let fault = |what| Fault { line, what };
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Text(_) if !is_code => {
                let words = &markdown[range.clone()];
                found.faults.extend(placeholders(words).map(fault));
                let unknown = FOOTNOTE.find_iter(words);
                let unknown = unknown.filter(|at| !words[..at.start()].ends_with('\\'));
                let unknown = unknown.map(|at| format!("the footnote {} has no text", at.as_str()));
                found.faults.extend(unknown.map(fault));
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                found.faults.extend(placeholders(dest_url).map(fault));
                let nowhere = |why: &str| fault(format!("the link {dest_url} leads nowhere: {why}"));
                match (dest_url.strip_prefix('#'), links.target(dest_url)) {
                    (Some(heading), _) if article.has_heading(heading) => {}
                    (Some(_), _) => found.faults.push(nowhere("there is no such heading")),
                    (None, Ok(url)) if url.scheme().starts_with("http") => found.targets.push(Target {
                        fault: fault(format!("the link {url} leads nowhere")),
                        url,
                    }),
                    (None, Ok(_)) => {}
                    (None, Err(why)) => found.faults.push(nowhere(why)),
                }
            }
            Event::Start(Tag::Image { dest_url, title, .. }) => {
                found.faults.extend(placeholders(title).map(fault));
                match links.picture(dest_url)? {
                    Picture::At(url) => found.targets.push(Target {
                        fault: fault(format!("the picture {url} is missing")),
                        url,
                    }),
                    Picture::Words => {}
                    Picture::Missing => found
                        .faults
                        .push(fault(format!("the picture {dest_url} is missing"))),
                }
            }
            _ => {}
        }
    }
    Ok(found)
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

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours")
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(markdown: &str) -> anyhow::Result<Vec<String>> {
        let links = SiteLinks::new(Url::parse("https://oculant.example")?, "x");
        let found = look(markdown, 1, &Article::parse(markdown), &links)?;
        Ok(found.faults.iter().map(ToString::to_string).collect())
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
                "## One\n\n[a](#two)\n",
                "line 3: the link #two leads nowhere: there is no such heading",
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
            "## One thing\n\n[up](#one-thing)[^n] and [notes](#references)\n\n[^n]: A note.\n",
            "[a][b], [c][], <https://example.org/>, <me@example.org>\n\n[b]: /contact\n[c]: tel:+911234567\n",
            "| a | b |\n|---|---|\n|*a*|b|*c*|\n",
        ] {
            assert_eq!(faults(markdown)?, [""; 0], "{markdown}");
        }
        Ok(())
    }
}
