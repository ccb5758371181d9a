//! Finding of the examination: what was looked at, the verdict, and the remedy.

use anyhow::ensure;
use serde::Serialize;
use serde_json::json;

use crate::output::{print_output, table};

/// What is told of each finding.
const HEADINGS: [&str; 3] = ["VERDICT", "WHAT", "FINDING"];
/// What to do about whatever the set-up mends.
pub const RUN_SETUP: &str = "run `sitectl setup`";

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Finding {
    what: String,
    pub verdict: Verdict,
    says: String,
    #[serde(rename = "todo", skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// Verdict on what was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// It works, but somebody should look.
    Warning,
    /// Something does not work, or will not.
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

    /// What stands under each of [`HEADINGS`].
    pub fn cells(&self) -> [String; 3] {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warning => "warning",
            Verdict::Wrong => "wrong",
        };
        let remedy = self.remedy.iter().map(|remedy| format!("; {remedy}"));
        let says = format!("{}{}", self.says, remedy.collect::<String>());
        [verdict.to_owned(), self.what.clone(), says]
    }
}

/// Tells all findings.
///
/// # Errors
///
/// If something is wrong, once all is told; a warning does not count.
pub fn report(findings: &[Finding], json: bool) -> anyhow::Result<()> {
    let wrong = findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Wrong);
    let wrong = wrong.count();
    let document = json!({ "ok": wrong == 0, "findings": findings });
    print_output(
        json,
        &document,
        table(HEADINGS, findings.iter().map(Finding::cells))?,
    )?;
    ensure!(wrong == 0, "Wrong: {wrong} of {}.", findings.len());
    Ok(())
}
