//! `docs/security.md` is true: what its tables name is there, and each requirement of OWASP ASVS has its place, among those that
//! are met, that are not, or that do not apply; of level 3 also among those that we leave open.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use super::MEASURES;
use crate::{
    documents::{chapter, in_code, read, tracked},
    step::root,
};

/// What each requirement's level is, as `security/asvs-5.0.0.txt` has it.
fn levels() -> BTreeMap<String, u8> {
    let lines = read("security/asvs-5.0.0.txt");
    let requirements = lines.lines().filter(|line| !line.starts_with('#'));
    requirements
        .map(|line| {
            let (id, level) = line.split_once(' ').expect("a number and a level");
            (id.to_owned(), level.parse().expect("a level"))
        })
        .collect()
}

/// A requirement as the page has it.
struct Row {
    id: String,
    cells: Vec<String>,
}

/// The rows of a chapter's tables that begin with requirements; one may begin with several.
fn rows(title: &str, columns: usize) -> Vec<Row> {
    let page = read("docs/security.md");
    chapter(&page, title)
        .filter(|line| line.starts_with("| ") && line[2..].starts_with(|c: char| c.is_ascii_digit()))
        .flat_map(|line| {
            let cells: Vec<String> = line
                .trim_matches('|')
                .split(" | ")
                .map(|cell| cell.trim().to_owned())
                .collect();
            assert_eq!(cells.len(), columns, "{line}");
            let ids: Vec<String> = cells[0].split(", ").map(str::to_owned).collect();
            ids.into_iter()
                .map(move |id| Row {
                    id,
                    cells: cells.clone(),
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

fn met() -> Vec<Row> {
    rows("Requirements that are met", 5)
}

/// Whether a file has a test of this name. `…` stands for what varies in a title.
fn has_test(file: &str, name: &str) -> bool {
    let Ok(text) = fs::read_to_string(root().join(file)) else {
        return false;
    };
    match file.rsplit_once('.').map(|(_, ending)| ending) {
        Some("rs") => text
            .split_once(&format!("fn {name}("))
            .is_some_and(|(before, _)| {
                let attributes = before.lines().rev().take(3);
                attributes
                    .into_iter()
                    .any(|line| line.trim_start().starts_with("#[") && line.contains("test"))
            }),
        Some("py") => name.starts_with("test_") && text.contains(&format!("def {name}(")),
        Some("ts" | "tsx") => {
            let mut rest = text.as_str();
            let parts = name.split('…').filter(|part| !part.is_empty());
            file.contains(".test.")
                && parts.into_iter().all(|part| {
                    let found = rest.split_once(part);
                    rest = found.map_or("", |(_, after)| after);
                    found.is_some()
                })
        }
        _ => false,
    }
}

/// The requirements of level 3 that the page leaves open.
fn left_open() -> Vec<String> {
    let page = read("docs/security.md");
    let (_, after) = page
        .split_once("which no test of ours\nshows: ")
        .expect("the page names what it leaves open");
    let (list, _) = after.split_once(". ").expect("the list ends");
    list.split(", ").map(str::to_owned).collect()
}

#[test]
fn each_requirement_has_one_place_on_the_page() {
    let levels = levels();
    let mut seen = BTreeSet::new();
    let not_met = rows("Requirements that are not met", 4);
    for row in met().iter().chain(&not_met) {
        let level = levels
            .get(&row.id)
            .unwrap_or_else(|| panic!("there is no {}", row.id));
        assert_eq!(row.cells[1], level.to_string(), "the level of {}", row.id);
    }
    for row in met()
        .iter()
        .chain(&not_met)
        .chain(&rows("Requirements that do not apply", 2))
    {
        assert!(levels.contains_key(&row.id), "there is no {}", row.id);
        assert!(seen.insert(row.id.clone()), "{} stands there twice", row.id);
    }
    for id in left_open() {
        assert_eq!(levels.get(&id), Some(&3), "{id} may not be left open");
        assert!(seen.insert(id.clone()), "{id} stands there twice");
    }
    let missing: Vec<&String> = levels.keys().filter(|id| !seen.contains(*id)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn each_requirement_that_is_met_names_where_and_a_test_and_both_are_there() {
    let files = tracked(&[]);
    let is_there = |path: &str| {
        let below = format!("{path}/");
        files.iter().any(|file| file == path || file.starts_with(&below))
    };
    for Row { id, cells } in met() {
        let [places, tests]: [Vec<&str>; 2] = [&cells[3], &cells[4]].map(|cell| in_code(cell).collect());
        assert!(!places.is_empty() && !tests.is_empty(), "{id} lacks one of both");
        for place in places {
            assert!(is_there(place), "{id}: there is no {place}");
        }
        for test in tests {
            let (file, name) = test.split_once(": ").unwrap_or((test, ""));
            assert!(
                !name.is_empty() && has_test(file, name),
                "{id}: there is no test {test}"
            );
        }
    }
}

#[test]
fn a_test_that_there_is_not_is_missed() {
    let here = "tools/xtask/src/security/page.rs";
    assert!(has_test(here, "a_test_that_there_is_not_is_missed"));
    assert!(has_test(
        "frontends/shell/src/trusted-types.test.ts",
        "… refuses …"
    ));
    assert!(has_test("k8s/tests/test_pods.py", "test_a_pod_is_restricted"));
    for (file, name) in [
        (here, "a_test_that_there_is"),
        (here, "has_test"),
        ("k8s/tests/test_pods.py", "restricted"),
        ("frontends/shell/src/trusted-types.ts", "a"),
        (
            "frontends/shell/src/trusted-types.test.ts",
            "refuses nobody at all",
        ),
        ("nowhere.rs", "a"),
    ] {
        assert!(!has_test(file, name), "{file}: {name}");
    }
}

#[test]
fn the_page_tells_which_measures_are_taken_out_and_by_which_row() {
    let page = read("docs/security.md");
    let rows = met();
    for measure in &MEASURES {
        let name = measure.test.rsplit("::").next().unwrap_or_default();
        let is_of_the_row =
            |row: &Row| row.id == measure.requirement && row.cells[4].contains(&format!(": {name}`"));
        assert!(
            rows.iter().any(is_of_the_row),
            "{} does not name {name}",
            measure.requirement
        );
        let line = format!("| `{}` | {} |", measure.patch, measure.requirement);
        assert!(page.contains(&line), "the page lacks {line}");
    }
}

#[test]
fn the_inventory_of_keys_has_every_secret_setting() {
    let page = read("docs/security.md");
    let inventory: Vec<&str> = chapter(&page, "Keys and algorithms").collect();
    let settings = read("docs/operations.md");
    let secrets = settings.lines().filter(|line| line.contains("| **Secret**"));
    let names: BTreeSet<&str> = secrets.filter_map(|line| line.split('`').nth(1)).collect();
    assert!(names.len() > 5, "few secrets are found: {names:?}");
    for name in names {
        let is_named = |line: &&str| line.split('`').any(|word| word == name);
        assert!(inventory.iter().any(is_named), "{name} is missing");
    }
}

/// `unsafe_code = "forbid"` holds where a crate takes over the workspace's rules.
#[test]
fn no_crate_may_have_unsafe_code() {
    assert!(read("Cargo.toml").contains("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"));
    for manifest in tracked(&["*/Cargo.toml"]) {
        let text = read(&manifest);
        assert!(text.contains("[lints]\nworkspace = true\n"), "{manifest}");
    }
}
