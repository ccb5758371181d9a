//! What keeps tests quick to build: whatever is built, a crate is compiled once, and no test program is linked that
//! holds no test.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Context;

use crate::sources::{packages, said_by_cargo, text_below};

/// Every crate that is compiled for these members, and these kinds of their dependencies, each with its features.
fn compiled(members: &str, edges: &str) -> anyhow::Result<BTreeSet<String>> {
    let shape = ["--prefix=none", "--format={p} [{f}]", "--edges", edges];
    let tree = said_by_cargo(&[&["tree", members][..], &shape].concat())?;
    let crates = tree.lines().filter(|line| !line.is_empty());
    Ok(crates
        .map(|line| line.trim_end_matches(" (*)").to_owned())
        .collect())
}

#[test]
fn no_crate_is_compiled_with_one_set_of_features_here_and_another_there() -> anyhow::Result<()> {
    const TESTS: &str = "normal,build,dev";
    let mut parts = vec![compiled("--workspace", "normal,build")?];
    for package in packages()? {
        let dependencies = package["dependencies"].as_array().context("no dependencies")?;
        if dependencies
            .iter()
            .any(|dependency| dependency["name"] == "testkit")
        {
            let name = package["name"].as_str().context("no name")?;
            parts.push(compiled(&format!("--package={name}"), TESTS)?);
        }
    }
    assert!(parts.len() > 5, "few crates are tested with testkit");
    let all = compiled("--workspace", TESTS)?;
    for part in parts {
        let anew: Vec<&String> = part.difference(&all).collect();
        assert_eq!(
            anew, [""; 0],
            "name what is missing in crates/workspace-hack/Cargo.toml"
        );
    }
    Ok(())
}

#[test]
fn where_tests_are_switched_off_there_are_none() -> anyhow::Result<()> {
    let packages = packages()?;
    let targets = packages
        .iter()
        .filter_map(|package| package["targets"].as_array());
    for target in targets.flatten() {
        let source = Path::new(target["src_path"].as_str().context("no source")?);
        let kinds = target["kind"].as_array().context("no kind")?;
        let is = |kind: &str| kinds.iter().any(|known| known == kind);
        let sources = if is("lib") {
            text_below(source.parent().context("no folder")?)?
        } else if is("bin") {
            fs::read_to_string(source)?
        } else {
            continue;
        };
        let name = source.display();
        if target["test"] == false {
            assert!(
                !sources.contains("#[test]") && !sources.contains("#[tokio::test"),
                "{name}"
            );
        }
        if target["doctest"] == false {
            let example = |line: &str| line.starts_with("//") && line.contains("```");
            assert!(!sources.lines().any(|line| example(line.trim_start())), "{name}");
        }
    }
    Ok(())
}
