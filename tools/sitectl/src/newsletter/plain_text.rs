//! The plain text of an issue, in lines that every mail program shows.

use std::io::Write as _;

use pulldown_cmark::{Event, Tag, TagEnd};
use tabwriter::TabWriter;

use super::{
    article::{Article, REFERENCES},
    links::SiteLinks,
};

/// The longest line.
const WIDTH: usize = 72;

/// The plain text of an article.
///
/// # Errors
///
/// If a table cannot be written.
pub fn render(article: &Article<'_>, links: &SiteLinks) -> anyhow::Result<String> {
    let mut writer = Writer::new(article);
    for (event, _) in &article.body {
        writer.event(event, links)?;
    }
    writer.end_block();
    if !article.notes.is_empty() {
        writer.block.push_str(REFERENCES);
        writer.end_block();
    }
    for (number, note) in (1..).zip(&article.notes) {
        writer.begin_item(format!("[{number}] "));
        for (event, _) in &note.pieces {
            writer.event(event, links)?;
        }
        writer.end_item();
    }
    Ok(writer.lines.join("\n"))
}

struct Writer<'a> {
    article: &'a Article<'a>,
    /// What is done; an empty one is an empty line.
    lines: Vec<String>,
    block: String,
    /// The number of the next item of each list that is open, where it has numbers.
    lists: Vec<Option<u64>>,
    /// How wide the mark of each item is that is open.
    items: Vec<usize>,
    /// The mark of an item of which nothing stands yet.
    mark: Option<String>,
    /// Whether the last line is of an item, which the next one follows without an empty line.
    follows_item: bool,
    quotes: usize,
    link: Option<String>,
    caption: String,
    is_code: bool,
    /// The rows of the table that is open.
    table: Vec<Vec<String>>,
}

impl<'a> Writer<'a> {
    fn new(article: &'a Article<'a>) -> Self {
        Self {
            article,
            lines: Vec::new(),
            block: String::new(),
            lists: Vec::new(),
            items: Vec::new(),
            mark: None,
            follows_item: false,
            quotes: 0,
            link: None,
            caption: String::new(),
            is_code: false,
            table: Vec::new(),
        }
    }

    fn event(&mut self, event: &Event<'_>, links: &SiteLinks) -> anyhow::Result<()> {
        match event {
            Event::Start(tag) => self.start(tag, links),
            Event::End(tag) => self.end(*tag)?,
            Event::Text(text) | Event::Code(text) => self.block.push_str(text),
            Event::SoftBreak => self.block.push(' '),
            Event::HardBreak => self.block.push('\n'),
            Event::FootnoteReference(label) => {
                let number = self.article.number(label).unwrap_or_default();
                self.block.push_str(&format!("[{number}]"));
            }
            Event::Rule => {
                self.block.push_str("* * *");
                self.end_block();
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: &Tag<'_>, links: &SiteLinks) {
        match tag {
            Tag::List(first) => {
                self.end_block();
                self.lists.push(*first);
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_owned(),
                };
                self.begin_item(mark);
            }
            Tag::BlockQuote(_) => self.quotes += 1,
            Tag::CodeBlock(_) => self.is_code = true,
            Tag::TableHead | Tag::TableRow => self.table.push(Vec::new()),
            Tag::Link { dest_url, .. } => {
                let link = links.link(dest_url).ok();
                // One within the mail is followed by reading on.
                self.link = link.filter(|link| !link.starts_with('#'));
            }
            Tag::Image { title, .. } => {
                self.block.push('[');
                self.caption = title.to_string();
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) -> anyhow::Result<()> {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) => self.end_block(),
            TagEnd::Item => self.end_item(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.follows_item = !self.lists.is_empty();
            }
            TagEnd::BlockQuote(_) => self.quotes -= 1,
            TagEnd::CodeBlock => {
                self.end_block();
                self.is_code = false;
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.block);
                let cell = cell.split_whitespace().collect::<Vec<_>>().join(" ");
                self.table
                    .last_mut()
                    .into_iter()
                    .for_each(|row| row.push(cell.clone()));
            }
            TagEnd::Table => self.end_table()?,
            TagEnd::Image => {
                self.block.push(']');
                let caption = std::mem::take(&mut self.caption);
                if !caption.is_empty() {
                    self.block.push_str(&format!("\n{caption}"));
                }
            }
            TagEnd::Link => {
                if let Some(link) = self.link.take() {
                    self.block.push_str(&format!(" ({link})"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn begin_item(&mut self, mark: String) {
        self.end_block();
        self.items.push(mark.len());
        self.mark = Some(mark);
    }

    fn end_item(&mut self) {
        self.end_block();
        self.items.pop();
        self.mark = None;
    }

    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        if block.trim().is_empty() {
            return;
        }
        let lines = if self.is_code {
            block.trim_end().lines().map(str::to_owned).collect()
        } else {
            wrapped(&block, self.width())
        };
        self.push_block(lines);
    }

    /// A table whose columns fit into the lines, or else an entry for each row, which tells the heading of each cell.
    fn end_table(&mut self) -> anyhow::Result<()> {
        let table = std::mem::take(&mut self.table);
        let lines = columns(&table)?;
        if lines.iter().all(|line| line.chars().count() <= self.width()) {
            self.push_block(lines);
            return Ok(());
        }
        let Some((headings, rows)) = table.split_first() else {
            return Ok(());
        };
        if rows.is_empty() {
            self.push_block(wrapped(&headings.join(" | "), self.width()));
        }
        for row in rows {
            let cells = headings.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
            let cells = cells.map(|(heading, cell)| match heading.as_str() {
                "" => cell.clone(),
                heading => format!("{heading}: {cell}"),
            });
            let width = self.width() - INDENT.len();
            let lines = cells.enumerate().flat_map(|(at, cell)| {
                let lines = wrapped(&cell, width).into_iter().enumerate();
                // All but the beginning of the first cell is indented.
                lines.map(move |(line_at, line)| match (at, line_at) {
                    (0, 0) => line,
                    _ => format!("{INDENT}{line}"),
                })
            });
            let lines = lines.collect();
            self.push_block(lines);
        }
        Ok(())
    }

    fn push_block(&mut self, lines: Vec<String>) {
        let is_item = !self.items.is_empty();
        let is_close = is_item && self.follows_item;
        if !(self.lines.is_empty() || is_close) {
            self.lines.push(String::new());
        }
        self.follows_item = is_item;
        let quotes = "> ".repeat(self.quotes);
        let indent: usize = self.items.iter().sum();
        let further = format!("{quotes}{}", " ".repeat(indent));
        let mut before = match self.mark.take() {
            Some(mark) => format!("{quotes}{}{mark}", " ".repeat(indent - mark.len())),
            None => further.clone(),
        };
        for line in lines {
            self.lines.push(format!("{before}{line}").trim_end().to_owned());
            before.clone_from(&further);
        }
    }

    /// How long a line of a block may be.
    fn width(&self) -> usize {
        let before = self.items.iter().sum::<usize>() + 2 * self.quotes;
        WIDTH.saturating_sub(before).max(WIDTH / 2)
    }
}

/// What stands before the further cells of a row that has lines of its own.
const INDENT: &str = "  ";

/// A table in columns, with a line below its head.
fn columns(table: &[Vec<String>]) -> anyhow::Result<Vec<String>> {
    let mut aligned = TabWriter::new(Vec::new()).minwidth(0).padding(1);
    for row in table {
        // A tab ends a cell; within one there is none.
        writeln!(aligned, "{}", row.join("\t| "))?;
    }
    let aligned = aligned
        .into_inner()
        .map_err(|error| anyhow::anyhow!("{}", error.error()))?;
    let mut lines: Vec<String> = String::from_utf8(aligned)?.lines().map(str::to_owned).collect();
    let width = lines.iter().map(|line| line.chars().count()).max();
    if let Some(width) = width.filter(|_| lines.len() > 1) {
        lines.insert(1, "-".repeat(width));
    }
    Ok(lines)
}

/// Lines of at most so many characters, but for words that are longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut current = String::new();
        for word in line.split_whitespace() {
            let fits = current.chars().count() + 1 + word.chars().count() <= width;
            if !current.is_empty() && !fits {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines
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
        let markdown = "## Start\n\nOne *two*\n[three](https://example.org/).\n\n- a\n- b\n\n> said\n\n![a house](/h.png)\n";
        assert_eq!(
            rendered(markdown)?,
            "Start\n\nOne two three (https://example.org/).\n\n- a\n- b\n\n> said\n\n[a house]"
        );
        let long = rendered(&"word ".repeat(40))?;
        assert!(long.lines().all(|line| line.len() <= WIDTH), "{long}");
        assert_eq!(long.lines().count(), 3);
        Ok(())
    }

    #[test]
    fn items_stand_under_each_other_whatever_is_in_them() -> anyhow::Result<()> {
        let long = "word ".repeat(16);
        let items = rendered(&format!("9. {long}\n10. b\n    - c\n\n      d\n11. e\n\nEnd.\n"))?;
        let wrapped = "word ".repeat(14);
        assert_eq!(
            items,
            format!(
                "9. {}\n   word word\n10. b\n    - c\n      d\n11. e\n\nEnd.",
                wrapped.trim_end()
            )
        );
        Ok(())
    }

    #[test]
    fn footnotes_stand_below_all_else_under_their_numbers() -> anyhow::Result<()> {
        let markdown = "One[^b], two[^a].\n\n[^a]: Of *two*.\n[^b]: Of one, [there](https://example.org/).\n\nThe end.\n";
        assert_eq!(
            rendered(markdown)?,
            "One[1], two[2].\n\nThe end.\n\nReferences\n\n[1] Of one, there (https://example.org/).\n[2] Of two."
        );
        Ok(())
    }

    #[test]
    fn a_table_is_in_columns_where_they_fit_and_else_tells_the_heading_of_each_cell() -> anyhow::Result<()> {
        let narrow = "Before:\n\n| Task | Pixels |\n|---|---:|\n| Watch a crowd | 12.5 |\n| **Detect** `x` | |\n\nAfter.\n";
        assert_eq!(
            rendered(narrow)?,
            "Before:\n\nTask          | Pixels\n----------------------\nWatch a crowd | 12.5\nDetect x      |\n\nAfter."
        );
        let words = "many words ".repeat(6);
        let wide = format!(
            "| Storage | | Mind |\n|---|---|---|\n| On a card | {words} | a thief |\n| In the cloud | | the key[^1] |\n\n[^1]: Yes.\n"
        );
        assert_eq!(
            rendered(&wide)?,
            "Storage: On a card\n  many words many words many words many words many words many words\n  Mind: a thief\n\nStorage: In the cloud\n  Mind: the key[1]\n\nReferences\n\n[1] Yes."
        );
        Ok(())
    }
}
