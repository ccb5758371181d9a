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
    what: &'static str,
    /// What the contenders share, and what is not as it would be in production.
    shared: &'static str,
    /// The share of the machine's processors that others took before or after it, whichever was more.
    pub taken_by_others: f64,
    columns: Vec<&'static str>,
    rows: Vec<Row>,
    /// What must hold.
    pub bars: Vec<Bar>,
}

/// A line of the table.
#[derive(Serialize)]
pub struct Row {
    #[serde(skip)]
    cells: Vec<String>,
    values: serde_json::Value,
}

/// What was measured, as a line of the table: as JSON it is what it serializes as.
pub trait Measured: Serialize {
    /// As they are printed, one for each column.
    fn cells(&self) -> Vec<String>;

    /// What it must reach, if anything.
    fn bar(&self) -> Option<Bar> {
        None
    }
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
}

impl Bar {
    fn is_missed(&self) -> bool {
        self.seen < self.least
    }

    fn outcome(&self) -> &'static str {
        if self.is_missed() { "missed" } else { "holds" }
    }
}

impl Report {
    /// Of what was measured, a line each.
    pub fn of<M: Measured>(
        what: &'static str,
        shared: &'static str,
        columns: &[&'static str],
        measured: &[M],
    ) -> Self {
        let row = |measured: &M| Row {
            cells: measured.cells(),
            values: serde_json::json!(measured),
        };
        Self {
            what,
            shared,
            taken_by_others: 0.0,
            columns: columns.to_vec(),
            rows: measured.iter().map(row).collect(),
            bars: measured.iter().filter_map(M::bar).collect(),
        }
    }

    /// Whether every bar holds, as far as this run can tell.
    pub fn holds(&self) -> bool {
        !self.is_quiet() || !self.bars.iter().any(Bar::is_missed)
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
            let Bar { what, seen, least } = bar;
            format!("bar: {what}: {seen:.2}, at least {least:.2}: {}", bar.outcome())
        }));
        lines.join("\n") + "\n"
    }
}

/// A share as it stands in a table, where there is one.
pub fn percent(share: Option<f64>) -> String {
    share
        .map(|share| format!("{:.0} %", share * 100.0))
        .unwrap_or_default()
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

    /// Ours, with this share of its peer's rate.
    #[derive(Serialize)]
    struct Ours {
        share: f64,
    }

    impl Measured for Ours {
        fn cells(&self) -> Vec<String> {
            vec!["ours".to_owned(), percent(Some(self.share))]
        }

        fn bar(&self) -> Option<Bar> {
            Some(Bar {
                what: "ours of its peer".to_owned(),
                seen: self.share,
                least: 0.5,
            })
        }
    }

    fn report(share: f64) -> Report {
        let columns = ["contender", "of its peer"];
        Report {
            taken_by_others: 0.02,
            ..Report::of("accept", "Two cores.", &columns, &[Ours { share }])
        }
    }

    #[test]
    fn a_bar_that_is_missed_fails() {
        assert!(report(0.5).holds());
        assert!(!report(0.4).holds());
    }

    #[test]
    fn beside_others_nothing_is_judged_and_the_table_says_so() {
        let beside_compilers = Report {
            taken_by_others: 0.6,
            ..report(0.4)
        };
        assert!(beside_compilers.holds());
        assert!(beside_compilers.text().contains("Others took 60 %"));
        assert!(beside_compilers.text().contains("no bar is judged"));
    }

    #[test]
    fn the_table_says_what_is_shared_and_how_each_bar_stands() {
        assert_eq!(
            report(0.4).text(),
            "| contender | of its peer |\n| --- | --- |\n| ours | 40 % |\n\nTwo cores.\nOthers took 2 % of the processors' time.\n\
             bar: ours of its peer: 0.40, at least 0.50: missed\n"
        );
        assert!(report(0.5).text().ends_with(": holds\n"));
    }
}
