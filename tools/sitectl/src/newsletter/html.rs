//! The HTML of an issue. Mail programs drop style sheets and know few elements, so that each has its style with it; the classes are
//! for the dark ones in the frame that every mail has.

use std::fmt::Write as _;

use anyhow::bail;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::links::SiteLinks;

const HEADING: &str = "margin:28px 0 12px;font-weight:600;font-size:21px;line-height:1.25;color:#12181f";
const PARAGRAPH: &str = "margin:0 0 16px;color:#12181f";
const QUOTE: &str = "margin:0 0 16px;padding:0 0 0 16px;border-left:3px solid #f2a900;color:#48535f";
const LIST: &str = "margin:0 0 16px;padding-left:24px;color:#12181f";
const CELL: &str = "padding:8px 12px 8px 0;border-top:1px solid #d9d2c4;text-align:left;vertical-align:top";
const PICTURE: &str = "display:block;max-width:100%;height:auto;border:0";
const LINK: &str = "color:#7a4b00";

/// What Markdown may hold beside its basics.
pub const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH);

/// The HTML of these words.
///
/// # Errors
///
/// If they hold HTML of their own, a link that leads nowhere or a picture of another site.
pub fn render(markdown: &str, links: &SiteLinks) -> anyhow::Result<String> {
    let mut writer = Writer {
        links,
        html: String::new(),
        alternative: None,
        is_head: false,
    };
    for event in Parser::new_ext(markdown, OPTIONS) {
        writer.event(event)?;
    }
    Ok(writer.html)
}

struct Writer<'a> {
    links: &'a SiteLinks,
    html: String,
    /// The address of the picture that is being read, and the words in its place.
    alternative: Option<(String, String)>,
    is_head: bool,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>) -> anyhow::Result<()> {
        match event {
            Event::Start(tag) => self.start(tag)?,
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => {
                self.push("<code>");
                self.text(&code);
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
            Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: Tag<'_>) -> anyhow::Result<()> {
        match tag {
            Tag::Paragraph => self.styled("p", "ink", PARAGRAPH),
            Tag::Heading { .. } => self.styled("h2", "ink", HEADING),
            Tag::BlockQuote(_) => self.styled("blockquote", "ink-2", QUOTE),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.push("<pre style=\"margin:0 0 16px;white-space:pre-wrap;font-size:14px\">");
            }
            Tag::List(Some(first)) => {
                writeln!(self.html, "<ol class=\"ink\" start=\"{first}\" style=\"{LIST}\">")?;
            }
            Tag::List(None) => self.styled("ul", "ink", LIST),
            Tag::Item => self.push("<li style=\"margin:0 0 6px\">"),
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
                let link = escaped(&self.links.link(&dest_url)?);
                write!(
                    self.html,
                    "<a class=\"seen-ink\" href=\"{link}\" style=\"{LINK}\">"
                )?;
            }
            Tag::Image { dest_url, .. } => {
                self.alternative = Some((self.links.picture(&dest_url)?, String::new()));
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
            TagEnd::Link => self.push("</a>"),
            TagEnd::Image => {
                if let Some((picture, words)) = self.alternative.take() {
                    let (picture, words) = (escaped(&picture), escaped(&words));
                    self.push(&format!(
                        "<img src=\"{picture}\" alt=\"{words}\" style=\"{PICTURE}\">"
                    ));
                }
            }
            _ => {}
        }
    }

    fn styled(&mut self, element: &str, class: &str, style: &str) {
        self.push(&format!("<{element} class=\"{class}\" style=\"{style}\">"));
    }

    fn text(&mut self, text: &str) {
        match &mut self.alternative {
            Some((_, words)) => words.push_str(text),
            None => self.html.push_str(&escaped(text)),
        }
    }

    fn push(&mut self, html: &str) {
        if self.alternative.is_none() {
            self.html.push_str(html);
        }
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
    use url::Url;

    use super::*;

    #[test]
    fn words_become_html_that_says_nothing_else() -> anyhow::Result<()> {
        let links = SiteLinks::new(Url::parse("https://oculant.example")?, "x");
        let html = render(
            "One & <two> *three*\n\n1. `a\"b`\n\n| h |\n|---|\n| c |\n\n![a \"b\"](/p.png)\n",
            &links,
        );
        // An autolink or a tag of the author's own is refused elsewhere; `<two>` is one.
        assert!(html.is_err());
        let html = render(
            "One & 2 < 3 *three*\n\n1. `a\"b`\n\n| h |\n|---|\n| c |\n\n![a \"b\"](/p.png)\n",
            &links,
        )?;
        for part in [
            "One &amp; 2 &lt; 3 <em>three</em></p>",
            "<code>a&quot;b</code></li>",
            ">h</th></tr>",
            ">c</td></tr>",
            "<img src=\"https://oculant.example/p.png\" alt=\"a &quot;b&quot;\"",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        Ok(())
    }
}
