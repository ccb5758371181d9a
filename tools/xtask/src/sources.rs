//! The workspace's Rust, read for the tests that hold rules over it; what is itself for tests is left out.

use std::{
    fs, mem,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde_json::Value;
use syn::{Attribute, Item, Meta};

use crate::{
    documents::tracked,
    step::{cargo, root},
};

/// Path of a module, without the crate: `["doctor", "mail"]`.
pub type ModulePath = Vec<String>;

/// A module as it stands in its file.
pub struct Source {
    pub path: ModulePath,
    pub file: PathBuf,
    /// Those of its file; where it has none of its own, those of its `mod`.
    pub attributes: Vec<Attribute>,
    pub items: Vec<Item>,
}

/// The file that each crate begins with.
pub fn crate_roots() -> Vec<PathBuf> {
    let manifests = tracked(&["*/Cargo.toml"]).into_iter();
    let sources = manifests.map(|manifest| Path::new(&manifest).with_file_name("src"));
    let roots = sources.flat_map(|source| ["lib.rs", "main.rs"].map(|file| source.join(file)));
    let roots: Vec<PathBuf> = roots.filter(|file| root().join(file).is_file()).collect();
    assert!(roots.len() > 10, "few crates are found: {roots:?}");
    roots
}

/// What cargo says, without a network.
pub fn said_by_cargo(arguments: &[&str]) -> anyhow::Result<String> {
    let output = cargo(arguments).args(["--offline", "--locked"]).output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{arguments:?}: {complaint}");
    Ok(String::from_utf8(output.stdout)?)
}

/// The members of the workspace, as `cargo metadata` tells of them.
pub fn packages() -> anyhow::Result<Vec<Value>> {
    let metadata = said_by_cargo(&["metadata", "--no-deps", "--format-version=1"])?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    anyhow::ensure!(packages.len() > 15, "few members are found");
    Ok(packages.clone())
}

/// All Rust below a folder.
pub fn text_below(folder: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            text += &text_below(&path)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            text += &fs::read_to_string(&path)?;
        }
    }
    Ok(text)
}

/// The modules of the crate that begins with a file, that one first.
pub fn modules(base: &Path, file: &Path) -> Vec<Source> {
    let mut modules = Vec::new();
    let folder = file.parent().unwrap_or(file);
    read_file(&mut modules, base, file, folder, Vec::new());
    modules
}

/// Reads a module's file; its children are in `folder`.
fn read_file(modules: &mut Vec<Source>, base: &Path, file: &Path, folder: &Path, path: ModulePath) {
    let text = fs::read_to_string(base.join(file)).expect("a module has a file");
    let parsed = syn::parse_file(&text).expect("a module is Rust");
    let source = Source {
        path,
        file: file.to_owned(),
        attributes: parsed.attrs,
        items: parsed.items,
    };
    read_source(modules, base, source, folder);
}

fn read_source(modules: &mut Vec<Source>, base: &Path, mut source: Source, folder: &Path) {
    let at = modules.len();
    for item in &mut source.items {
        if let Item::Mod(module) = item
            && !is_for_tests(&module.attrs)
        {
            let name = module.ident.to_string();
            let path = [source.path.clone(), vec![name.clone()]].concat();
            let below = folder.join(&name);
            match module.content.take() {
                Some((_, items)) => {
                    let child = Source {
                        path,
                        file: source.file.clone(),
                        attributes: mem::take(&mut module.attrs),
                        items,
                    };
                    read_source(modules, base, child, &below);
                }
                None => {
                    let files = [below.with_extension("rs"), below.join("mod.rs")];
                    let file = files.iter().find(|file| base.join(file).is_file());
                    read_file(modules, base, file.expect("a module has a file"), &below, path);
                }
            }
        }
    }
    modules.insert(at, source);
}

/// Whether an item is compiled for tests alone.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = match &attribute.meta {
            Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string(),
            _ => String::new(),
        };
        condition == "test" || condition.starts_with("all (test") || condition.starts_with("all(test")
    })
}
