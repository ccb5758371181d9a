//! Circles between Rust files: two files that use each other can only be read together, so no file may lead back to
//! itself by what it names.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::{Path, PathBuf},
};

use syn::{
    Expr, ItemFn, ItemImpl, ItemMod, ItemUse, Macro, Token, UseTree, Visibility,
    punctuated::Punctuated,
    visit::{self, Visit},
};

use crate::{
    sources::{ModulePath, crate_roots, is_for_tests, modules},
    step::root,
};

/// For each file, those whose names it uses.
type Graph = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

#[test]
fn no_file_leads_back_to_itself_by_what_it_uses() {
    let roots = crate_roots();
    let circles: BTreeSet<String> = roots
        .iter()
        .flat_map(|file| circles(&Crate::read(&root(), file).graph()))
        .collect();
    let circles = Vec::from_iter(circles);
    assert!(circles.is_empty(), "circles:\n{}", circles.join("\n"));
}

#[test]
fn a_circle_is_found_through_groups_and_re_exports_and_without_use_lines() {
    let folder = root().join("target/circles");
    let files = [
        (
            "lib.rs",
            "mod one; mod three; mod two; pub use self::three::Three; pub fn of_the_crate() {}",
        ),
        (
            "one.rs",
            "use crate::{\n    of_the_crate,\n    two::{Two, self},\n};\n#[cfg(test)] mod tests { use crate::two::Other; }",
        ),
        ("two.rs", "pub fn two() { println!(\"{}\", crate::Three::new()) }"),
        ("three.rs", "use super::one;"),
    ];
    fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file");
    }
    let found = Crate::read(&folder, Path::new("lib.rs")).graph();
    assert_eq!(
        Vec::from_iter(circles(&found)),
        ["one.rs → two.rs → three.rs → one.rs"]
    );
    fs::write(folder.join("three.rs"), "#[cfg(test)] use super::one;").expect("a file");
    let found = Crate::read(&folder, Path::new("lib.rs")).graph();
    assert_eq!(circles(&found), BTreeSet::new());
}

/// The modules of a crate; those for tests are left out.
struct Crate(BTreeMap<ModulePath, Module>);

struct Module {
    file: PathBuf,
    /// What it re-exports: the name, and the path behind it.
    exports: Vec<(String, ModulePath)>,
    /// Every path that is named in it.
    paths: Vec<ModulePath>,
}

impl Crate {
    fn read(base: &Path, file: &Path) -> Self {
        let modules = modules(base, file).into_iter().map(|source| {
            let mut names = Names::default();
            source.items.iter().for_each(|item| names.visit_item(item));
            let module = Module {
                file: source.file,
                exports: names.exports,
                paths: names.paths,
            };
            (source.path, module)
        });
        Self(modules.collect())
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (path, module) in &self.0 {
            let used = module.paths.iter().filter_map(|named| self.file_of(path, named));
            let others = used.filter(|file| *file != module.file);
            graph.entry(module.file.clone()).or_default().extend(others);
        }
        graph
    }

    /// The file in which stands what a module names so; nothing where it is of another crate.
    fn file_of(&self, from: &[String], named: &[String]) -> Option<PathBuf> {
        let (first, mut rest) = named.split_first()?;
        let mut at = from.to_vec();
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => drop(at.pop()?),
            _ => {
                at.push(first.clone());
                self.0.get(&at)?;
            }
        }
        while let Some((name, behind)) = rest.split_first() {
            let child = [at.clone(), vec![name.clone()]].concat();
            if name == "super" {
                at.pop()?;
            } else if self.0.contains_key(&child) {
                at = child;
            } else if name != "self" {
                let mut exports = self.0.get(&at)?.exports.iter();
                if let Some((_, path)) = exports.find(|(export, _)| export == name) {
                    return self.file_of(&at, &[path, behind].concat());
                }
                break;
            }
            rest = behind;
        }
        Some(self.0.get(&at)?.file.clone())
    }
}

/// The paths that items name, and those that they re-export.
#[derive(Default)]
struct Names {
    exports: Vec<(String, ModulePath)>,
    paths: Vec<ModulePath>,
}

impl Visit<'_> for Names {
    /// A module's own items are read with it.
    fn visit_item_mod(&mut self, _: &ItemMod) {}

    fn visit_item_fn(&mut self, item: &ItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &ItemImpl) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        if is_for_tests(&item.attrs) {
            return;
        }
        let mut found = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut found);
        // A parent that only re-exports what its children hold does not use them.
        if matches!(item.vis, Visibility::Inherited) {
            self.paths.extend(found.into_iter().map(|(_, path)| path));
        } else {
            self.exports.extend(found);
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let names = path.segments.iter().map(|segment| segment.ident.to_string());
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            self.paths.push(names.collect());
        }
        visit::visit_path(self, path);
    }

    /// Most macros take expressions, as functions do.
    fn visit_macro(&mut self, called: &Macro) {
        let arguments = called.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        for argument in arguments.iter().flatten() {
            self.visit_expr(argument);
        }
        visit::visit_macro(self, called);
    }
}

/// Every path of a `use`, by the name that it gets.
fn flatten(tree: &UseTree, above: &mut ModulePath, found: &mut Vec<(String, ModulePath)>) {
    let path = |name: &dyn ToString| [above.clone(), vec![name.to_string()]].concat();
    match tree {
        UseTree::Path(part) => {
            above.push(part.ident.to_string());
            flatten(&part.tree, above, found);
            above.pop();
        }
        UseTree::Name(last) => found.push((last.ident.to_string(), path(&last.ident))),
        UseTree::Rename(last) => found.push((last.rename.to_string(), path(&last.ident))),
        UseTree::Glob(_) => found.push(("*".to_owned(), above.clone())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, above, found)),
    }
}

/// The shortest circle through each file, each named once.
fn circles(graph: &Graph) -> BTreeSet<String> {
    graph.keys().filter_map(|file| circle(graph, file)).collect()
}

fn circle(graph: &Graph, file: &Path) -> Option<String> {
    let mut ways = VecDeque::from([vec![file]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in graph.get(*way.last()?).into_iter().flatten() {
            if next == file {
                // Told from its first file on, whichever it was found from.
                let first = (0..way.len()).min_by_key(|at| way[*at])?;
                let names = way.iter().cycle().skip(first).take(way.len() + 1);
                let names: Vec<String> = names.map(|file| file.display().to_string()).collect();
                return Some(names.join(" → "));
            }
            if seen.insert(next) {
                ways.push_back([&way[..], &[next]].concat());
            }
        }
    }
    None
}
