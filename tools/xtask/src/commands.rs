//! `cargo xtask commands`: runs every command that the documents name, so that none of them rots.

use std::{
    io::{BufRead, BufReader, Write, stdout},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Context;

use crate::{
    build,
    step::{program, root},
    test::{Part, tools_of},
    tools::{self, Tool},
};

/// What tests a command that the documents name.
#[derive(Clone, Copy)]
pub enum TestedBy {
    /// As it stands.
    AsIs,
    /// In another form that shows the same.
    As(&'static str),
    /// Until it says something; then it gets Ctrl-C.
    Until(&'static str),
    /// Against a stack of its own, as it stands.
    OnStack,
    /// By a test: a file of the checkout.
    ByTest(&'static str),
    /// By a workflow that runs each night, too.
    ByCi,
}

use TestedBy::{As, AsIs, ByCi, ByTest, OnStack, Until};

/// Timeout of a command: longer than any takes.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(45 * 60);
const RUNS: &str = "Everything runs";

/// Every command of the documents, and of `cargo xtask --help`.
pub const COMMANDS: &[(&str, TestedBy)] = &[
    ("cargo xtask --help", AsIs),
    ("cargo xtask up", Until(RUNS)),
    ("cargo xtask up --observe", Until(RUNS)),
    ("cargo xtask up --hosting cluster", Until(RUNS)),
    ("cargo xtask check", AsIs),
    ("cargo xtask lint", AsIs),
    ("cargo xtask test", AsIs),
    ("cargo xtask test rust", ByCi),
    ("cargo xtask test typescript", ByCi),
    ("cargo xtask test kubernetes", ByCi),
    ("cargo xtask test images", ByCi),
    ("cargo xtask test browser", ByCi),
    ("cargo xtask test engines", ByCi),
    ("cargo xtask test browser contact", AsIs),
    ("cargo xtask system-packages", AsIs),
    ("cargo xtask k8s", AsIs),
    ("cargo xtask k8s --write", AsIs),
    ("cargo xtask rehearse", AsIs),
    ("cargo xtask rehearse -- --logs target/rehearsal", AsIs),
    ("cargo xtask kind", ByCi),
    ("cargo xtask mail-preview", AsIs),
    ("cargo xtask settings", AsIs),
    ("cargo xtask changelog", AsIs),
    ("cargo xtask images", AsIs),
    ("cargo xtask advisories", ByCi),
    ("cargo xtask advisories --renew", ByCi),
    ("cargo xtask sbom", AsIs),
    ("cargo xtask measure build", AsIs),
    ("cargo xtask measure memory", AsIs),
    ("cargo xtask measure readiness", AsIs),
    ("cargo xtask measure services", AsIs),
    ("cargo xtask measure telemetry", AsIs),
    ("cargo xtask measure web", AsIs),
    ("cargo xtask measure headers", AsIs),
    ("cargo xtask measure first-view", AsIs),
    ("cargo xtask measure federation", AsIs),
    ("cargo xtask bench accept", AsIs),
    ("cargo xtask bench pages", AsIs),
    ("cargo xtask bench upload", AsIs),
    ("cargo xtask bench growth", AsIs),
    ("cargo xtask bench batches", AsIs),
    ("cargo xtask bench deliver", AsIs),
    ("cargo xtask bench instructions", AsIs),
    ("cargo xtask bench instructions --write", AsIs),
    ("cargo xtask fuzz", As("cargo xtask fuzz all 30")),
    ("cargo xtask fuzz --list", AsIs),
    ("cargo xtask fuzz addresses 60", AsIs),
    ("cargo xtask chaos", AsIs),
    ("cargo xtask chaos [row]", As("cargo xtask chaos mixed")),
    ("cargo xtask chaos broker- --seed 5", AsIs),
    ("cargo xtask chaos --list", AsIs),
    ("cargo xtask chaos --model", AsIs),
    ("cargo xtask chaos --broken", AsIs),
    ("cargo xtask chaos other-release", AsIs),
    ("cargo xtask chaos soak cluster-soak", AsIs),
    ("cargo xtask security", AsIs),
    (
        "cargo xtask attack",
        As("cargo xtask attack frames api --tries 100"),
    ),
    ("cargo xtask attack frames", AsIs),
    ("cargo xtask attack api", AsIs),
    ("cargo xtask attack slow", AsIs),
    ("cargo xtask attack visitors", AsIs),
    ("cargo xtask attack frames --seed 7", AsIs),
    ("cargo xtask attack --list", AsIs),
    ("cargo xtask commands", ByCi),
    (
        "cargo install --path tools/sitectl",
        As("cargo install --path tools/sitectl --debug --locked --root target/installed"),
    ),
    ("cargo build --workspace", AsIs),
    ("cargo test -p careers", AsIs),
    ("cargo test -p contact", AsIs),
    ("cargo test -p gateway", AsIs),
    ("cargo test -p newsletter", AsIs),
    ("cargo test -p notifier", AsIs),
    (
        "cargo test -p notifier --test it queue_while -- --nocapture",
        As("QUEUED_APPLICATIONS=500 cargo test -p notifier --test it queue_while -- --nocapture"),
    ),
    ("cargo test -p web", AsIs),
    (
        "cargo test -p reliability --test model",
        As("MODEL_SEQUENCES=10000 cargo test -p reliability --test model"),
    ),
    ("cargo run -p gateway --example openapi > docs/openapi.json", AsIs),
    ("cargo test -p site-events documents", AsIs),
    (
        "cargo run -p site-proto --example generate -- crates/proto/src/generated",
        AsIs,
    ),
    ("npm audit signatures", ByCi),
    ("npm run build", AsIs),
    ("npm run split", AsIs),
    ("npm run dev", Until("Local:")),
    ("npm run dev -w frontends/blog", Until("Local:")),
    ("npm run dev -w frontends/careers", Until("Local:")),
    ("npm run build -w frontends/blog", AsIs),
    ("npm run release", As("npm run release -- blog")),
    ("npm run release -- blog", AsIs),
    ("npm run typecheck", AsIs),
    ("npm run validate", AsIs),
    ("npm test", AsIs),
    ("npm test -w frontends/blog", AsIs),
    ("npm run test:unit", AsIs),
    (
        "npm run test:browser",
        As("target/debug/stack run npm run test:browser -- errors.test"),
    ),
    ("npm run test:engines", As("cargo xtask test engines pages")),
    ("npm run test:asset-failures", OnStack),
    ("npm run test:back-forward-cache", OnStack),
    ("npm run measure", As("cargo xtask measure web")),
    ("npm run measure -- /about", OnStack),
    ("npm run measure:first-view -- /about", AsIs),
    ("npm run measure:federation", As("cargo xtask measure federation")),
    (
        "npm run screenshots",
        As("target/debug/stack run npm run screenshots -- /contact"),
    ),
    ("npm run screenshots -- /contact", OnStack),
    ("npm run draw", AsIs),
    ("npm run draw -w frontends/blog", AsIs),
    ("npm run draw -w frontends/careers", AsIs),
    ("npm run generate -w frontends/kit", AsIs),
    ("openssl genrsa -traditional 2048", AsIs),
    (
        "openssl genrsa -traditional -out dkim.pem 2048",
        As("openssl genrsa -traditional -out target/dkim.pem 2048"),
    ),
    ("openssl rand -hex 32", AsIs),
    (
        "sed '1,/^spec:$/d; s/^  //' k8s/components/observability/alerts/site.yaml > site.rules.yaml",
        As(
            "sed '1,/^spec:$/d; s/^  //' k8s/components/observability/alerts/site.yaml > target/site.rules.yaml",
        ),
    ),
    (
        "kubectl kustomize k8s/overlays/local",
        As("target/tools/k8s/bin/kubectl kustomize k8s/overlays/local"),
    ),
    (
        "kubectl kustomize k8s/overlays/production | grep -E '^  (S3|SMTP|STREAM)_'",
        As("target/tools/k8s/bin/kubectl kustomize k8s/overlays/production | grep -E '^  (S3|SMTP|STREAM)_'"),
    ),
    (
        "target/tools/k8s/bin/python -m pytest k8s/tests -k flows",
        As("PYTHONDONTWRITEBYTECODE=1 target/tools/k8s/bin/python -m pytest k8s/tests -k flows"),
    ),
    ("sitectl setup", ByTest("tools/sitectl/tests/it/setup.rs")),
    (
        "sitectl dns-records",
        ByTest("tools/sitectl/tests/it/dns_records.rs"),
    ),
    ("sitectl preflight", ByTest("k8s/tests/test_preflight.py")),
    (
        "sitectl synthetic-check",
        ByTest("services/gateway/tests/it/synthetic_check.rs"),
    ),
    ("sitectl doctor", ByTest("tools/sitectl/tests/it/doctor.rs")),
    (
        "sitectl dead-letters",
        ByTest("tools/sitectl/tests/it/dead_letters.rs"),
    ),
    (
        "sitectl person-key",
        ByTest("tools/sitectl/tests/it/person_key.rs"),
    ),
    ("sitectl person", ByTest("tools/sitectl/tests/it/person.rs")),
    (
        "sitectl subscribers",
        ByTest("tools/sitectl/tests/it/subscribers.rs"),
    ),
    (
        "sitectl newsletter",
        ByTest("tools/sitectl/tests/it/newsletter.rs"),
    ),
    ("sitectl webhooks", ByTest("tools/sitectl/tests/it/webhooks.rs")),
    ("sitectl leads", ByTest("tools/sitectl/tests/it/leads.rs")),
    ("sitectl applications", ByTest("tools/sitectl/tests/it/leads.rs")),
    ("sitectl backup", ByTest("tools/sitectl/tests/it/backup.rs")),
    ("sitectl restore", ByTest("tools/sitectl/tests/it/backup.rs")),
    ("sitectl sweep", ByTest("tools/sitectl/tests/it/sweep.rs")),
    ("sitectl completions", ByTest("tools/sitectl/tests/it/manual.rs")),
    ("sitectl man-pages", ByTest("tools/sitectl/tests/it/manual.rs")),
    ("sitectl", ByTest("tools/sitectl/tests/it/tool.rs")),
    // Last: others measure releases by what is committed.
    ("cargo xtask profile", AsIs),
];

/// Runs each command that contains one of the words, or any, and is not tried elsewhere, all of them even where one fails.
///
/// # Errors
///
/// Names the commands that failed.
pub fn commands(words: &[String]) -> anyhow::Result<()> {
    let mut chosen = COMMANDS.to_vec();
    chosen.retain(|(command, _)| words.is_empty() || words.iter().any(|word| command.contains(word)));
    anyhow::ensure!(!chosen.is_empty(), "No command contains {}.", words.join(" or "));
    let engines = tools_of(Some(Part::Engines));
    tools::ensure_tools(&[&tools_of(None)[..], &engines, &[Tool::Java]].concat())?;
    build::all()?;
    let mut failed = Vec::new();
    for (command, tested_by) in chosen {
        let started = Instant::now();
        writeln!(stdout(), "\n▸ {command}")?;
        let outcome = match tested_by {
            AsIs => ends_well(&mut shell(command)),
            As(short) => ends_well(&mut shell(short)),
            Until(said) => says(command, said),
            OnStack => ends_well(program(stack(), &["run", "--"]).args(command.split(' '))),
            ByTest(file) => {
                writeln!(stdout(), "  tried by {file}")?;
                continue;
            }
            ByCi => continue,
        };
        if let Err(error) = outcome {
            writeln!(stdout(), "  {error:#}")?;
            failed.push(command);
        }
        writeln!(stdout(), "  {command}: {:.1} s", started.elapsed().as_secs_f64())?;
    }
    writeln!(stdout(), "\n{} commands failed", failed.len())?;
    anyhow::ensure!(
        failed.is_empty(),
        "These commands do not work: {}.",
        failed.join("; ")
    );
    Ok(())
}

fn stack() -> std::path::PathBuf {
    root().join("target/debug/stack")
}

/// A command as a person would type it, within bounds.
fn shell(command: &str) -> Command {
    let seconds = COMMAND_TIMEOUT.as_secs().to_string();
    program("timeout", &["--kill-after=30", &seconds, "bash", "-c", command])
}

fn ends_well(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().context("it cannot be run")?;
    anyhow::ensure!(status.success(), "it ended with {status}");
    Ok(())
}

/// Starts what would run for ever, waits for what it says, and stops it.
fn says(command: &str, wanted: &str) -> anyhow::Result<()> {
    let mut running = shell(command)
        .stdout(Stdio::piped())
        .spawn()
        .context("it cannot be run")?;
    let output = running.stdout.take().context("it has no output")?;
    let mut is_said = false;
    for line in BufReader::new(output).lines() {
        if line?.contains(wanted) {
            is_said = true;
            interrupt(&running)?;
        }
    }
    running.wait()?;
    anyhow::ensure!(is_said, "it ended without saying \"{wanted}\"");
    Ok(())
}

/// What Ctrl-C would do; `timeout` hands it on to what it runs.
fn interrupt(running: &Child) -> anyhow::Result<()> {
    ends_well(&mut program("kill", &["-INT", &running.id().to_string()]))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use clap::CommandFactory;
    use pulldown_cmark::{Event, Parser, Tag, TagEnd};

    use super::*;
    use crate::{Cli, step::command_output};

    /// Programs whose commands are tried here, beside the operator's tool. Most of kubectl's and those of docker, amtool
    /// and nats need a platform; `stack` is what `cargo xtask` starts.
    const TRIED: [&str; 6] = [
        "cargo",
        "npm",
        "npx",
        "openssl",
        "sed",
        "target/tools/k8s/bin/python",
    ];

    #[test]
    fn every_command_of_the_documents_is_tried_and_no_other() {
        let mut named: BTreeSet<String> = documents().iter().flat_map(|text| commands_in(text)).collect();
        named.extend(chores());
        let tested: BTreeSet<String> = COMMANDS
            .iter()
            .map(|(command, _)| (*command).to_owned())
            .collect();
        let untried: Vec<&String> = named.difference(&tested).collect();
        assert_eq!(untried, [""; 0], "a document names these, and nothing tries them");
        let unnamed: Vec<&String> = tested.difference(&named).collect();
        assert_eq!(unnamed, [""; 0], "no document names these");
    }

    #[test]
    fn what_is_tried_by_a_test_has_that_test() {
        for (command, tested_by) in COMMANDS {
            if let ByTest(file) = tested_by {
                assert!(root().join(file).exists(), "{command}: {file}");
            }
        }
    }

    /// A part of the suite stands in a workflow's matrix.
    #[test]
    fn what_is_left_to_a_workflow_stands_in_one_that_runs_each_night() {
        let files = fs::read_dir(root().join(".github/workflows")).expect("workflows are there");
        let nightly: Vec<String> = files
            .map(|file| fs::read_to_string(file.expect("a file").path()).expect("a workflow is text"))
            .filter(|workflow| workflow.contains("  schedule:\n"))
            .collect();
        let runs = |command: &str| {
            let line = format!("run: {command}");
            nightly
                .iter()
                .any(|workflow| workflow.lines().any(|given| given.trim() == line))
        };
        let is_in_matrix = |part: &str| {
            let mut lines = nightly.iter().flat_map(|workflow| workflow.lines());
            let has_part = |list: &str| {
                list.split(|c: char| !c.is_alphanumeric())
                    .any(|word| word == part)
            };
            lines.any(|line| line.trim().strip_prefix("part: ").is_some_and(has_part))
        };
        for (command, _) in COMMANDS.iter().filter(|(_, tested_by)| matches!(tested_by, ByCi)) {
            let part = command.strip_prefix("cargo xtask test ");
            let is_run = part.map_or_else(
                || runs(command),
                |part| runs(r#"cargo xtask test "$PART""#) && is_in_matrix(part),
            );
            assert!(is_run, "no workflow that runs each night has {command}");
        }
    }

    /// All that are ours, wherever they stand.
    fn documents() -> Vec<String> {
        let files = command_output(
            "git",
            &["ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        )
        .expect("this is a checkout");
        files
            .lines()
            .map(|path| fs::read_to_string(root().join(path)).expect("a document is text"))
            .collect()
    }

    /// The commands in a document's blocks of shell and in its text.
    fn commands_in(document: &str) -> Vec<String> {
        let mut is_code = false;
        let mut commands = Vec::new();
        for event in Parser::new(document) {
            match event {
                Event::Start(Tag::CodeBlock(_)) => is_code = true,
                Event::End(TagEnd::CodeBlock) => is_code = false,
                Event::Text(text) if is_code => commands.extend(text.lines().flat_map(of_line)),
                Event::Code(text) => commands.extend(of_line(&text)),
                _ => {}
            }
        }
        commands
    }

    fn of_line(line: &str) -> Vec<String> {
        let (line, _) = line.split_once(" #").unwrap_or((line, ""));
        line.split("&&").filter_map(of_words).collect()
    }

    /// Of the operator's tool only which command it is: its arguments are those of a platform that runs.
    fn of_words(command: &str) -> Option<String> {
        let mut command = command.trim();
        // What is set for it alone.
        while let Some((word, rest)) = command.split_once(' ')
            && word.contains('=')
        {
            command = rest;
        }
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            ["sitectl"] => Some("sitectl".to_owned()),
            ["sitectl", chore, ..] if !chore.starts_with('<') => Some(format!("sitectl {chore}")),
            // It reads files only.
            ["kubectl", "kustomize", ..] => Some(command.to_owned()),
            [program, _, ..] if TRIED.contains(&program) => Some(command.to_owned()),
            _ => None,
        }
    }

    /// What `cargo xtask --help` names, with the values that its chores take.
    fn chores() -> Vec<String> {
        let cli = Cli::command();
        let mut chores = Vec::new();
        for chore in cli.get_subcommands() {
            let name = format!("cargo xtask {}", chore.get_name());
            let values: Vec<_> = chore
                .get_arguments()
                .flat_map(clap::Arg::get_possible_values)
                .collect();
            let takes_one = chore.get_arguments().any(|argument| argument.is_required_set());
            if !takes_one {
                chores.push(name.clone());
            }
            let values = values
                .iter()
                .filter(|value| !["true", "false"].contains(&value.get_name()));
            if chore.get_name() != "system-packages" {
                chores.extend(values.map(|value| format!("{name} {}", value.get_name())));
            }
        }
        chores
    }
}
