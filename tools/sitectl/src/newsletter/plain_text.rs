//! The plain text of an issue, in lines that every mail program shows.

use anyhow::Context as _;
use pulldown_cmark::{Event, Tag, TagEnd, html::push_html};

use super::{
    article::{Article, REFERENCES},
    links::SiteLinks,
};

/// The longest line.
const WIDTH: usize = 72;
/// The narrowest column of a table: most words and numbers fit.
const MIN_COLUMN: usize = 12;
/// The most by which a list or a quote is indented.
const INDENT: usize = 4;

/// The plain text of an article.
///
/// # Errors
///
/// If a table cannot be written.
pub fn render(article: &Article<'_>, links: &SiteLinks) -> anyhow::Result<String> {
    let mut writer = Writer {
        article,
        links,
        events: Vec::new(),
        link: None,
        places: Vec::new(),
        indents: 0,
        is_table: false,
    };
    for (event, _) in &article.body {
        writer.event(event);
    }
    if !article.notes.is_empty() {
        writer.paragraph(REFERENCES.to_owned());
    }
    for (number, (_, pieces)) in (1..).zip(&article.notes) {
        writer.paragraph(format!("[{number}] "));
        let begins = matches!(pieces.first(), Some((Event::Start(Tag::Paragraph), _)));
        for (event, _) in &pieces[usize::from(begins)..] {
            writer.event(event);
        }
    }
    let mut html = String::new();
    push_html(&mut html, writer.events.into_iter());
    let text = html2text::config::plain_no_decorate().min_wrap_width(MIN_COLUMN);
    let text = text.string_from_read(html.as_bytes(), WIDTH);
    let mut text = text.context("its plain text cannot be written")?;
    for (place, link) in writer.places {
        text = text.replace(&place, &link);
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(lines.join("\n").trim_end().to_owned())
}

struct Writer<'a> {
    article: &'a Article<'a>,
    links: &'a SiteLinks,
    events: Vec<Event<'a>>,
    /// The link that is open.
    link: Option<String>,
    /// What stands in the place of each link until the lines are broken: nobody could follow a part of one.
    places: Vec<(String, String)>,
    /// How many lists and quotes are open.
    indents: usize,
    is_table: bool,
}

impl<'a> Writer<'a> {
    fn event(&mut self, event: &Event<'a>) {
        match event {
            Event::Start(Tag::List(_) | Tag::BlockQuote(_)) => self.indents += 1,
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_)) => self.indents -= 1,
            Event::Start(Tag::Table(_)) => self.is_table = true,
            Event::End(TagEnd::Table) => self.is_table = false,
            _ => {}
        }
        let event = match event {
            Event::Start(Tag::Heading { .. }) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::Heading(_)) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Link { dest_url, .. }) => {
                let link = self.links.link(dest_url).ok();
                // One within the mail is followed by reading on.
                self.link = link.filter(|link| !link.starts_with('#'));
                return;
            }
            Event::End(TagEnd::Link) => {
                let Some(link) = self.link.take() else { return };
                let number = format!("\u{e000}{}\u{e000}", self.places.len());
                // As wide as the link is, so that a line ends before it; but what is wider than its line or column would be broken.
                let room = (WIDTH - 2).saturating_sub(INDENT * self.indents);
                let width = if self.is_table { 0 } else { link.len().min(room) };
                let place = format!("{number:\u{e000}<width$}");
                let words = format!(" ({place})");
                self.places.push((place, link));
                Event::Text(words.into())
            }
            Event::FootnoteReference(label) => {
                Event::Text(format!("[{}]", self.article.number(label)).into())
            }
            Event::Start(Tag::Image { title, .. }) if title.is_empty() => Event::Text("[".into()),
            Event::Start(Tag::Image { title, .. }) => Event::Text(format!("[{title}: ").into()),
            Event::End(TagEnd::Image) => Event::Text("]".into()),
            event => event.clone(),
        };
        self.events.push(event);
    }

    fn paragraph(&mut self, words: String) {
        self.events
            .extend([Event::Start(Tag::Paragraph), Event::Text(words.into())]);
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn rendered(markdown: &str) -> anyhow::Result<String> {
        let links = SiteLinks::new(Url::parse("https://oculant.example")?, "x");
        render(&Article::parse(markdown), &links)
    }

    #[test]
    fn words_become_lines() -> anyhow::Result<()> {
        let markdown = "## Start\n\nOne *two*\n[three](https://example.org/).\n\n- a\n- b\n\n> said\n\n![a house](/h.png \"Home\")\n";
        let text = rendered(markdown)?;
        for part in [
            "Start\n\nOne two three (https://example.org/).\n",
            "* a\n* b\n",
            "\n> said\n",
            "[Home: a house]",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let long = rendered(&"word ".repeat(40))?;
        assert!(long.lines().all(|line| line.len() <= WIDTH), "{long}");
        assert_eq!(long.lines().count(), 3);
        Ok(())
    }

    #[test]
    fn a_link_is_never_broken() -> anyhow::Result<()> {
        let (long, longer) = ("word ".repeat(13), "x".repeat(100));
        let text = rendered(&format!(
            "{long}[a](https://example.org/{longer}) [b](https://example.org/b)\n"
        ))?;
        assert!(
            text.contains(&format!("\n(https://example.org/{longer})")),
            "{text}"
        );
        assert!(text.contains("(https://example.org/b)"), "{text}");
        for around in [
            "- {}\n",
            "1. a\n   - b\n     - c {}\n",
            "> {}, said\n",
            "> - {}.\n",
            "a[^1]\n\n[^1]: {}.\n",
            "| a | b | c |\n|---|---|---|\n| {} | x | 1 |\n| some more words, and {} | {}, {} | 2 |\n",
        ] {
            let text = rendered(&around.replace("{}", &format!("[a](https://example.org/{longer})")))?;
            let links = text.matches(&format!("(https://example.org/{longer})")).count();
            assert_eq!(links, around.matches("{}").count(), "{text}");
            assert!(!text.contains('\u{e000}'), "{text}");
        }
        Ok(())
    }

    #[test]
    fn footnotes_stand_below_all_else_under_their_numbers() -> anyhow::Result<()> {
        let markdown = "One[^b], two[^a].\n\n[^a]: Of *two*.\n[^b]: Of one, [there](https://example.org/).\n\nThe end.\n";
        assert_eq!(
            rendered(markdown)?,
            "One[1], two[2].\n\nThe end.\n\nReferences\n\n[1] Of one, there (https://example.org/).\n\n[2] Of two."
        );
        Ok(())
    }

    #[test]
    fn a_table_stands_in_columns() -> anyhow::Result<()> {
        let words = "many words ".repeat(6);
        let table = rendered(&format!(
            "| Storage | Mind |\n|---|---|\n| On a card | {words} |\n| In the cloud | the key[^1] |\n\n[^1]: Yes.\n"
        ))?;
        let rows: Vec<&str> = table.lines().filter(|line| line.contains('│')).collect();
        assert!(
            rows.len() > 3 && rows.iter().all(|row| row.chars().count() <= WIDTH),
            "{table}"
        );
        assert!(table.contains("the key[1]"), "{table}");
        Ok(())
    }
}
