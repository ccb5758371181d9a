//! The mail of an issue, from its Markdown. Mail programs drop style sheets and know few elements, so that each element has its style
//! with it; the classes are for the dark ones in the frame that every mail has.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use pulldown_cmark::{
    Alignment, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, TextMergeWithOffset,
    html::push_html,
};

use super::{
    faults::{Findings, placeholders, unknown_footnotes},
    links::{Picture, SiteLinks},
};

/// What Markdown may hold beside its basics.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_FOOTNOTES);
/// What each element has in a mail.
const ATTRIBUTES: &str = r#"h2 class="ink" style="margin:28px 0 12px;font-weight:600;font-size:21px;line-height:1.25;color:#12181f"
p class="ink" style="margin:0 0 16px;color:#12181f"
blockquote class="ink-2" style="margin:0 0 16px;padding:0 0 0 16px;border-left:3px solid #f2a900;color:#48535f"
ol class="ink" style="margin:0 0 16px;padding-left:24px;color:#12181f"
ul class="ink" style="margin:0 0 16px;padding-left:24px;color:#12181f"
li style="margin:0 0 6px"
pre style="margin:0 0 16px;white-space:pre-wrap;font-size:14px"
table class="ink" cellpadding="0" cellspacing="0" border="0" width="100%" style="margin:0 0 16px"
th class="line" style="padding:8px 12px 8px 0;border-top:1px solid #d9d2c4;text-align:left;vertical-align:top"
td class="line" style="padding:8px 12px 8px 0;border-top:1px solid #d9d2c4;text-align:left;vertical-align:top"
hr style="border:0;border-top:1px solid #d9d2c4;margin:24px 0"
img style="display:block;max-width:100%;height:auto;border:0"
a class="seen-ink" style="color:#7a4b00"
sup style="font-size:75%;line-height:0""#;
const PICTURE_IN_WORDS: &str =
    r#"<span class="ink-2" style="display:block;padding:12px 16px;border:1px solid #d9d2c4;color:#48535f">"#;
const CAPTION: &str =
    r#"<span class="ink-2" style="display:block;margin:8px 0 0;font-size:14px;color:#48535f">"#;
/// The longest line of the plain text.
const TEXT_WIDTH: usize = 72;
/// The narrowest column of a table in it: most words and numbers fit.
const TEXT_COLUMN: usize = 12;

/// The HTML of an article that begins in this line of its file. Adds to what is found.
///
/// # Errors
///
/// If it holds HTML of its own or a picture of another site.
pub fn html(
    markdown: &str,
    first_line: usize,
    links: &SiteLinks,
    found: &mut Findings,
) -> anyhow::Result<String> {
    let mut writer = Writer {
        links,
        found,
        body: Vec::new(),
        notes: BTreeMap::new(),
        note: None,
        labels: Vec::new(),
        after_picture: Vec::new(),
        is_code: false,
    };
    let parser = Parser::new_ext(markdown, OPTIONS).into_offset_iter();
    for (event, range) in TextMergeWithOffset::new(parser) {
        writer.found.line = Some(first_line + markdown[..range.start].matches('\n').count());
        writer.event(event, &markdown[range])?;
    }
    let Writer { mut body, notes, .. } = writer;
    if !notes.is_empty() {
        body.push(Event::Html("<h2>References</h2>\n<ol>\n".into()));
        for note in notes.into_values() {
            body.push(Event::Html("<li>".into()));
            body.extend(note);
            body.push(Event::Html("</li>\n".into()));
        }
        body.push(Event::Html("</ol>\n".into()));
    }
    let mut html = String::new();
    push_html(&mut html, body.into_iter());
    Ok(styled(html))
}

/// The article as it is written anew for a mail.
struct Writer<'a, 'l> {
    links: &'l SiteLinks,
    found: &'l mut Findings,
    /// All but the footnotes.
    body: Vec<Event<'a>>,
    /// The footnotes, by their numbers.
    notes: BTreeMap<usize, Vec<Event<'a>>>,
    /// The number of the footnote that is read.
    note: Option<usize>,
    /// The names of footnotes, in the order in which they are referred to.
    labels: Vec<String>,
    /// What stands below the picture that is read.
    after_picture: Vec<Event<'a>>,
    is_code: bool,
}

impl<'a> Writer<'a, '_> {
    fn event(&mut self, event: Event<'a>, written: &str) -> anyhow::Result<()> {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                bail!(
                    "it holds HTML ({}), which no mail is made of: write it as Markdown",
                    html.trim()
                )
            }
            Event::Start(Tag::FootnoteDefinition(label)) => self.note = Some(self.number(&label)),
            Event::End(TagEnd::FootnoteDefinition) => self.note = None,
            Event::FootnoteReference(label) => {
                let reference = format!("<sup>{}</sup>", self.number(&label));
                self.push([Event::Html(reference.into())]);
            }
            Event::Start(Tag::Heading { .. }) => self.push([Event::Start(heading())]),
            Event::End(TagEnd::Heading(_)) => self.push([Event::End(heading().to_end())]),
            Event::Start(Tag::Table(columns)) => {
                let columns = vec![Alignment::None; columns.len()];
                self.push([Event::Start(Tag::Table(columns))]);
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                self.found.faults(placeholders(&dest_url));
                let link = self.links.link(&dest_url, self.found);
                self.push([open_link(link)]);
            }
            Event::Start(Tag::Image { dest_url, title, .. }) => {
                self.found.faults(placeholders(&title));
                let picture = self.links.picture(&dest_url, self.found)?;
                let (before, after) = around_picture(picture, title, self.links);
                self.push(before);
                self.after_picture = after;
            }
            Event::End(TagEnd::Image) => {
                let after = std::mem::take(&mut self.after_picture);
                self.push(after);
            }
            event => {
                self.look(&event, written);
                self.push([event]);
            }
        }
        Ok(())
    }

    /// Looks for what nobody fills in; code may say so.
    fn look(&mut self, event: &Event<'_>, written: &str) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => self.is_code = true,
            Event::End(TagEnd::CodeBlock) => self.is_code = false,
            Event::Text(_) if !self.is_code => {
                let faults = placeholders(written).chain(unknown_footnotes(written));
                self.found.faults(faults);
            }
            _ => {}
        }
    }

    fn push(&mut self, events: impl IntoIterator<Item = Event<'a>>) {
        let part = match self.note {
            Some(number) => self.notes.entry(number).or_default(),
            None => &mut self.body,
        };
        part.extend(events);
    }

    fn number(&mut self, label: &str) -> usize {
        let label = label.to_lowercase();
        let known = self.labels.iter().position(|known| *known == label);
        let index = known.unwrap_or_else(|| {
            self.labels.push(label);
            self.labels.len() - 1
        });
        index + 1
    }
}

/// The plain text of an article; what its links lead to stands below it, by numbers.
///
/// # Errors
///
/// If a table cannot be written.
pub fn text(html: &str) -> anyhow::Result<String> {
    let text = html2text::config::plain_no_decorate()
        .link_footnotes(true)
        .no_link_wrapping()
        .min_wrap_width(TEXT_COLUMN)
        .string_from_read(html.as_bytes(), TEXT_WIDTH)
        .context("its plain text cannot be written")?;
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(lines.join("\n").trim().to_owned())
}

/// The only heading within a mail: its title stands above.
fn heading() -> Tag<'static> {
    Tag::Heading {
        level: HeadingLevel::H2,
        id: None,
        classes: Vec::new(),
        attrs: Vec::new(),
    }
}

fn open_link<'a>(link: impl Into<CowStr<'a>>) -> Event<'a> {
    Event::Start(Tag::Link {
        link_type: LinkType::Inline,
        dest_url: link.into(),
        title: "".into(),
        id: "".into(),
    })
}

/// What stands before and after the words of a picture. Its caption is below it, or with the words in a box.
fn around_picture<'a>(
    picture: Picture,
    caption: CowStr<'a>,
    links: &SiteLinks,
) -> (Vec<Event<'a>>, Vec<Event<'a>>) {
    let html = |html: &'static str| Event::Html(html.into());
    let caption = match &*caption {
        "" => Vec::new(),
        _ => vec![
            Event::SoftBreak,
            html(CAPTION),
            Event::Text(caption),
            html("</span>"),
        ],
    };
    match picture {
        Picture::At(address) => {
            let image = Tag::Image {
                link_type: LinkType::Inline,
                dest_url: address.to_string().into(),
                title: "".into(),
                id: "".into(),
            };
            let end = vec![Event::End(TagEnd::Image)];
            (vec![Event::Start(image)], [end, caption].concat())
        }
        Picture::Words => {
            let end = vec![Event::End(TagEnd::Link), html("</span>")];
            let begin = vec![html(PICTURE_IN_WORDS), open_link(links.page())];
            (begin, [caption, end].concat())
        }
    }
}

/// All else that looks like an element is escaped by now.
fn styled(mut html: String) -> String {
    for element in ATTRIBUTES.lines() {
        let name = element.split(' ').next().unwrap_or_default();
        for end in [" ", ">"] {
            html = html.replace(&format!("<{name}{end}"), &format!("<{element}{end}"));
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn rendered(markdown: &str) -> anyhow::Result<(String, String)> {
        let links = SiteLinks::new(Url::parse("https://oculant.example")?, "x", None)?;
        let html = html(markdown, 1, &links, &mut Findings::default())?;
        let text = text(&html)?;
        Ok((html, text))
    }

    #[test]
    fn words_become_html_that_says_nothing_else() -> anyhow::Result<()> {
        // An autolink or a tag of the author's own is refused; `<two>` is one.
        assert!(rendered("One & <two> *three*\n").is_err());
        let (html, _) = rendered(
            "One & 2 < 3 *three*\n\n1. `a\"b`\n\n| h |\n|---|\n| c |\n\n![a \"b\"](/p.png \"Said <below>\")\n",
        )?;
        for part in [
            "One &amp; 2 &lt; 3 <em>three</em></p>",
            "<code>a\"b</code></li>",
            ">h</th></tr>",
            ">c</td></tr>",
            "src=\"https://oculant.example/p.png\" alt=\"a &quot;b&quot;\"",
            ">Said &lt;below&gt;</span></p>",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        Ok(())
    }

    #[test]
    fn footnotes_stand_below_all_else_in_the_order_of_their_references() -> anyhow::Result<()> {
        let (html, text) = rendered(
            "One[^b], two[^A], one[^b].\n\n[^a]: Of *two*.\n[^b]: Of [one](https://example.org/).\n\nThe end.\n",
        )?;
        assert!(!html.contains("[^"), "{html}");
        assert_eq!(
            text,
            "One¹, two², one¹.\n\nThe end.\n\n## References\n1. Of [one][1].\n2. Of two.\n\n[1]: https://example.org/"
        );
        Ok(())
    }

    #[test]
    fn words_become_lines() -> anyhow::Result<()> {
        let (_, text) = rendered(
            "## Start\n\nOne *two*\n[three](https://example.org/).\n\n- a\n- b\n\n> said\n\n![a house](/h.png \"Home\")\n",
        )?;
        for part in [
            "Start\n\nOne two [three][1].\n",
            "* a\n* b\n",
            "\n> said\n",
            "[a house] Home",
            "[1]: https://example.org/",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let (_, long) = rendered(&"word ".repeat(40))?;
        assert!(long.lines().all(|line| line.len() <= TEXT_WIDTH), "{long}");
        assert_eq!(long.lines().count(), 3);
        Ok(())
    }

    #[test]
    fn a_link_is_never_broken() -> anyhow::Result<()> {
        let link = format!("https://example.org/{}", "x".repeat(100));
        for around in [
            "{}\n",
            "- {}\n",
            "1. a\n   - b\n     - c {}\n",
            "> {}, said\n",
            "a[^1]\n\n[^1]: {}.\n",
            "| a | b | c |\n|---|---|---|\n| {} | x | 1 |\n| some more words, and {} | y | 2 |\n",
        ] {
            let (_, text) = rendered(&around.replace("{}", &format!("[a]({link})")))?;
            assert!(text.lines().any(|line| line == format!("[1]: {link}")), "{text}");
            assert!(text.contains("[a][1]"), "{text}");
        }
        Ok(())
    }

    #[test]
    fn a_table_stands_in_columns() -> anyhow::Result<()> {
        let words = "many words ".repeat(6);
        let (_, table) = rendered(&format!(
            "| Storage | Mind |\n|---|---|\n| On a card | {words} |\n| In the cloud | the key[^1] |\n\n[^1]: Yes.\n"
        ))?;
        let rows: Vec<&str> = table.lines().filter(|line| line.contains('│')).collect();
        assert!(
            rows.len() > 3 && rows.iter().all(|row| row.chars().count() <= TEXT_WIDTH),
            "{table}"
        );
        assert!(table.contains("the key¹"), "{table}");
        Ok(())
    }
}
