//! What is wrong with an issue that its readers would see: pictures that are missing, links that lead nowhere, footnotes without a
//! text, and placeholders that nobody fills in.

use std::{fmt, ops::Range};

use pulldown_cmark::{Event, Tag};
use url::Url;

use super::{
    article::{Article, Piece, REFERENCES, without_code},
    links::{Picture, SiteLinks},
};

/// How tools for newsletters write where a reader's name is to stand.
const PLACEHOLDERS: [(&str, &str); 10] = [
    ("{{", "}}"),
    ("{%", "%}"),
    ("{!", "}"),
    ("${", "}"),
    ("*|", "|*"),
    ("<%", "%>"),
    ("%%", "%%"),
    ("[[", "]]"),
    ("{", "}"),
    ("%", "%"),
];
/// The longest of them; what is longer holds the words between two others.
const MAX_PLACEHOLDER_BYTES: usize = 80;

/// What stands in a link, and in words that were meant as one.
const BROKEN_LINKS: [&str; 2] = ["](", "] (http"];

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
    /// In which line of the file.
    pub line: Option<usize>,
    /// The address.
    pub url: Url,
    /// As what.
    pub kind: TargetKind,
    /// Whether it is the site's own.
    pub is_ours: bool,
}

/// As what an address is to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// A page that a link leads to.
    Page,
    /// A picture.
    Picture,
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
    let mut looker = Looker {
        markdown,
        first_line,
        article,
        links,
        found: Findings::default(),
    };
    looker.look_at_links()?;
    let words = without_code(markdown, article);
    looker.look_at_footnotes(&words);
    looker.look_at_broken_links(&words);
    for range in placeholders(&words) {
        let what = filled_in_by_nobody(&words[range.clone()]);
        looker.fault(range.start, what);
    }
    if let Some(post) = links.post() {
        looker.found.targets.push(Target {
            line: None,
            url: post.clone(),
            kind: TargetKind::Page,
            is_ours: true,
        });
    }
    looker.found.faults.sort();
    Ok(looker.found)
}

/// What is wrong with words that stand apart from the article, such as its title: they are shown as they are.
pub fn look_at_words(place: &str, words: &str) -> Vec<Fault> {
    let placeholders = placeholders(words).into_iter();
    let mut found: Vec<String> = placeholders
        .map(|range| filled_in_by_nobody(&words[range]))
        .collect();
    if words.contains("[^") {
        found.push("no footnote can stand there".to_owned());
    }
    let fault = |what| Fault {
        line: None,
        what: format!("{place}: {what}"),
    };
    found.into_iter().map(fault).collect()
}

fn filled_in_by_nobody(placeholder: &str) -> String {
    format!("nobody fills in the placeholder {placeholder}")
}

struct Looker<'a> {
    markdown: &'a str,
    first_line: usize,
    article: &'a Article<'a>,
    links: &'a SiteLinks,
    found: Findings,
}

impl Looker<'_> {
    fn look_at_links(&mut self) -> anyhow::Result<()> {
        for (event, range) in self.article.pieces() {
            match event {
                Event::Start(Tag::Link { dest_url, .. }) => self.look_at_link(dest_url, range.start),
                Event::Start(Tag::Image { dest_url, .. }) => self.look_at_picture(dest_url, range.start)?,
                _ => {}
            }
        }
        for range in &self.article.unresolved {
            let written = &self.markdown[range.clone()];
            self.fault(range.start, format!("the link {written} has no address"));
        }
        Ok(())
    }

    fn look_at_link(&mut self, written: &str, at: usize) {
        let fault = |why: &str| format!("the link {written} leads nowhere: {why}");
        if written.is_empty() {
            self.fault(at, "a link has no address".to_owned());
            return;
        }
        if let Some(heading) = written.strip_prefix('#') {
            let has_references = !self.article.notes.is_empty();
            let is_there = self.article.headings.iter().any(|known| known == heading)
                || has_references && heading == REFERENCES.to_lowercase();
            if !is_there {
                self.fault(at, fault("there is no such heading"));
            }
            return;
        }
        match self.links.target(written) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => self.target(at, url, TargetKind::Page),
            Ok(_) => {}
            Err(why) => self.fault(at, fault(why)),
        }
    }

    fn look_at_picture(&mut self, written: &str, at: usize) -> anyhow::Result<()> {
        match self.links.picture(written)? {
            Picture::At(url) => self.target(at, url, TargetKind::Picture),
            Picture::Words => {}
            Picture::Missing => self.fault(at, format!("the picture {written} is missing")),
        }
        Ok(())
    }

    fn look_at_footnotes(&mut self, words: &str) {
        for (at, _) in words.match_indices("[^") {
            let Some((label, rest)) = words[at + 2..].split_once(']') else {
                continue;
            };
            let before = &words[..at];
            let begins_line = before.trim_end_matches(' ').ends_with('\n') || before.trim().is_empty();
            let is_definition = begins_line && rest.starts_with(':');
            let is_reference = !label.is_empty()
                && !label.contains('\n')
                && !before.ends_with('\\')
                && !rest.starts_with('(')
                && !is_definition;
            if is_reference && self.article.number(label).is_none() {
                self.fault(at, format!("the footnote [^{label}] has no text"));
            }
        }
    }

    /// What was meant as a link, and stands there as it is written: with a blank in its address, or before it.
    fn look_at_broken_links(&mut self, words: &str) {
        for at in BROKEN_LINKS
            .iter()
            .flat_map(|broken| words.match_indices(broken))
            .map(|(at, _)| at)
        {
            let is_link = |(event, range): &Piece<'_>| {
                matches!(event, Event::Start(Tag::Link { .. } | Tag::Image { .. })) && range.contains(&at)
            };
            let line = &words[..at][words[..at].rfind('\n').map_or(0, |newline| newline + 1)..];
            let Some(begin) = line.rfind('[') else {
                continue;
            };
            let is_escaped = line[..begin].ends_with('\\') || line.ends_with('\\');
            if !is_escaped && !self.article.pieces().any(is_link) {
                let written = words[at - (line.len() - begin)..].split([')', '\n']).next();
                let what = format!("{}) is meant as a link and is none", written.unwrap_or_default());
                self.fault(at, what);
            }
        }
    }

    fn fault(&mut self, at: usize, what: String) {
        let line = self.line(at);
        self.found.faults.push(Fault { line, what });
    }

    fn target(&mut self, at: usize, url: Url, kind: TargetKind) {
        let is_known = |known: &Target| known.url == url && known.kind == kind;
        if !self.found.targets.iter().any(is_known) {
            let (line, is_ours) = (self.line(at), self.links.is_ours(&url));
            self.found.targets.push(Target {
                line,
                url,
                kind,
                is_ours,
            });
        }
    }

    fn line(&self, at: usize) -> Option<usize> {
        let before = self.markdown.get(..at)?;
        Some(self.first_line + before.matches('\n').count())
    }
}

/// Where placeholders stand.
fn placeholders(words: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (begin, end) in PLACEHOLDERS {
        for (at, _) in words.match_indices(begin) {
            let Some((name, _)) = words[at + begin.len()..].split_once(end) else {
                continue;
            };
            let range = at..at + begin.len() + name.len() + end.len();
            let rest = &words[range.end..];
            let is_placeholder = match begin {
                // Cells of a table may stand so, too.
                "*|" => is_identifier(name) && name.to_uppercase() == name,
                "[[" => is_identifier(name) && !rest.starts_with(['(', '[']),
                // In an address or a formula they say something else.
                "{" | "%" | "%%" => {
                    is_identifier(name)
                        && !words[..at].ends_with(|c: char| c.is_alphanumeric() || "/=\\^_".contains(c))
                        && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/')
                }
                _ => true,
            };
            let is_one = is_placeholder
                && range.len() <= MAX_PLACEHOLDER_BYTES
                && !name.contains('\n')
                && name.contains(char::is_alphabetic)
                && !found.iter().any(|known| known.contains(&at));
            if is_one {
                found.push(range);
            }
        }
    }
    found
}

/// Whether it is a name as programs have them, and no letter of a formula.
fn is_identifier(name: &str) -> bool {
    name.len() > 1
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c))
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
            ("Hello %%name%%\n", "%%name%%"),
            ("Hello <%= name %>\n", "<%= name %>"),
            ("Hello {!Contact.Name}\n", "{!Contact.Name}"),
            ("Hello {first_name},\n", "{first_name}"),
            ("Hello %FIRSTNAME%,\n", "%FIRSTNAME%"),
            ("Hello [[name]],\n", "[[name]]"),
            (
                "[a](https://exa mple.org/)\n",
                "[a](https://exa mple.org/) is meant as a link",
            ),
            ("See [a] (https://example.org/).\n", "is meant as a link"),
            ("[a](https://example.org/?to={{email}})\n", "{{email}}"),
            ("![Of {{ name }}](/x.png)\n", "{{ name }}"),
            ("One[^1].\n", "line 1: the footnote [^1] has no text"),
            ("One[^a]: two.\n\n[^b]: y\n", "the footnote [^a] has no text"),
            ("[a][b]\n", "the link [a][b] has no address"),
            ("[a]()\n", "a link has no address"),
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
            "## One thing\n\n[up](#one-thing)[^n] and [notes](#references)\n\n[^n]: A note.\n",
            "[a][b], [c][], <https://example.org/>, <me@example.org>\n\n[b]: /contact\n[c]: tel:+911234567\n",
            "| a | b |\n|---|---|\n|*a*|b|*c*|\n",
        ] {
            assert_eq!(faults(markdown)?, [""; 0], "{markdown}");
        }
        Ok(())
    }
}
