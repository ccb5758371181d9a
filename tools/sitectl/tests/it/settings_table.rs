//! Table of all settings that can be a variable, made from the programs' arguments.

use std::{collections::BTreeMap, iter};

use clap::{Arg, ArgAction, Command, CommandFactory};

const HEAD: &str = "| setting | flag | without it | what it says | who takes it |\n|---|---|---|---|---|\n";
const TOOL: &str = "sitectl";

/// A line of the table. Programs that describe a setting alike share it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Setting {
    variable: String,
    flag: String,
    without: String,
    says: String,
}

pub fn table() -> String {
    let mut settings: BTreeMap<Setting, Vec<String>> = BTreeMap::new();
    let mut commands = Vec::new();
    for program in programs() {
        for (name, command) in leaves(&program, program.get_name()) {
            for setting in command.get_arguments().filter_map(Setting::of) {
                settings.entry(setting).or_default().push(name.clone());
            }
            commands.push(name);
        }
    }
    let tool = commands.iter().filter(|name| name.starts_with(TOOL)).count();
    let lines = settings
        .iter()
        .map(|(setting, takers)| setting.line(&in_short(takers, tool)));
    iter::once(HEAD.to_owned()).chain(lines).collect()
}

pub fn programs() -> [Command; 7] {
    [
        gateway::Settings::command(),
        contact::Settings::command(),
        newsletter::Settings::command(),
        careers::Settings::command(),
        notifier::Settings::command(),
        web::Settings::command(),
        sitectl::Cli::command(),
    ]
}

pub fn leaves<'a>(command: &'a Command, name: &str) -> Vec<(String, &'a Command)> {
    if !command.has_subcommands() {
        return vec![(name.to_owned(), command)];
    }
    let below = command.get_subcommands();
    below
        .flat_map(|command| leaves(command, &format!("{name} {}", command.get_name())))
        .collect()
}

/// Lists only the tool's name if all its commands take the setting.
fn in_short(takers: &[String], commands_of_tool: usize) -> String {
    let takers = takers.iter().map(String::as_str);
    let (of_tool, mut names): (Vec<&str>, Vec<&str>) = takers.partition(|taker| taker.starts_with(TOOL));
    if of_tool.len() == commands_of_tool {
        names.push(TOOL);
    } else {
        names.extend(of_tool);
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

impl Setting {
    fn of(arg: &Arg) -> Option<Self> {
        let variable = arg.get_env()?.to_string_lossy().into_owned();
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let secret = if arg.is_hide_env_values_set() {
            format!("**Secret**, also as `{variable}_FILE`. ")
        } else {
            String::new()
        };
        Some(Self {
            flag: flag(arg)?,
            without: without(arg),
            says: format!("{secret}{help}{}", choices(arg)).replace('|', "\\|"),
            variable,
        })
    }

    fn line(&self, takers: &str) -> String {
        let [variable, flag, without, says] = [&self.variable, &self.flag, &self.without, &self.says];
        format!("| `{variable}` | {flag} | {without} | {says} | {takers} |\n")
    }
}

/// A secret has no flag.
fn flag(arg: &Arg) -> Option<String> {
    let flag = arg.get_long()?;
    Some(if arg.is_hide_env_values_set() {
        "–".to_owned()
    } else {
        format!("`--{flag}`")
    })
}

fn without(arg: &Arg) -> String {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return "no".to_owned();
    }
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    match defaults.as_slice() {
        [] if arg.is_required_set() => "it does not start".to_owned(),
        [] => "–".to_owned(),
        defaults => defaults.join(", "),
    }
}

fn choices(arg: &Arg) -> String {
    let values = arg.get_possible_values();
    if values.is_empty() || matches!(arg.get_action(), ArgAction::SetTrue) {
        return String::new();
    }
    let values: Vec<String> = values
        .iter()
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    format!(": {}", values.join(", "))
}
