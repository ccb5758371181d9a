//! Builds that lose something on purpose: what looks for losses must find each.

use std::{
    io::{Write, stdout},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::Context;

use crate::{
    patched_copy::{self, in_the_copy},
    step::{cargo, compile, program, run},
};

/// The patches, each of which makes the product lose something.
const PATCHES: &str = "reliability/broken";
/// How long it may take until what a broken build loses is reported, the build not counted.
const NOTICED_WITHIN: Duration = Duration::from_secs(60);
/// Seconds after which the broker hands out again what was not acknowledged: a broken build is to be found within a minute.
const ACK_WAIT: &str = "10";
/// What the model's report begins with.
const MODEL_REPORT: &str = "The model found";
/// How many sequences the model tries on the copy before it is broken.
const SOUND_SEQUENCES: &str = "300";

/// A way to break the product, and what shows it.
struct Break {
    /// Its patch, by name.
    patch: &'static str,
    /// The row of the harness whose faults bring out what it loses.
    row: &'static str,
    /// What the harness reports then, and the model.
    harness_says: &'static str,
    model_says: &'static str,
}

const BREAKS: [Break; 3] = [
    Break {
        patch: "ack-before-publish",
        row: "broker-away",
        harness_says: "was accepted and is not stored",
        model_says: "what was accepted is not stored",
    },
    Break {
        patch: "note-before-send",
        row: "kill-notifier",
        harness_says: "never delivered",
        model_says: "no mail of it was sent",
    },
    Break {
        patch: "upload-deleted-on-cancel",
        row: "broker-throttle",
        harness_says: "is stored without its whole résumé",
        model_says: "its résumé is gone",
    },
];

/// Breaks a copy of the product on purpose, in one way after the other, and has the model and the harness find each; in the
/// copy as it is they must find nothing.
///
/// # Errors
///
/// Where a patch does not apply, what it makes does not compile, or the model or the harness does not notice it in time, or
/// reports something of a copy that is not broken.
pub fn broken() -> anyhow::Result<()> {
    patched_copy::renew()?;
    build("as it is")?;
    nothing_is_found_as_it_is()?;
    let mut missed = Vec::new();
    for broken in &BREAKS {
        patched_copy::renew()?;
        patched_copy::apply(PATCHES, broken.patch)?;
        build(broken.patch)?;
        for (who, command, report) in [
            (
                "the model",
                model().envs(model_limits()),
                [MODEL_REPORT, broken.model_says],
            ),
            ("the harness", &mut harness(broken.row), ["", broken.harness_says]),
        ] {
            if !is_noticed(broken.patch, who, command, report)? {
                missed.push(format!("{} by {who}", broken.patch));
            }
        }
    }
    patched_copy::renew()?;
    anyhow::ensure!(
        missed.is_empty(),
        "Not noticed within {} s: {}.",
        NOTICED_WITHIN.as_secs(),
        missed.join(", ")
    );
    Ok(())
}

fn build(what: &str) -> anyhow::Result<()> {
    compile(
        &format!("Building the copy's model: {what}"),
        model().arg("--no-run"),
    )?;
    compile(
        &format!("Building the copy: {what}"),
        &mut in_the_copy(cargo(&["build", "--quiet", "--workspace", "--bins"])),
    )
}

fn nothing_is_found_as_it_is() -> anyhow::Result<()> {
    let words =
        "The copy is not broken: what stands above is a fault of the product, or of what looks for one.";
    run(
        "The model, of the copy as it is",
        model().env("MODEL_SEQUENCES", SOUND_SEQUENCES),
        words,
    )?;
    for broken in &BREAKS {
        let what = format!("The harness, of the copy as it is: {}", broken.row);
        run(&what, &mut harness(broken.row), words)?;
    }
    Ok(())
}

/// Whether this reports what the broken build loses, in these words and in time. A run whose faults happened to strike where nothing
/// could be lost is followed by another one, while there is time.
fn is_noticed(patch: &str, who: &str, command: &mut Command, report: [&str; 2]) -> anyhow::Result<bool> {
    let started = Instant::now();
    let mut out = stdout();
    loop {
        let output = command.output().with_context(|| format!("{who} cannot be run"))?;
        let took = started.elapsed();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let is_reported = !output.status.success() && report.iter().all(|words| said.contains(words));
        if is_reported {
            let mut lines = said.lines();
            let words = lines.find(|line| line.contains(report[1])).unwrap_or_default();
            let seconds = took.as_secs_f64();
            writeln!(
                out,
                "  {patch}: noticed by {who} after {seconds:.1} s: {}",
                words.trim()
            )?;
            return Ok(took <= NOTICED_WITHIN);
        }
        if took > NOTICED_WITHIN {
            writeln!(out, "{said}\n  {patch}: not noticed by {who}")?;
            return Ok(false);
        }
    }
}

fn model_limits() -> [(&'static str, String); 2] {
    [
        ("MODEL_SEQUENCES", "1000000".to_owned()),
        ("MODEL_SECONDS", NOTICED_WITHIN.as_secs().to_string()),
    ]
}

/// The harness, with the broken copy's programs.
fn harness(row: &str) -> Command {
    let program = program(patched_copy::built("chaos"), &[row, "--ack-wait", ACK_WAIT]);
    in_the_copy(program)
}

/// The model's test, of the broken copy.
fn model() -> Command {
    in_the_copy(cargo(&[
        "test",
        "--quiet",
        "--package=reliability",
        "--test=model",
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_patch_that_breaks_the_product_still_applies() {
        patched_copy::ensure_each_applies(PATCHES, &BREAKS.map(|broken| broken.patch));
    }
}
