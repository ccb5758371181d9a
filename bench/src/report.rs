//! The table of a bench, and the same as JSON.

use std::{
    fs,
    io::{Write, stdout},
};

use anyhow::Context;
use serde::Serialize;
use testkit::root;

/// What others may take of the processors, so that rates can be compared with those of another run.
const QUIET: f64 = 0.1;

/// What a bench found.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Which bench.
    pub what: &'static str,
    /// What the contenders share, and what is not as it would be in production.
    pub shared: &'static str,
    /// The share of the machine's processors that others took before or after it, whichever was more.
    pub taken_by_others: f64,
    /// Heads of the columns.
    pub columns: Vec<&'static str>,
    /// A line of the table each.
    pub rows: Vec<Row>,
    /// What must hold, or is to.
    pub bars: Vec<Bar>,
}

/// A line of the table.
#[derive(Serialize)]
pub struct Row {
    /// As they are printed, one for each column.
    #[serde(skip)]
    pub cells: Vec<String>,
    /// The same as numbers with names.
    pub values: serde_json::Value,
}

/// A share that is compared with what is wanted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bar {
    /// What is compared.
    pub what: String,
    /// What was seen.
    pub seen: f64,
    /// The least that is wanted.
    pub least: f64,
    /// Whether to miss it is a failure: not where it is still to be reached.
    pub must_hold: bool,
}

impl Bar {
    fn is_missed(&self) -> bool {
        self.seen < self.least
    }

    fn outcome(&self) -> &'static str {
        match (self.is_missed(), self.must_hold) {
            (false, _) => "holds",
            (true, true) => "missed",
            (true, false) => "still to be reached",
        }
    }
}

impl Report {
    /// Whether every bar holds that must, as far as this run can tell.
    pub fn holds(&self) -> bool {
        !self.is_quiet() || !self.bars.iter().any(|bar| bar.must_hold && bar.is_missed())
    }

    fn is_quiet(&self) -> bool {
        self.taken_by_others <= QUIET
    }

    /// Prints the table, and writes the JSON to `target/bench`.
    ///
    /// # Errors
    ///
    /// If nobody reads stdout any more, or the file cannot be written.
    pub fn publish(&self) -> anyhow::Result<()> {
        let folder = root().join("target/bench");
        fs::create_dir_all(&folder)?;
        let file = folder.join(format!("{}.json", self.what));
        fs::write(&file, serde_json::to_string_pretty(self)?)
            .with_context(|| format!("{} cannot be written", file.display()))?;
        Ok(write!(stdout(), "{}", self.text())?)
    }

    fn judgement(&self) -> String {
        let taken = self.taken_by_others * 100.0;
        if self.is_quiet() {
            format!("Others took {taken:.0} % of the processors' time.")
        } else {
            format!(
                "Others took {taken:.0} % of the processors' time: no bar is judged, and rates are too low."
            )
        }
    }

    fn text(&self) -> String {
        let table = table(&self.columns, self.rows.iter().map(|row| &row.cells));
        let mut lines = vec![table, self.shared.to_owned(), self.judgement()];
        lines.extend(self.bars.iter().map(|bar| {
            let Bar {
                what, seen, least, ..
            } = bar;
            format!("bar: {what}: {seen:.2}, at least {least:.2}: {}", bar.outcome())
        }));
        lines.join("\n") + "\n"
    }
}

/// A table in Markdown.
pub fn table<R: AsRef<[String]>>(columns: &[&str], rows: impl IntoIterator<Item = R>) -> String {
    let rule: Vec<&str> = columns.iter().map(|_| "---").collect();
    let mut lines = vec![line(columns), line(&rule)];
    lines.extend(rows.into_iter().map(|row| line(row.as_ref())));
    lines.join("\n") + "\n"
}

fn line<T: AsRef<str>>(cells: &[T]) -> String {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(seen: f64, must_hold: bool) -> Report {
        Report {
            what: "accept",
            shared: "Two cores.",
            taken_by_others: 0.02,
            columns: vec!["contender", "a second"],
            rows: vec![Row {
                cells: vec!["ours".to_owned(), "3200".to_owned()],
                values: serde_json::json!({ "contender": "ours", "perSecond": 3200.0 }),
            }],
            bars: vec![Bar {
                what: "ours of its peer".to_owned(),
                seen,
                least: 0.5,
                must_hold,
            }],
        }
    }

    #[test]
    fn only_a_bar_that_must_hold_can_fail() {
        assert!(report(0.5, true).holds());
        assert!(!report(0.4, true).holds());
        assert!(report(0.4, false).holds());
    }

    #[test]
    fn beside_others_nothing_is_judged_and_the_table_says_so() {
        let beside_compilers = Report {
            taken_by_others: 0.6,
            ..report(0.4, true)
        };
        assert!(beside_compilers.holds());
        assert!(beside_compilers.text().contains("Others took 60 %"));
        assert!(beside_compilers.text().contains("no bar is judged"));
    }

    #[test]
    fn the_table_says_what_is_shared_and_how_each_bar_stands() {
        assert_eq!(
            report(0.4, false).text(),
            "| contender | a second |\n| --- | --- |\n| ours | 3200 |\n\nTwo cores.\nOthers took 2 % of the processors' time.\n\
             bar: ours of its peer: 0.40, at least 0.50: still to be reached\n"
        );
    }
}
