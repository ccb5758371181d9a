//! The HTML of an issue. Mail programs drop style sheets and know few elements, so that each has its style with it; the classes are
//! for the dark ones in the frame that every mail has.

use std::fmt::Write as _;

use anyhow::bail;
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use super::{
    article::{Article, Note, REFERENCES},
    links::{Picture, SiteLinks},
};

const HEADING: &str = "margin:28px 0 12px;font-weight:600;font-size:21px;line-height:1.25;color:#12181f";
const PARAGRAPH: &str = "margin:0 0 16px;color:#12181f";
const QUOTE: &str = "margin:0 0 16px;padding:0 0 0 16px;border-left:3px solid #f2a900;color:#48535f";
const LIST: &str = "margin:0 0 16px;padding-left:24px;color:#12181f";
const ITEM: &str = "margin:0 0 6px";
const CELL: &str = "padding:8px 12px 8px 0;border-top:1px solid #d9d2c4;text-align:left;vertical-align:top";
const PICTURE: &str = "display:block;max-width:100%;height:auto;border:0";
const PICTURE_IN_WORDS: &str = "display:block;padding:12px 16px;border:1px solid #d9d2c4;color:#48535f";
const CAPTION: &str = "display:block;margin:8px 0 0;font-size:14px;color:#48535f";
const LINK: &str = "color:#7a4b00";
const REFERENCE: &str = "font-size:75%;line-height:0";

/// The HTML of an article.
///
/// # Errors
///
/// If it holds HTML of its own or a picture of another site.
pub fn render(article: &Article<'_>, links: &SiteLinks) -> anyhow::Result<String> {
    let mut writer = Writer {
        article,
        links,
        html: String::new(),
        picture: None,
        is_head: false,
        is_link: false,
        headings: article.headings.iter(),
        references: vec![0; article.notes.len()],
    };
    for (event, _) in &article.body {
        writer.event(event)?;
    }
    writer.notes()?;
    Ok(writer.html)
}

struct Writer<'a> {
    article: &'a Article<'a>,
    links: &'a SiteLinks,
    html: String,
    /// The picture that is being read.
    picture: Option<OpenPicture>,
    is_head: bool,
    /// Whether a link is open. One that leads nowhere is none.
    is_link: bool,
    /// What links find the headings by that are still to come.
    headings: std::slice::Iter<'a, String>,
    /// How often each footnote was referred to.
    references: Vec<usize>,
}

struct OpenPicture {
    shown: Picture,
    /// The words in its place.
    alternative: String,
    caption: String,
}

impl Writer<'_> {
    fn event(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        match event {
            Event::Start(tag) => self.start(tag)?,
            Event::End(tag) => self.end(*tag),
            Event::Text(text) => self.text(text),
            Event::Code(code) => {
                self.push("<code>");
                self.text(code);
                self.push("</code>");
            }
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => self.push("<br>\n"),
            Event::Rule => self.push("<hr style=\"border:0;border-top:1px solid #d9d2c4;margin:24px 0\">\n"),
            Event::Html(html) | Event::InlineHtml(html) => {
                bail!(
                    "it holds HTML ({}), which no mail is made of: write it as Markdown",
                    html.trim()
                )
            }
            Event::FootnoteReference(label) => self.reference(label),
            Event::TaskListMarker(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: &Tag<'_>) -> anyhow::Result<()> {
        match tag {
            Tag::Paragraph => self.styled("p", "ink", PARAGRAPH),
            Tag::Heading { .. } => {
                let id = self.headings.next().map_or("", String::as_str);
                self.push(&format!("<h2 id=\"{id}\" class=\"ink\" style=\"{HEADING}\">"));
            }
            Tag::BlockQuote(_) => self.styled("blockquote", "ink-2", QUOTE),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.push("<pre style=\"margin:0 0 16px;white-space:pre-wrap;font-size:14px\">");
            }
            Tag::List(Some(first)) => {
                writeln!(self.html, "<ol class=\"ink\" start=\"{first}\" style=\"{LIST}\">")?;
            }
            Tag::List(None) => self.styled("ul", "ink", LIST),
            Tag::Item => self.push(&format!("<li style=\"{ITEM}\">")),
            Tag::Table(_) => {
                self.push("<table class=\"ink\" cellpadding=\"0\" cellspacing=\"0\" border=\"0\" width=\"100%\" style=\"margin:0 0 16px\">\n");
            }
            Tag::TableHead => {
                self.is_head = true;
                self.push("<tr>");
            }
            Tag::TableRow => self.push("<tr>"),
            Tag::TableCell if self.is_head => self.styled("th", "line", CELL),
            Tag::TableCell => self.styled("td", "line", CELL),
            Tag::Emphasis => self.push("<em>"),
            Tag::Strong => self.push("<strong>"),
            Tag::Strikethrough => self.push("<del>"),
            Tag::Link { dest_url, .. } => {
                if let Ok(link) = self.links.link(dest_url) {
                    self.is_link = true;
                    self.open_link(&link);
                }
            }
            Tag::Image { dest_url, title, .. } => {
                self.picture = Some(OpenPicture {
                    shown: self.links.picture(dest_url)?,
                    alternative: String::new(),
                    caption: title.to_string(),
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.push("</p>\n"),
            TagEnd::Heading(_) => self.push("</h2>\n"),
            TagEnd::BlockQuote(_) => self.push("</blockquote>\n"),
            TagEnd::CodeBlock => self.push("</pre>\n"),
            TagEnd::List(true) => self.push("</ol>\n"),
            TagEnd::List(false) => self.push("</ul>\n"),
            TagEnd::Item => self.push("</li>\n"),
            TagEnd::Table => self.push("</table>\n"),
            TagEnd::TableHead => {
                self.is_head = false;
                self.push("</tr>\n");
            }
            TagEnd::TableRow => self.push("</tr>\n"),
            TagEnd::TableCell if self.is_head => self.push("</th>"),
            TagEnd::TableCell => self.push("</td>"),
            TagEnd::Emphasis => self.push("</em>"),
            TagEnd::Strong => self.push("</strong>"),
            TagEnd::Strikethrough => self.push("</del>"),
            TagEnd::Link if std::mem::take(&mut self.is_link) => self.push("</a>"),
            TagEnd::Image => {
                if let Some(picture) = self.picture.take() {
                    self.picture(&picture);
                }
            }
            _ => {}
        }
    }

    /// A picture, or its words in a box; below it its caption.
    fn picture(&mut self, picture: &OpenPicture) {
        let words = escaped(&picture.alternative);
        let caption = escaped(&picture.caption);
        let caption = if caption.is_empty() {
            caption
        } else {
            format!("<span class=\"ink-2\" style=\"{CAPTION}\">{caption}</span>")
        };
        if let Picture::At(address) = &picture.shown {
            let address = escaped(address.as_str());
            self.push(&format!(
                "<img src=\"{address}\" alt=\"{words}\" style=\"{PICTURE}\">{caption}"
            ));
            return;
        }
        self.push(&format!(
            "<span class=\"ink-2\" style=\"{PICTURE_IN_WORDS}\">{words}{caption}"
        ));
        if let Some(web) = self.links.web().filter(|_| picture.shown == Picture::Words) {
            self.push(" ");
            self.open_link(&web);
            self.push("See it on the web</a>");
        }
        self.push("</span>");
    }

    fn reference(&mut self, label: &str) {
        let Some(number) = self.article.number(label) else {
            return;
        };
        let count = &mut self.references[number - 1];
        *count += 1;
        let id = reference_id(number, *count);
        self.push(&format!(
            "<sup style=\"{REFERENCE}\"><a class=\"seen-ink\" id=\"{id}\" href=\"#footnote-{number}\" style=\"{LINK}\">[{number}]</a></sup>"
        ));
    }

    /// The footnotes, below all else.
    fn notes(&mut self) -> anyhow::Result<()> {
        if self.article.notes.is_empty() {
            return Ok(());
        }
        let id = REFERENCES.to_lowercase();
        self.push(&format!(
            "<h2 id=\"{id}\" class=\"ink\" style=\"{HEADING}\">{REFERENCES}</h2>\n<ol class=\"ink\" style=\"{LIST}\">\n"
        ));
        let article = self.article;
        for (number, note) in (1..).zip(&article.notes) {
            self.note(number, note)?;
        }
        self.push("</ol>\n");
        Ok(())
    }

    fn note(&mut self, number: usize, Note { pieces, .. }: &Note<'_>) -> anyhow::Result<()> {
        self.push(&format!("<li id=\"footnote-{number}\" style=\"{ITEM}\">"));
        for (event, _) in pieces {
            self.event(event)?;
        }
        // The way back stands in the last paragraph.
        let ends_paragraph = self.html.ends_with("</p>\n");
        if ends_paragraph {
            self.html.truncate(self.html.len() - "</p>\n".len());
        }
        for count in 1..=self.references[number - 1] {
            let id = reference_id(number, count);
            self.push(&format!(
                " <a class=\"seen-ink\" href=\"#{id}\" aria-label=\"Back to reference {number}\" style=\"{LINK}\">↩</a>"
            ));
        }
        self.push(if ends_paragraph { "</p></li>\n" } else { "</li>\n" });
        Ok(())
    }

    fn open_link(&mut self, link: &str) {
        let link = escaped(link);
        self.push(&format!(
            "<a class=\"seen-ink\" href=\"{link}\" style=\"{LINK}\">"
        ));
    }

    fn styled(&mut self, element: &str, class: &str, style: &str) {
        self.push(&format!("<{element} class=\"{class}\" style=\"{style}\">"));
    }

    fn text(&mut self, text: &str) {
        match &mut self.picture {
            Some(picture) => picture.alternative.push_str(text),
            None => self.html.push_str(&escaped(text)),
        }
    }

    fn push(&mut self, html: &str) {
        if self.picture.is_none() {
            self.html.push_str(html);
        }
    }
}

/// What a link back to a reference finds it by.
fn reference_id(number: usize, count: usize) -> String {
    match count {
        1 => format!("footnote-ref-{number}"),
        _ => format!("footnote-ref-{number}-{count}"),
    }
}

/// Text and values of attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use url::Url;

    use super::*;

    fn rendered(markdown: &str) -> anyhow::Result<String> {
        let links = SiteLinks::new(Url::parse("https://oculant.example")?, "x");
        render(&Article::parse(markdown), &links)
    }

    #[test]
    fn words_become_html_that_says_nothing_else() -> anyhow::Result<()> {
        // An autolink or a tag of the author's own is refused; `<two>` is one.
        assert!(rendered("One & <two> *three*\n").is_err());
        let html = rendered(
            "One & 2 < 3 *three*\n\n1. `a\"b`\n\n| h |\n|---|\n| c |\n\n![a \"b\"](/p.png \"Said <below>\")\n",
        )?;
        for part in [
            "One &amp; 2 &lt; 3 <em>three</em></p>",
            "<code>a&quot;b</code></li>",
            ">h</th></tr>",
            ">c</td></tr>",
            "<img src=\"https://oculant.example/p.png\" alt=\"a &quot;b&quot;\"",
            ">Said &lt;below&gt;</span></p>",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        Ok(())
    }

    #[test]
    fn footnotes_stand_below_all_else_as_on_the_blog() -> anyhow::Result<()> {
        let html = rendered("One[^b] two[^a] one[^b].\n\n[^a]: Of *two*.\n[^b]: Of one.\n\nThe end.\n")?;
        assert!(!html.contains("[^"), "{html}");
        let places = [
            "id=\"footnote-ref-1\" href=\"#footnote-1\"",
            ">[1]</a></sup> two<sup",
            ">[2]</a></sup> one<sup",
            "id=\"footnote-ref-1-2\" href=\"#footnote-1\"",
            "The end.</p>",
            ">References</h2>",
            "<li id=\"footnote-1\"",
            "Of one. <a",
            "href=\"#footnote-ref-1-2\"",
            "<li id=\"footnote-2\"",
            "Of <em>two</em>. <a",
            "</ol>",
        ];
        let mut rest = html.as_str();
        for place in places {
            let found = rest.split_once(place).map(|(_, after)| after);
            rest = found.with_context(|| format!("{place} is not next in {html}"))?;
        }
        Ok(())
    }

    #[test]
    fn a_link_that_leads_nowhere_is_none() -> anyhow::Result<()> {
        let html = rendered("## Up there\n\nSee [up](#up-there) and [x](javascript:x).\n")?;
        assert!(
            html.contains("<h2 id=\"up-there\"") && html.contains("href=\"#up-there\""),
            "{html}"
        );
        assert!(html.contains("and x.</p>"), "{html}");
        Ok(())
    }
}
