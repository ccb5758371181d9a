//! `cargo xtask security`: security measures are taken out of a copy of the checkout, one at a time, and the test that
//! `docs/security.md` names for each must fail.

#[cfg(test)]
mod page;

use std::{
    io::{Write, stdout},
    time::{Duration, Instant},
};

use anyhow::Context;
use clap::Args;

use crate::{
    patched_copy::{self, in_the_copy},
    step::cargo,
    tools::{self, Tool},
};

/// The patches, each of which takes out one measure.
const PATCHES: &str = "security/removed";

/// Which measures are taken out.
#[derive(Args)]
pub struct SecurityArgs {
    /// Measures, by name or part of one; without any, all of them
    measures: Vec<String>,
    /// Names the measures and their tests
    #[arg(long)]
    list: bool,
}

/// A measure that can be taken out, and the test that misses it.
struct Measure {
    /// Its patch, by name.
    patch: &'static str,
    /// The requirement of OWASP ASVS that it serves, as in `docs/security.md`.
    requirement: &'static str,
    package: &'static str,
    tests: Tests,
    /// The test, with its modules.
    test: &'static str,
}

/// Which of a package's tests.
#[derive(Clone, Copy)]
enum Tests {
    /// Those beside the code.
    Unit,
    /// Those in `tests/it`.
    Integration,
}

/// What lies upon others first, so that little is compiled for each.
const MEASURES: [Measure; 14] = [
    Measure {
        patch: "html-escaping-of-form-values",
        requirement: "1.2.1",
        package: "gateway",
        tests: Tests::Unit,
        test: "form_pages::filling::tests::what_was_entered_is_text_wherever_it_stands",
    },
    Measure {
        patch: "cross-site-form-check",
        requirement: "3.5.1",
        package: "gateway",
        tests: Tests::Unit,
        test: "csrf::tests::only_what_a_browser_calls_cross_site_is_refused_and_no_allowed_origin",
    },
    Measure {
        patch: "forwarded-for-fails-closed",
        requirement: "4.1.3",
        package: "gateway",
        tests: Tests::Unit,
        test: "address::tests::with_fewer_entries_than_proxies_it_is_the_peers_own_address",
    },
    Measure {
        patch: "rate-limit-of-mailed-links",
        requirement: "2.4.1",
        package: "gateway",
        tests: Tests::Integration,
        test: "links::the_links_of_mails_may_be_followed_so_often_from_one_address_and_from_others_meanwhile",
    },
    Measure {
        patch: "nosniff-header",
        requirement: "3.4.4",
        package: "gateway",
        tests: Tests::Integration,
        test: "answers::every_answer_carries_the_security_headers",
    },
    Measure {
        patch: "smtp-certificate-check",
        requirement: "12.3.2",
        package: "notifier",
        tests: Tests::Integration,
        test: "tls::a_server_that_has_no_certificate_of_its_host_gets_nothing",
    },
    Measure {
        patch: "webhook-private-addresses",
        requirement: "1.3.6",
        package: "webhooks",
        tests: Tests::Unit,
        test: "addresses::tests::our_own_and_private_addresses_are_not_public",
    },
    Measure {
        patch: "zip-entry-budget",
        requirement: "5.2.3",
        package: "careers",
        tests: Tests::Unit,
        test: "resume::tests::a_crowded_archive_is_refused_by_what_its_end_says",
    },
    Measure {
        patch: "broker-account-rights",
        requirement: "13.2.2",
        package: "site-broker",
        tests: Tests::Integration,
        test: "rights::each_user_is_answered_about_its_own_streams_and_may_change_none",
    },
    Measure {
        patch: "no-rollup-header",
        requirement: "13.2.2",
        package: "site-broker",
        tests: Tests::Integration,
        test: "rollups::no_message_removes_others_by_a_header_wherever_a_service_may_write",
    },
    Measure {
        patch: "safe-file-names",
        requirement: "5.4.2",
        package: "resumes",
        tests: Tests::Unit,
        test: "file_name::tests::a_file_name_cannot_leave_its_folder_or_its_header",
    },
    Measure {
        patch: "secret-not-in-error",
        requirement: "16.2.5",
        package: "site-service",
        tests: Tests::Unit,
        test: "settings::tests::a_wrong_secret_is_named_but_not_shown",
    },
    Measure {
        patch: "token-purpose",
        requirement: "9.2.2",
        package: "visitor",
        tests: Tests::Unit,
        test: "token::tests::a_token_is_good_for_its_own_purpose_only",
    },
    Measure {
        patch: "key-length",
        requirement: "11.2.3",
        package: "visitor",
        tests: Tests::Unit,
        test: "person::tests::a_short_key_is_refused",
    },
];

/// Takes measures out, one at a time, and has the test of each miss it; in the copy as it is they must pass.
///
/// # Errors
///
/// Where a patch does not apply, what it makes does not compile, or a test passes without its measure, or fails with it.
pub fn security(args: &SecurityArgs) -> anyhow::Result<()> {
    let is_named = |measure: &&Measure| {
        let mut words = args.measures.iter();
        args.measures.is_empty() || words.any(|word| measure.patch.contains(word.as_str()))
    };
    let measures: Vec<&Measure> = MEASURES.iter().filter(is_named).collect();
    anyhow::ensure!(!measures.is_empty(), "There is no such measure; see --list.");
    if args.list {
        return list(&measures);
    }
    tools::ensure_tools(&[Tool::NatsServer])?;
    patched_copy::renew()?;
    for measure in &measures {
        let passes = measure.test_passes()?;
        anyhow::ensure!(passes, "{} fails in the copy as it is.", measure.test);
    }
    let mut rows = Vec::new();
    for measure in &measures {
        patched_copy::renew()?;
        patched_copy::apply(PATCHES, measure.patch)?;
        let started = Instant::now();
        let is_missed = !measure.test_passes()?;
        rows.push(measure.row(is_missed, started.elapsed()));
    }
    patched_copy::renew()?;
    report(&rows)
}

fn list(measures: &[&Measure]) -> anyhow::Result<()> {
    for measure in measures {
        writeln!(stdout(), "{}: {}", measure.patch, measure.test)?;
    }
    Ok(())
}

/// A row of the report.
struct Row {
    text: String,
    is_missed: bool,
}

/// Prints what became of each measure.
///
/// # Errors
///
/// If one was not missed.
fn report(rows: &[Row]) -> anyhow::Result<()> {
    writeln!(
        stdout(),
        "\n| measure taken out | requirement | test | it fails | s |\n|---|---|---|---|---|"
    )?;
    for Row { text, .. } in rows {
        writeln!(stdout(), "{text}")?;
    }
    anyhow::ensure!(
        rows.iter().all(|row| row.is_missed),
        "A test passes without the measure that it is for."
    );
    Ok(())
}

impl Measure {
    fn row(&self, is_missed: bool, took: Duration) -> Row {
        let name = self.test.rsplit("::").next().unwrap_or_default();
        let (requirement, fails) = (self.requirement, if is_missed { "yes" } else { "NO" });
        Row {
            text: format!(
                "| {} | {requirement} | {name} | {fails} | {} |",
                self.patch,
                took.as_secs()
            ),
            is_missed,
        }
    }

    /// Whether its test passes in the copy.
    ///
    /// # Errors
    ///
    /// If the test does not run, because the copy does not compile for instance.
    fn test_passes(&self) -> anyhow::Result<bool> {
        let target: &[&str] = match self.tests {
            Tests::Unit => &["--lib"],
            Tests::Integration => &["--test", "it"],
        };
        writeln!(stdout(), "▸ {}: {}", self.package, self.test)?;
        let mut command = in_the_copy(cargo(&["test", "--package", self.package]));
        command.args(target).args(["--", "--exact", self.test]);
        let output = command.output().context("cargo cannot be run")?;
        let said = String::from_utf8_lossy(&output.stdout);
        if said.contains("test result: ok. 1 passed; 0 failed") {
            return Ok(true);
        }
        anyhow::ensure!(
            said.contains("test result: FAILED. 0 passed; 1 failed"),
            "{said}{}\nThe test did not run: what stands above says why.",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_patch_that_takes_a_measure_out_still_applies() {
        patched_copy::ensure_each_applies(PATCHES, &MEASURES.map(|measure| measure.patch));
    }
}
