//! The fuzz targets, as the sources have them: each is a test that calls `check!` with a name.

use std::{fs, path::PathBuf};

use anyhow::Context;

use crate::step::{command_output, root};

const NAMED: &str = "check!(name = \"";
const SIZED: &str = ".with_max_len(";
/// Of an input, where its target names no size: bolero's own.
const INPUT_BYTES: usize = 4096;

/// A target, and where it stands.
pub struct Target {
    /// What it is called.
    pub name: String,
    /// The crate it belongs to.
    pub package: String,
    /// The folder of the crate, from the root of the checkout.
    pub folder: PathBuf,
    /// The test, as its binary names it.
    pub test: String,
    /// Where its seeds are and what made it fail, from the folder of its crate.
    pub inputs: PathBuf,
    /// The size of its largest inputs.
    pub input_bytes: usize,
}

impl Target {
    /// What it shows, in words.
    pub fn sentence(&self) -> String {
        let name = self.test.rsplit("::").next().unwrap_or_default();
        name.replace('_', " ")
    }
}

/// All of them, by name.
///
/// # Errors
///
/// Where a source cannot be read, or stands in no crate.
pub fn targets() -> anyhow::Result<Vec<Target>> {
    let sources = command_output(
        "git",
        &[
            "grep",
            "--untracked",
            "-l",
            "-F",
            NAMED,
            "--",
            "crates",
            "services",
        ],
    )
    .unwrap_or_default();
    let mut targets = Vec::new();
    for source in sources.lines() {
        let text = fs::read_to_string(root().join(source))?;
        let (folder, _) = source.split_once("/src/").context("a source of no crate")?;
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml"))?;
        let package = manifest
            .split('"')
            .nth(1)
            .context("a manifest that begins with no name")?;
        targets.extend(targets_in(package, source, &text)?);
    }
    targets.sort_by(|one, next| one.name.cmp(&next.name));
    Ok(targets)
}

fn targets_in(package: &str, source: &str, text: &str) -> anyhow::Result<Vec<Target>> {
    let (folder, module) = source.split_once("/src/").context("a source of no crate")?;
    let module = module.trim_end_matches(".rs").trim_end_matches("/mod");
    let inputs = PathBuf::from("src").join(module_folder(source)).join("__fuzz__");
    let (mut test, mut targets) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some((name, _)) = line.strip_prefix("fn ").and_then(|line| line.split_once('(')) {
            test = format!("{}::{name}", module.replace('/', "::"));
        }
        if let Some((_, rest)) = line.split_once(NAMED) {
            let (name, _) = rest.split_once('"').context("a name without an end")?;
            targets.push(Target {
                name: name.to_owned(),
                package: package.to_owned(),
                folder: folder.into(),
                test: test.clone(),
                inputs: inputs.join(name),
                input_bytes: INPUT_BYTES,
            });
        }
        if let (Some((_, rest)), Some(target)) = (line.split_once(SIZED), targets.last_mut()) {
            let bytes = rest.split(')').next().unwrap_or_default().replace('_', "");
            target.input_bytes = bytes
                .parse()
                .with_context(|| format!("{source}: the size of inputs is written as a number"))?;
        }
    }
    Ok(targets)
}

/// The folder that a source stands in, from `src`: beside it bolero looks for inputs.
fn module_folder(source: &str) -> PathBuf {
    let (_, module) = source.split_once("/src/").unwrap_or_default();
    PathBuf::from(module)
        .parent()
        .map(PathBuf::from)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// In bytes, of all seeds together: they are there to be read.
    const MAX_SEEDS_BYTES: u64 = 100_000;

    #[test]
    fn a_target_is_found_by_its_name_beside_the_code() {
        let text =
            "#[test]\nfn whatever_comes() {\n    check!(name = \"things\").for_each(|_: &[u8]| {});\n}\n";
        let found = targets_in("some", "crates/some/src/deep/fuzz.rs", text).expect("a source");
        let [target] = &found[..] else {
            panic!("one target");
        };
        assert_eq!(
            (target.name.as_str(), target.test.as_str()),
            ("things", "deep::fuzz::whatever_comes")
        );
        assert_eq!(target.sentence(), "whatever comes");
        assert_eq!(target.folder, PathBuf::from("crates/some"));
        assert_eq!(target.inputs, PathBuf::from("src/deep/__fuzz__/things"));
        assert_eq!(target.input_bytes, INPUT_BYTES);
        let found = targets_in("some", "crates/some/src/fuzz/mod.rs", text).expect("a source");
        assert_eq!(found[0].test, "fuzz::whatever_comes");
        assert_eq!(found[0].inputs, PathBuf::from("src/fuzz/__fuzz__/things"));
    }

    #[test]
    fn the_size_of_inputs_is_what_the_target_names() {
        let sized = |size: &str| {
            let text = format!("fn it() {{\n    check!(name = \"a\")\n        .with_max_len({size})\n}}\n");
            targets_in("some", "crates/some/src/fuzz.rs", &text)
        };
        let found = sized("16_384").expect("a source");
        assert_eq!(found[0].input_bytes, 16_384);
        assert!(sized("MAX").is_err());
    }

    #[test]
    fn each_target_has_a_name_of_its_own_and_seeds_which_are_small() {
        let targets = targets().expect("the sources are read");
        assert!(targets.len() > 12, "targets are missing");
        let names: BTreeSet<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        assert_eq!(names.len(), targets.len());
        let mut bytes = 0;
        for target in &targets {
            let seeds = root().join(&target.folder).join(&target.inputs).join("corpus");
            let seeds: Vec<fs::DirEntry> = fs::read_dir(&seeds)
                .unwrap_or_else(|error| panic!("{}: {error}", seeds.display()))
                .map(|seed| seed.expect("it can be listed"))
                .collect();
            assert!(!seeds.is_empty(), "{} has no seeds", target.name);
            bytes += seeds
                .iter()
                .map(|seed| seed.metadata().map_or(0, |seed| seed.len()))
                .sum::<u64>();
        }
        assert!(bytes < MAX_SEEDS_BYTES, "{bytes} bytes of seeds");
    }
}
