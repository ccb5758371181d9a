//! Figures of instructions and allocations: those that are written down, and how far others may be from them.

use std::{
    collections::BTreeMap,
    env,
    fmt::{self, Display, Formatter},
    fs,
    path::PathBuf,
};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use testkit::root;
use tokio::process::Command;

/// Part of the repository: whoever changes a figure says why in the commit.
const FILE: &str = "tools/bench/instructions.json";
/// How far instructions may be from those that are written down, either way.
const TOLERANCE: f64 = 0.03;
/// The same of allocations: in how many pieces an upload arrives differs from run to run, by 15 %.
const ALLOCATIONS_TOLERANCE: f64 = 0.2;

/// What one form, one MB, one page or one mail costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Instructions, the kernel's left out.
    pub instructions: u64,
    /// Calls of the allocator for memory, those that make room in place included.
    pub allocations: u64,
}

/// What counts depend on besides our code and that of dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    processor: String,
    rustc: String,
    libc: String,
    valgrind: String,
}

/// The cost of paths, by their names.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Figures {
    toolchain: Toolchain,
    paths: BTreeMap<String, Cost>,
}

impl Toolchain {
    /// What is installed here.
    ///
    /// # Errors
    ///
    /// If one of them cannot be run.
    pub async fn installed() -> anyhow::Result<Self> {
        Ok(Self {
            processor: env::consts::ARCH.to_owned(),
            rustc: said_by("rustc", "--version").await?,
            libc: said_by("getconf", "GNU_LIBC_VERSION").await?,
            valgrind: said_by("valgrind", "--version").await?,
        })
    }
}

impl Display for Toolchain {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            processor,
            rustc,
            libc,
            valgrind,
        } = self;
        write!(f, "{rustc}, {libc} and {valgrind} on {processor}")
    }
}

async fn said_by(program: &str, argument: &str) -> anyhow::Result<String> {
    let said = Command::new(program).arg(argument).output().await;
    let said = said.with_context(|| format!("{program} cannot be run; is it installed?"))?;
    Ok(String::from_utf8(said.stdout)?.trim().to_owned())
}

impl Figures {
    /// Of no path yet.
    pub fn none(toolchain: Toolchain) -> Self {
        Self {
            toolchain,
            paths: BTreeMap::new(),
        }
    }

    /// Those that are written down; none where the file is missing.
    ///
    /// # Errors
    ///
    /// If the file holds none.
    pub fn read() -> anyhow::Result<Self> {
        match fs::read(file()) {
            Ok(text) => serde_json::from_slice(&text).with_context(|| format!("{FILE} holds no figures")),
            Err(_) => Ok(Self::default()),
        }
    }

    /// Writes them down.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(file(), text).with_context(|| format!("{FILE} cannot be written"))
    }

    /// Sets what a path costs.
    pub fn insert(&mut self, path: &str, cost: Cost) {
        self.paths.insert(path.to_owned(), cost);
    }

    /// What a path costs.
    pub fn of(&self, path: &str) -> Option<Cost> {
        self.paths.get(path).copied()
    }

    /// Each path and what it costs.
    pub fn paths(&self) -> impl Iterator<Item = (&str, Cost)> {
        self.paths.iter().map(|(path, cost)| (path.as_str(), *cost))
    }

    /// These, with those of others in place of the same paths'.
    pub fn with(&self, others: &Self) -> Self {
        let mut paths = self.paths.clone();
        paths.extend(others.paths.clone());
        Self {
            toolchain: others.toolchain.clone(),
            paths,
        }
    }

    /// Why others cannot be held against these, if they cannot: another kind of processor has other instructions.
    pub fn why_incomparable(&self, others: &Self) -> Option<String> {
        let (written, counted) = (&self.toolchain, &others.toolchain);
        let is_another = !self.paths.is_empty() && written.processor != counted.processor;
        is_another.then(|| format!("Nothing is judged: what is written down was counted with {written}."))
    }

    /// A sentence for each of the figures counted that is too far from the one written down, and what to do then.
    pub fn faults(&self, counted: &Self) -> Vec<String> {
        let mut faults: Vec<String> = counted
            .paths()
            .flat_map(|(path, cost)| self.faults_of(path, cost))
            .collect();
        let (before, now) = (&self.toolchain, &counted.toolchain);
        if !faults.is_empty() && !self.paths.is_empty() && before != now {
            faults.push(format!(
                "Written down was what {before} made, and counted what {now} makes: that alone may be the reason."
            ));
        }
        faults
    }

    fn faults_of(&self, path: &str, counted: Cost) -> Vec<String> {
        let Some(written) = self.of(path) else {
            return vec![format!("{path}: nothing is written down. {}", renew(path))];
        };
        let pairs = [
            (
                "instructions",
                TOLERANCE,
                written.instructions,
                counted.instructions,
            ),
            (
                "allocations",
                ALLOCATIONS_TOLERANCE,
                written.allocations,
                counted.allocations,
            ),
        ];
        let faults =
            pairs.map(|(what, tolerance, written, counted)| fault(path, what, tolerance, written, counted));
        faults.into_iter().flatten().collect()
    }
}

fn fault(path: &str, what: &str, tolerance: f64, written: u64, counted: u64) -> Option<String> {
    let change = counted as f64 / written as f64 - 1.0;
    // A path that took nothing and takes something has changed beyond any share.
    if change.abs() <= tolerance || counted == written {
        return None;
    }
    let percent = change.abs() * 100.0;
    let (direction, advice) = if change > 0.0 {
        (
            "more",
            format!(
                "callgrind_annotate --inclusive=yes target/bench/instructions/{path}.callgrind.1 shows where they are. If it is worth it, say why in the commit."
            ),
        )
    } else {
        ("fewer", "So that it stays so, write it down.".to_owned())
    };
    Some(format!(
        "{path}: {counted} {what}, {percent:.1} % {direction} than the {written} that are written down. {advice} {}",
        renew(path)
    ))
}

fn renew(path: &str) -> String {
    format!("To write it down: cargo xtask bench instructions {path} --write")
}

fn file() -> PathBuf {
    root().join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: Cost = Cost {
        instructions: 200_000,
        allocations: 100,
    };

    fn figures(cost: Cost) -> Figures {
        let mut figures = Figures::none(Toolchain::default());
        figures.insert("accept", cost);
        figures
    }

    fn faults(instructions: u64, allocations: u64) -> Vec<String> {
        let counted = Cost {
            instructions,
            allocations,
        };
        figures(WRITTEN).faults(&figures(counted))
    }

    #[test]
    fn within_the_tolerances_either_way_nothing_is_wrong() {
        for (instructions, allocations) in [(200_000, 100), (205_900, 119), (194_100, 81)] {
            assert_eq!(faults(instructions, allocations), [""; 0]);
        }
    }

    #[test]
    fn four_percent_more_is_told_with_what_was_written_down_and_what_to_do() {
        let [told] = &faults(208_000, 100)[..] else {
            panic!("one fault")
        };
        assert!(
            told.starts_with(
                "accept: 208000 instructions, 4.0 % more than the 200000 that are written down."
            ),
            "{told}"
        );
        assert!(told.contains("callgrind_annotate"), "{told}");
        assert!(
            told.ends_with("cargo xtask bench instructions accept --write"),
            "{told}"
        );
        assert!(faults(200_000, 125)[0].starts_with("accept: 125 allocations, 25.0 % more"));
        assert_eq!(faults(208_000, 125).len(), 2);
    }

    #[test]
    fn four_percent_fewer_are_to_be_written_down() {
        for told in [faults(192_000, 100), faults(200_000, 96)].concat() {
            assert!(told.contains("4.0 % fewer"), "{told}");
            assert!(told.contains("So that it stays so, write it down."), "{told}");
        }
    }

    #[test]
    fn what_is_not_written_down_is_no_success() {
        let told = Figures::default().faults(&figures(WRITTEN));
        assert_eq!(told.len(), 1);
        assert!(
            told[0].starts_with("accept: nothing is written down."),
            "{told:?}"
        );
        let none = Cost {
            instructions: 0,
            allocations: 0,
        };
        assert_eq!(figures(none).faults(&figures(WRITTEN)).len(), 2);
        assert_eq!(figures(none).faults(&figures(none)), [""; 0]);
    }

    #[test]
    fn another_toolchain_is_named_where_figures_differ_and_nowhere_else() {
        let other = |cost| Figures {
            toolchain: Toolchain {
                rustc: "rustc 2.0.0".to_owned(),
                ..Toolchain::default()
            },
            ..figures(cost)
        };
        assert_eq!(figures(WRITTEN).faults(&other(WRITTEN)), [""; 0]);
        let more = Cost {
            instructions: 300_000,
            ..WRITTEN
        };
        let told = figures(WRITTEN).faults(&other(more));
        assert!(told[1].contains("counted what rustc 2.0.0"), "{told:?}");
    }

    #[test]
    fn on_another_kind_of_processor_nothing_is_judged() {
        let on = |processor: &str| Figures {
            toolchain: Toolchain {
                processor: processor.to_owned(),
                ..Toolchain::default()
            },
            ..figures(WRITTEN)
        };
        assert_eq!(on("x86_64").why_incomparable(&on("x86_64")), None);
        let told = on("x86_64").why_incomparable(&on("aarch64"));
        assert!(told.is_some_and(|told| told.ends_with("on x86_64.")));
    }

    #[test]
    fn to_write_one_path_leaves_the_others() {
        let mut two = figures(WRITTEN);
        two.insert("mail", WRITTEN);
        let more = Cost {
            instructions: 300_000,
            ..WRITTEN
        };
        let written = two.with(&figures(more));
        assert_eq!(
            (written.of("accept"), written.of("mail")),
            (Some(more), Some(WRITTEN))
        );
    }
}
