//! `sitectl completions` and `sitectl man-pages`.

use std::{collections::BTreeSet, fs, process::Command};

use clap::CommandFactory;
use sitectl::Cli;
use tempfile::TempDir;

use crate::{settings_table::leaves, tool::told};

fn offered(script: &str, words: &[&str]) -> anyhow::Result<Vec<String>> {
    let ask = r#"eval "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sitectl "$1" "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[@]}""#;
    let output = Command::new("bash")
        .args(["-c", ask, script])
        .args(words)
        .output()?;
    let offered = String::from_utf8(output.stdout)?;
    Ok(offered.split_whitespace().map(str::to_owned).collect())
}

#[test]
fn a_shell_completes_commands_and_flags_but_offers_no_secret() -> anyhow::Result<()> {
    let script = told(&["completions", "bash"], &[])?;
    let verbs = offered(&script, &["sitectl", "dead-letters", "re"])?;
    assert_eq!(verbs, ["replay"]);
    let flags = offered(&script, &["sitectl", "person", "erase", "--"])?;
    for flag in ["--yes", "--json", "--nats-url"] {
        assert!(flags.contains(&flag.to_owned()), "{flag}: {flags:?}");
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = told(&["completions", shell], &[])?;
        assert!(script.contains("nats-url"), "{shell}");
        for secret in ["person-key ", "person-key\"", "token-key", "nats-password "] {
            assert!(
                !script.contains(&format!("--{secret}")),
                "{shell} offers {secret}"
            );
        }
    }
    Ok(())
}

#[test]
fn each_command_has_a_manual_page_with_its_secrets_as_variables() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let to = folder.path().join("man1");
    told(&["man-pages", &to.display().to_string()], &[])?;
    let mut pages = BTreeSet::new();
    for page in fs::read_dir(&to)? {
        pages.insert(page?.file_name().to_string_lossy().into_owned());
    }
    for (command, _) in leaves(&Cli::command(), "sitectl") {
        let page = format!("{}.1", command.replace(' ', "-"));
        assert!(pages.contains(&page), "{page}: {pages:?}");
    }
    let page = fs::read_to_string(to.join("sitectl-person-erase.1"))?;
    let page = page.replace('\\', "");
    assert!(page.contains("PERSON_KEY, PERSON_KEY_FILE [required]"), "{page}");
    assert!(page.contains("--yes") && !page.contains("--person-key"), "{page}");
    assert!(page.contains("without this it is a dry run"), "{page}");
    Ok(())
}
