//! `cargo xtask profile`: what of the services runs often, recorded for the compiler, by which release builds are laid out
//! (profile-guided optimization, PGO: docs/decisions/0042-releases-are-laid-out-by-a-profile.md).

use std::{
    env::consts::ARCH,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::PathBuf,
    process::Command,
};

use anyhow::Context;

use crate::{
    front_end,
    step::{cargo, compile, empty_folder, program, root, run},
    tools::{self, LLVM_PROFDATA, Tool},
};

/// What was recorded. Of code that has changed since, the compiler leaves it aside.
const PROFILE: &str = "tools/bench/services.profdata";
/// Where the programs are built that record, and what they do.
const RECORDERS: &str = "target/profile";
const RECORDED: &str = "target/profile/recorded";
const SERVICES: [&str; 5] = ["gateway", "contact", "newsletter", "careers", "notifier"];

/// A release build of all services and of other programs, by what was recorded.
///
/// # Errors
///
/// If nothing is.
pub fn release_build(others: &[&str]) -> anyhow::Result<Command> {
    let recorded = fs::read(root().join(PROFILE)).with_context(|| format!("{PROFILE} is missing"))?;
    let mut hasher = DefaultHasher::new();
    recorded.hash(&mut hasher);
    // Cargo builds nothing anew because of what is in the file.
    let version = format!("--cfg=profile_{:x}", hasher.finish());
    // Of each function that has changed since it would say so.
    let silently = "-Cllvm-args=-no-pgo-warn-mismatch".to_owned();
    Ok(build(&[flag("profile-use", PROFILE), silently, version], others))
}

/// Where [`release_build`] puts a program.
pub fn released(program: &str) -> PathBuf {
    root().join("target").join(target()).join("release").join(program)
}

/// Records anew what runs, while visitors do what they do.
///
/// # Errors
///
/// Where a tool is missing, a build fails, or something does not take what is sent.
pub fn record() -> anyhow::Result<()> {
    tools::ensure_tools(&[
        Tool::NatsServer,
        Tool::SitePackages,
        Tool::Wrk,
        Tool::H2load,
        Tool::LlvmProfdata,
    ])?;
    front_end::build_where_changed()?;
    let flags = [
        flag("profile-generate", RECORDED),
        // It is counted before anything is linked, and to link these as a whole would take half an hour. Another profile of cargo's
        // would give functions other names, by which they are not found again.
        "-Clto=off".to_owned(),
        "-Clinker-plugin-lto=off".to_owned(),
    ];
    empty_folder(&root().join(RECORDED))?;
    compile(
        "Building programs that record what runs",
        build(&flags, &["bench"]).args(["--target-dir", RECORDERS]),
    )?;
    run(
        "Recording what runs",
        &mut program(
            root().join(RECORDERS).join(target()).join("release/bench"),
            &["train"],
        ),
        "Something did not take what was sent: see above.",
    )?;
    run(
        "Writing it down",
        &mut program(
            LLVM_PROFDATA,
            &["merge", "--sparse", "--output", PROFILE, RECORDED],
        ),
        "What was recorded cannot be read: see above.",
    )
}

/// A release build with options of the compiler: beside those of .cargo/config.toml, which RUSTFLAGS would replace. All services are in
/// it: of fewer, some crates would be compiled otherwise, and have other names.
fn build(flags: &[String], others: &[&str]) -> Command {
    let mut build = cargo(&[
        "build",
        "--release",
        "--workspace",
        "--target",
        &target(),
        "--config",
    ]);
    build.arg(format!("target.'cfg(all())'.rustflags = {flags:?}"));
    // They would be taken instead, without a word.
    for replacing in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        build.env_remove(replacing);
    }
    let programs = SERVICES.iter().chain(others);
    build.args(programs.map(|name| format!("--bin={name}")));
    build
}

/// This machine's, named as the images' builds do: what is recorded is found again by names that hold it.
fn target() -> String {
    format!("{ARCH}-unknown-linux-gnu")
}

/// An option of the compiler that names a file or folder of the checkout.
fn flag(option: &str, path: &str) -> String {
    format!("-C{option}={}", root().join(path).display())
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    /// Of one that it cannot read it only warns, as after another compiler was taken.
    #[test]
    fn the_compiler_reads_what_was_recorded() {
        let source = ["--crate-name=empty", "--crate-type=lib", "-O", "-"];
        let mut compiler = program("rustc", &[&source[..], &["--emit=llvm-ir", "-o", "-"]].concat());
        compiler.arg(flag("profile-use", PROFILE)).stdin(Stdio::null());
        let compiled = compiler.output().expect("a compiler");
        assert_eq!(String::from_utf8_lossy(&compiled.stderr), "");
    }
}
