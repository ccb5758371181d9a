//! The HTML of an issue. Mail programs drop style sheets and know few elements, so that each has its style with it; the classes are
//! for the dark ones in the frame that every mail has.

use std::collections::BTreeSet;

use anyhow::bail;
use pulldown_cmark::{Alignment, CowStr, Event, HeadingLevel, LinkType, Tag, TagEnd, html::push_html};

use super::{
    article::{Article, Piece, REFERENCES},
    links::{Picture, SiteLinks},
};

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
a class="seen-ink" style="color:#7a4b00""#;
const PICTURE_IN_WORDS: &str =
    r#"<span class="ink-2" style="display:block;padding:12px 16px;border:1px solid #d9d2c4;color:#48535f">"#;
const CAPTION: &str =
    r#"<span class="ink-2" style="display:block;margin:8px 0 0;font-size:14px;color:#48535f">"#;

/// The HTML of an article.
///
/// # Errors
///
/// If it holds HTML of its own or a picture of another site.
pub fn render(article: &Article<'_>, links: &SiteLinks) -> anyhow::Result<String> {
    let mut writer = Writer {
        article,
        links,
        events: Vec::new(),
        is_link: false,
        picture: None,
        referred_to: BTreeSet::new(),
    };
    for (event, _) in &article.body {
        writer.event(event)?;
    }
    writer.notes()?;
    let mut html = String::new();
    push_html(&mut html, writer.events.into_iter());
    // All else that looks like an element is escaped by now.
    for element in ATTRIBUTES.lines() {
        let name = element.split(' ').next().unwrap_or_default();
        for end in [" ", ">"] {
            html = html.replace(&format!("<{name}{end}"), &format!("<{element}{end}"));
        }
    }
    Ok(html)
}

struct Writer<'a> {
    article: &'a Article<'a>,
    links: &'a SiteLinks,
    events: Vec<Event<'a>>,
    /// Whether a link is open. One that leads nowhere is none.
    is_link: bool,
    /// The picture that is open, and its caption.
    picture: Option<(Picture, CowStr<'a>)>,
    /// The numbers of the footnotes that were referred to.
    referred_to: BTreeSet<usize>,
}

impl<'a> Writer<'a> {
    fn event(&mut self, event: &Event<'a>) -> anyhow::Result<()> {
        let event = match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                bail!(
                    "it holds HTML ({}), which no mail is made of: write it as Markdown",
                    html.trim()
                )
            }
            Event::FootnoteReference(label) => {
                self.reference(self.article.number(label));
                return Ok(());
            }
            Event::Start(Tag::Heading { id, .. }) => Event::Start(Tag::Heading {
                level: HeadingLevel::H2,
                id: id.clone(),
                classes: Vec::new(),
                attrs: Vec::new(),
            }),
            Event::End(TagEnd::Heading(_)) => Event::End(TagEnd::Heading(HeadingLevel::H2)),
            Event::Start(Tag::Table(columns)) => {
                Event::Start(Tag::Table(vec![Alignment::None; columns.len()]))
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                if let Ok(link) = self.links.link(dest_url) {
                    self.is_link = true;
                    self.events.push(open_link(link));
                }
                return Ok(());
            }
            Event::End(TagEnd::Link) if !std::mem::take(&mut self.is_link) => return Ok(()),
            Event::Start(Tag::Image { dest_url, title, .. }) => {
                let picture = self.links.picture(dest_url)?;
                self.begin_picture(picture, title.clone());
                return Ok(());
            }
            Event::End(TagEnd::Image) => {
                self.end_picture();
                return Ok(());
            }
            event => event.clone(),
        };
        self.events.push(event);
        Ok(())
    }

    fn reference(&mut self, number: usize) {
        let is_first = self.referred_to.insert(number);
        let id = is_first.then(|| format!(" id=\"footnote-ref-{number}\""));
        let id = id.unwrap_or_default();
        self.html(format!(
            "<sup style=\"font-size:75%;line-height:0\"><a{id} href=\"#footnote-{number}\">[{number}]</a></sup>"
        ));
    }

    fn begin_picture(&mut self, picture: Picture, caption: CowStr<'a>) {
        match &picture {
            Picture::At(address) => self.events.push(Event::Start(Tag::Image {
                link_type: LinkType::Inline,
                dest_url: address.to_string().into(),
                title: "".into(),
                id: "".into(),
            })),
            Picture::Words | Picture::Missing => self.html(PICTURE_IN_WORDS),
        }
        self.picture = Some((picture, caption));
    }

    /// Below a picture, or the box with its words, stands its caption.
    fn end_picture(&mut self) {
        let Some((picture, caption)) = self.picture.take() else {
            return;
        };
        if matches!(picture, Picture::At(_)) {
            self.events.push(Event::End(TagEnd::Image));
        }
        if !caption.is_empty() {
            self.html(CAPTION);
            self.events.push(Event::Text(caption));
            self.html("</span>");
        }
        if let Some(web) = self.links.web().filter(|_| picture == Picture::Words) {
            let words = Event::Text("See it on the web".into());
            let link = [
                Event::Text(" ".into()),
                open_link(web),
                words,
                Event::End(TagEnd::Link),
            ];
            self.events.extend(link);
        }
        if !matches!(picture, Picture::At(_)) {
            self.html("</span>");
        }
    }

    /// The footnotes, below all else.
    fn notes(&mut self) -> anyhow::Result<()> {
        let article = self.article;
        if article.notes.is_empty() {
            return Ok(());
        }
        let id = REFERENCES.to_lowercase();
        self.html(format!("<h2 id=\"{id}\">{REFERENCES}</h2>\n<ol>\n"));
        for (number, (_, pieces)) in (1..).zip(&article.notes) {
            self.note(number, pieces)?;
        }
        self.html("</ol>\n");
        Ok(())
    }

    fn note(&mut self, number: usize, pieces: &[Piece<'a>]) -> anyhow::Result<()> {
        self.html(format!("<li id=\"footnote-{number}\">"));
        for (event, _) in pieces {
            self.event(event)?;
        }
        // The way back stands in the last paragraph.
        let end = self
            .events
            .pop_if(|event| *event == Event::End(TagEnd::Paragraph));
        self.html(format!(
            " <a href=\"#footnote-ref-{number}\" aria-label=\"Back to reference {number}\">↩</a>"
        ));
        self.events.extend(end);
        self.html("</li>\n");
        Ok(())
    }

    fn html(&mut self, html: impl Into<CowStr<'a>>) {
        self.events.push(Event::Html(html.into()));
    }
}

fn open_link(link: String) -> Event<'static> {
    Event::Start(Tag::Link {
        link_type: LinkType::Inline,
        dest_url: link.into(),
        title: "".into(),
        id: "".into(),
    })
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
    fn footnotes_stand_below_all_else_as_on_the_blog() -> anyhow::Result<()> {
        let html = rendered("One[^b] two[^a] one[^b].\n\n[^a]: Of *two*.\n[^b]: Of one.\n\nThe end.\n")?;
        assert!(!html.contains("[^"), "{html}");
        let places = [
            "id=\"footnote-ref-1\" href=\"#footnote-1\"",
            ">[1]</a></sup> two<sup",
            ">[2]</a></sup> one<sup",
            "href=\"#footnote-1\"",
            "The end.</p>",
            ">References</h2>",
            "id=\"footnote-1\"",
            "Of one. <a",
            "href=\"#footnote-ref-1\"",
            "id=\"footnote-2\"",
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
            html.contains("id=\"up-there\">Up there</h2>") && html.contains("href=\"#up-there\""),
            "{html}"
        );
        assert!(html.contains("and x.</p>"), "{html}");
        Ok(())
    }
}
