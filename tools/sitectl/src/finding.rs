//! Finding of a check, with its verdict and remedy.

use anyhow::ensure;
use serde::Serialize;
use serde_json::{Value, json};

use crate::output::{Column, print_output, table};

const COLUMNS: [Column; 4] = [
    ("VERDICT", "verdict"),
    ("WHAT", "what"),
    ("FINDING", "says"),
    ("TODO", "todo"),
];
/// Remedy for problems that `setup` repairs.
pub const RUN_SETUP: &str = "run `sitectl setup`";

#[derive(Debug, Serialize)]
pub struct Finding {
    what: String,
    pub verdict: Verdict,
    pub says: String,
    #[serde(rename = "todo", skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Ok,
    /// It works, but needs attention.
    Warning,
    /// It does not work, or will fail.
    Wrong,
}

impl Finding {
    pub fn ok(what: impl Into<String>, says: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            verdict: Verdict::Ok,
            says: says.into(),
            remedy: None,
        }
    }

    pub fn warning(what: impl Into<String>, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Warning,
            remedy: Some(remedy.into()),
            ..Self::ok(what, says)
        }
    }

    pub fn wrong(what: impl Into<String>, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Wrong,
            ..Self::warning(what, says, remedy)
        }
    }
}

/// # Errors
///
/// If a finding has the verdict `wrong`. A warning is no error.
pub fn report(findings: &[Finding], json: bool) -> anyhow::Result<()> {
    let is_wrong = |finding: &&Finding| finding.verdict == Verdict::Wrong;
    let wrong = findings.iter().filter(is_wrong).count();
    let rows: Vec<Value> = findings.iter().map(|finding| json!(finding)).collect();
    let lines = table(&COLUMNS, &rows, "Nothing was checked.")?;
    print_output(json, &json!({ "ok": wrong == 0, "findings": rows }), lines)?;
    ensure!(wrong == 0, "Wrong: {wrong} of {}.", findings.len());
    Ok(())
}
