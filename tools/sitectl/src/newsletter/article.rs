//! The Markdown of an issue, read once for both parts of its mail and for what may be wrong with it: footnotes stand apart, in the order
//! in which they are referred to, as the blog shows them.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, TextMergeWithOffset};

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
    /// The footnotes that it refers to, with their names; the first is number 1. Nobody sees one that it does not refer to.
    pub notes: Vec<(String, Vec<Piece<'a>>)>,
}

impl<'a> Article<'a> {
    /// Reads it.
    pub fn parse(markdown: &'a str) -> Self {
        let (mut body, mut defined, mut order) = (Vec::new(), Vec::new(), Vec::<String>::new());
        let mut open = None::<(String, Vec<Piece<'a>>)>;
        let parser = Parser::new_ext(markdown, OPTIONS).into_offset_iter();
        for (event, range) in TextMergeWithOffset::new(parser) {
            if let Event::FootnoteReference(label) = &event {
                order.push(label.to_lowercase());
            }
            match (event, &mut open) {
                (Event::Start(Tag::FootnoteDefinition(label)), _) => {
                    open = Some((label.to_lowercase(), Vec::new()));
                }
                (Event::End(TagEnd::FootnoteDefinition), _) => defined.extend(open.take()),
                (event, Some((_, pieces))) => pieces.push((event, range)),
                (event, None) => body.push((event, range)),
            }
        }
        name_headings(&mut body);
        let place = |(label, _): &(String, _)| order.iter().position(|known| known == label);
        defined.retain(|note| place(note).is_some());
        defined.sort_by_key(place);
        Self { body, notes: defined }
    }

    /// The number of a footnote.
    pub fn number(&self, label: &str) -> usize {
        let label = label.to_lowercase();
        let before = self.notes.iter().take_while(|(known, _)| *known != label);
        before.count() + 1
    }

    /// All that readers see.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece<'a>> {
        let notes = self.notes.iter().flat_map(|(_, pieces)| pieces);
        self.body.iter().chain(notes)
    }

    /// Whether a link to a heading finds one.
    pub fn has_heading(&self, name: &str) -> bool {
        let mut events = self.body.iter().map(|(event, _)| event);
        let is_it = |event: &Event<'_>| matches!(event, Event::Start(Tag::Heading { id: Some(id), .. }) if **id == *name);
        events.any(is_it) || !self.notes.is_empty() && name == REFERENCES.to_lowercase()
    }
}

/// Names the headings as the blog does in its links.
fn name_headings(body: &mut [Piece<'_>]) {
    let mut words = String::new();
    for (event, _) in body.iter_mut().rev() {
        match event {
            Event::End(TagEnd::Heading(_)) => words.clear(),
            Event::Text(text) | Event::Code(text) => words.insert_str(0, text),
            Event::Start(Tag::Heading { id, .. }) => {
                let words = words.to_lowercase();
                let words = words.split(|c: char| !c.is_ascii_alphanumeric());
                let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
                *id = Some(words.join("-").into());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footnotes_are_numbered_as_they_are_referred_to() {
        let article = Article::parse(
            "One[^b], two[^A], one[^b].\n\n[^a]: Of two[^c].\n[^b]: Of one.\n[^c]: Of a note.\n[^d]: Of none.\n",
        );
        let labels: Vec<&str> = article.notes.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["b", "a", "c"]);
        assert_eq!(article.number("A"), 2);
    }

    #[test]
    fn headings_are_called_as_on_the_blog() {
        let article = Article::parse("## Motion detection, or *two* `hundred` cats\n\n### What’s 2 + 2?\n");
        assert!(article.has_heading("motion-detection-or-two-hundred-cats"));
        assert!(article.has_heading("what-s-2-2") && !article.has_heading("what"));
    }
}
