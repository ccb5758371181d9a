//! `bench instructions`: how many instructions and allocations each path takes, held against what is written down.
//!
//! Counts depend little on the machine's speed and on what else it does, allocations of an upload most, so that a test can hold them: see
//! [`figures`]. [`path`] is what is counted, [`callgrind`] counts it.

mod callgrind;
mod figures;
mod path;

use std::{
    fs,
    io::{Write, stdout},
};

use clap::{Args, ValueEnum};
use testkit::root;

use self::{
    figures::{Cost, Figures, Toolchain},
    path::Path,
};
use crate::report;

/// Written beside the table, as other benches do.
const REPORT: &str = "target/bench/instructions.json";
const COLUMNS: [&str; 5] = [
    "path",
    "instructions",
    "written down",
    "allocations",
    "written down",
];

/// What is counted.
#[derive(Args)]
pub struct InstructionsArgs {
    /// Which paths, all without any
    #[arg(value_enum)]
    paths: Vec<Path>,
    /// Writes the figures down instead of holding them against those that are
    #[arg(long)]
    write: bool,
}

/// Counts each path, and says whether all take what is written down.
///
/// # Errors
///
/// If something does not start, work is refused, or the figures cannot be read or written.
pub async fn instructions(args: &InstructionsArgs) -> anyhow::Result<bool> {
    let paths = match args.paths.as_slice() {
        [] => Path::value_variants(),
        named => named,
    };
    let mut counted = Figures::none(Toolchain::installed().await?);
    for path in paths {
        counted.insert(path.name(), path.count().await?);
    }
    let written = Figures::read()?;
    fs::write(root().join(REPORT), serde_json::to_string_pretty(&counted)?)?;
    write!(stdout(), "{}", table(&written, &counted))?;
    if args.write {
        written.with(&counted).write()?;
        return Ok(true);
    }
    if let Some(why) = written.why_incomparable(&counted) {
        writeln!(stdout(), "{why}")?;
        return Ok(true);
    }
    let faults = written.faults(&counted);
    for fault in &faults {
        writeln!(stdout(), "{fault}")?;
    }
    Ok(faults.is_empty())
}

fn table(written: &Figures, counted: &Figures) -> String {
    let rows = counted.paths().map(|(path, cost)| {
        let before = written.of(path);
        let cell = |pick: fn(Cost) -> u64| before.map(|cost| pick(cost).to_string()).unwrap_or_default();
        vec![
            path.to_owned(),
            cost.instructions.to_string(),
            cell(|cost| cost.instructions),
            cost.allocations.to_string(),
            cell(|cost| cost.allocations),
        ]
    });
    report::table(&COLUMNS, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_path_costs_is_written_down() {
        let written = Figures::read().expect("figures");
        for path in Path::value_variants() {
            let cost = written.of(path.name()).expect("a cost");
            assert!(cost.instructions > 0 && cost.allocations > 0, "{}", path.name());
        }
    }
}
