//! Of an npm package nothing runs when it is installed: what a script fetches, no lock names.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::documents::{chapter, in_code, read, tracked};

/// Files that tell people and machines what to run; what chores run is in `tools/node.rs`, with a test beside it.
const TOLD: [&str; 6] = ["*.Dockerfile", "*.md", "*.sh", "*.yml", "*.yaml", "package.json"];
const INSTALLATIONS: [&str; 3] = ["npm ci", "npm install", "npm exec"];

/// The packages of all locks that have a script for when they are installed.
fn packages_with_a_script() -> BTreeSet<String> {
    let locks = tracked(&["package-lock.json", "*/package-lock.json"]);
    assert!(locks.len() > 1, "no lock is found");
    let named = locks.iter().flat_map(|lock| {
        let lock: Value = serde_json::from_str(&read(lock)).expect("a lock is JSON");
        let packages = lock["packages"].as_object().cloned().expect("it has packages");
        packages
            .into_iter()
            .filter(|(_, package)| package["hasInstallScript"] == true)
            .map(|(path, _)| path)
            .collect::<Vec<_>>()
    });
    named
        .map(|path| path.rsplit("node_modules/").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn each_package_with_a_script_is_known_to_work_without_it() {
    let page = read("docs/supply-chain.md");
    let rows = chapter(&page, "Packages that would run something").filter(|line| line.starts_with("| `"));
    let names = rows.flat_map(|row| in_code(row.split(" | ").next().unwrap_or_default()));
    assert_eq!(
        names.map(str::to_owned).collect::<BTreeSet<_>>(),
        packages_with_a_script()
    );
}

#[test]
fn whoever_installs_packages_here_runs_none_of_their_scripts() {
    assert!(read(".npmrc").lines().any(|line| line == "ignore-scripts=true"));
    for file in tracked(&TOLD) {
        for line in read(&file).lines() {
            let installs = INSTALLATIONS.iter().any(|command| line.contains(command));
            assert!(!installs || line.contains("--ignore-scripts"), "{file}: {line}");
        }
    }
}
