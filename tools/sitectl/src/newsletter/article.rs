//! The Markdown of an issue, read once for both parts of its mail and for what may be wrong with it: footnotes stand apart, in the order
//! in which they are referred to, as the blog shows them.

use std::{collections::BTreeSet, ops::Range};

use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// What Markdown may hold beside its basics.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_FOOTNOTES);

/// What stands above the footnotes, on the blog too.
pub const REFERENCES: &str = "References";

/// Part of an article, and where it stands in the Markdown.
pub type Piece<'a> = (Event<'a>, Range<usize>);

/// An article.
pub struct Article<'a> {
    /// All of it but the footnotes.
    pub body: Vec<Piece<'a>>,
    /// The footnotes that it refers to; the first is number 1. Nobody sees one that it does not refer to.
    pub notes: Vec<Note<'a>>,
    /// What links find its headings by, one for each.
    pub headings: Vec<String>,
    /// Links by a name that has no address, such as `[words][name]`.
    pub unresolved: Vec<Range<usize>>,
}

/// A footnote.
pub struct Note<'a> {
    /// What it is called in the Markdown.
    pub label: CowStr<'a>,
    /// What it says.
    pub pieces: Vec<Piece<'a>>,
}

impl<'a> Article<'a> {
    /// Reads it.
    pub fn parse(markdown: &'a str) -> Self {
        let mut unresolved = Vec::new();
        let mut on_unresolved = |link: BrokenLink<'a>| {
            // `[words]` alone may be meant as it stands.
            if link.link_type != LinkType::Shortcut {
                unresolved.push(link.span);
            }
            None
        };
        let (mut body, mut defined, mut open) = (Vec::new(), Vec::new(), Vec::<Note<'a>>::new());
        let parser = Parser::new_with_broken_link_callback(markdown, OPTIONS, Some(&mut on_unresolved));
        for (event, range) in parser.into_offset_iter() {
            match (event, open.last_mut()) {
                (Event::Start(Tag::FootnoteDefinition(label)), _) => open.push(Note {
                    label,
                    pieces: Vec::new(),
                }),
                (Event::End(TagEnd::FootnoteDefinition), _) => defined.extend(open.pop()),
                (event, Some(note)) => note.pieces.push((event, range)),
                (event, None) => body.push((event, range)),
            }
        }
        Self {
            notes: in_order(&body, defined),
            headings: headings(&body),
            body,
            unresolved,
        }
    }

    /// The number of a footnote.
    pub fn number(&self, label: &str) -> Option<usize> {
        let at = self.notes.iter().position(|note| is_called(note, label));
        at.map(|at| at + 1)
    }

    /// All that readers see.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece<'a>> {
        self.body
            .iter()
            .chain(self.notes.iter().flat_map(|note| &note.pieces))
    }
}

/// The footnotes that are referred to, by the first reference to each.
fn in_order<'a>(body: &[Piece<'a>], mut defined: Vec<Note<'a>>) -> Vec<Note<'a>> {
    let mut notes = Vec::new();
    let mut references = references(body);
    while !references.is_empty() {
        let mut further = Vec::new();
        for label in references {
            if let Some(at) = defined.iter().position(|note| is_called(note, &label)) {
                let note = defined.remove(at);
                // A footnote may refer to another one.
                further.extend(self::references(&note.pieces));
                notes.push(note);
            }
        }
        references = further;
    }
    notes
}

fn references(pieces: &[Piece<'_>]) -> Vec<String> {
    let labels = pieces.iter().filter_map(|(event, _)| match event {
        Event::FootnoteReference(label) => Some(label.to_string()),
        _ => None,
    });
    labels.collect()
}

fn is_called(note: &Note<'_>, label: &str) -> bool {
    note.label.to_lowercase() == label.to_lowercase()
}

/// What the blog calls the headings in its links.
fn headings(body: &[Piece<'_>]) -> Vec<String> {
    let (mut headings, mut words) = (Vec::new(), None::<String>);
    for (event, _) in body {
        match (event, &mut words) {
            (Event::Start(Tag::Heading { .. }), _) => words = Some(String::new()),
            (Event::Text(text) | Event::Code(text), Some(words)) => words.push_str(text),
            (Event::End(TagEnd::Heading(_)), _) => headings.extend(words.take().map(|words| slug(&words))),
            _ => {}
        }
    }
    headings
}

fn slug(heading: &str) -> String {
    let heading = heading.to_lowercase();
    let words = heading.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// The Markdown with blanks in place of code, in which nothing is meant but itself.
pub fn without_code(markdown: &str, article: &Article<'_>) -> String {
    let code: BTreeSet<(usize, usize)> = article
        .pieces()
        .filter(|(event, _)| matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))))
        .map(|(_, range)| (range.start, range.end))
        .collect();
    let (mut rest, mut end) = (String::with_capacity(markdown.len()), 0);
    for (begin, code_end) in code {
        let begin = begin.max(end);
        let code_end = code_end.max(begin);
        rest.push_str(&markdown[end..begin]);
        let blank = markdown[begin..code_end]
            .bytes()
            .map(|byte| if byte == b'\n' { '\n' } else { ' ' });
        rest.extend(blank);
        end = code_end;
    }
    rest.push_str(&markdown[end..]);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footnotes_are_numbered_as_they_are_referred_to() {
        let article = Article::parse(
            "One[^b], two[^A], one[^b].\n\n[^a]: Of two[^c].\n[^b]: Of one.\n[^c]: Of a note.\n[^d]: Of none.\n",
        );
        let labels: Vec<&str> = article.notes.iter().map(|note| &*note.label).collect();
        assert_eq!(labels, ["b", "a", "c"]);
        assert_eq!((article.number("A"), article.number("d")), (Some(2), None));
    }

    #[test]
    fn headings_are_called_as_on_the_blog() {
        let article = Article::parse("## Motion detection, or *two* `hundred` cats\n\n### What’s 2 + 2?\n");
        assert_eq!(
            article.headings,
            ["motion-detection-or-two-hundred-cats", "what-s-2-2"]
        );
    }

    #[test]
    fn code_is_blanked_and_all_else_stays_in_its_place() {
        let markdown = "é `{{ a }}` b\n\n```\n{{ c }}\n```\n\n{{ d }}\n";
        let without = without_code(markdown, &Article::parse(markdown));
        assert_eq!(without.len(), markdown.len());
        assert_eq!(without.lines().count(), markdown.lines().count());
        assert_eq!(without.split_whitespace().collect::<String>(), "éb{{d}}");
    }
}
