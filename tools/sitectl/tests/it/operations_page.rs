//! What `docs/operations.md` says, held against what there is.

use std::{collections::BTreeMap, fs};

use anyhow::Context;
use clap::{Command, CommandFactory};
use sitectl::Cli;
use testkit::root;

use crate::table;

fn page() -> anyhow::Result<String> {
    Ok(fs::read_to_string(root().join("docs/operations.md"))?)
}

fn section<'a>(page: &'a str, name: &str) -> anyhow::Result<&'a str> {
    let (_, rest) = page
        .split_once(&format!("\n## {name}\n"))
        .context("no such section")?;
    Ok(rest.split_once("\n## ").map_or(rest, |(section, _)| section))
}

#[test]
fn it_names_every_setting_as_the_programs_take_it() -> anyhow::Result<()> {
    let page = page()?;
    let should = table::within(&page)?;
    for (stands, should) in page.lines().zip(should.lines()) {
        assert_eq!(stands, should, "cargo xtask settings writes it anew");
    }
    assert_eq!(page.lines().count(), should.lines().count());
    Ok(())
}

#[test]
fn it_says_of_every_secret_how_it_changes() -> anyhow::Result<()> {
    let page = page()?;
    let (settings, rotation) = (section(&page, "Configure")?, section(&page, "Rotate secrets")?);
    let secrets: Vec<&str> = settings
        .lines()
        .filter(|line| line.contains("**Secret**"))
        .filter_map(|line| line.split('`').nth(1))
        .collect();
    assert!(secrets.contains(&"TOKEN_KEY"), "{secrets:?}");
    for secret in secrets {
        assert!(rotation.contains(&format!("`{secret}`")), "{secret}");
    }
    Ok(())
}

#[test]
fn it_names_the_commands_that_want_a_yes_and_those_that_answer_no_machine() -> anyhow::Result<()> {
    let page = page()?;
    let row = |begin: &str| {
        page.lines()
            .find(|line| line.starts_with(begin))
            .context("no such row")
    };
    let (undone, answer) = (row("| what cannot be undone |")?, row("| answer |")?);
    for (name, command) in table::leaves(&Cli::command(), "") {
        let takes = |flag: &str| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
        let name = format!("`{}`", name.trim());
        assert_eq!(takes("yes"), undone.contains(&name), "{name}");
        assert_eq!(takes("json"), !answer.contains(&name), "{name}");
    }
    Ok(())
}

#[test]
fn the_line_of_a_command_names_all_that_is_below_it() {
    let tool = Cli::command();
    let mut looked_at = 0;
    for command in tool.get_subcommands().filter(|command| command.has_subcommands()) {
        let line = command.get_about().map(ToString::to_string).unwrap_or_default();
        let named = line.rsplit_once(": ").map_or("", |(_, named)| named);
        let below: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(named, below.join(", "), "{}", command.get_name());
        looked_at += 1;
    }
    assert!(looked_at > 1, "nothing was held against anything");
}

#[test]
fn a_flag_takes_one_kind_of_value_wherever_it_is() {
    let mut known: BTreeMap<String, (Vec<String>, String)> = BTreeMap::new();
    for (name, command) in table::leaves(&Cli::command(), "") {
        for flag in command.get_arguments() {
            let Some(long) = flag.get_long() else { continue };
            let values = flag.get_value_names().unwrap_or_default();
            let takes: Vec<String> = values.iter().map(ToString::to_string).collect();
            let (before, first) = known
                .entry(long.to_owned())
                .or_insert_with(|| (takes.clone(), name.clone()));
            assert_eq!(&takes, before, "--{long} of {name} and of {first}");
        }
    }
}

#[test]
fn it_says_what_every_alert_and_every_dashboard_is_for() -> anyhow::Result<()> {
    let observability = root().join("k8s/components/observability");
    let page = page()?;
    let monitoring = section(&page, "Monitoring")?;
    let alerts = fs::read_to_string(observability.join("alerts/site.yaml"))?;
    let alerts: Vec<&str> = alerts
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "))
        .collect();
    assert!(!alerts.is_empty());
    for alert in alerts {
        let entry = format!("[{alert}](runbook.md#{})", alert.to_lowercase());
        assert!(monitoring.contains(&entry), "{entry}");
    }
    for dashboard in fs::read_dir(observability.join("dashboards"))? {
        let dashboard: serde_json::Value = serde_json::from_slice(&fs::read(dashboard?.path())?)?;
        let title = dashboard["title"].as_str().unwrap_or_default();
        let name = title.trim_start_matches("Site: ");
        assert!(monitoring.contains(&format!("| {name} |")), "{title}");
    }
    Ok(())
}
