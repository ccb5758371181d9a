//! A process that holds secrets leaves no copy of its memory behind: no core dump, and nobody of the same user reads it.

use nix::sys::{
    prctl,
    resource::{Resource, setrlimit},
};

/// Lets debuggers and profilers of the same user attach, where it is `true`: for a developer's machine, and for measuring.
/// There is no core dump all the same.
const DEBUGGABLE: &str = "DEBUGGABLE";

/// Forbids core dumps of this process, for good; and to others of its user, to look into it.
///
/// # Errors
///
/// If the system does not let us.
pub fn forbid(env: &impl Fn(&str) -> Option<String>) -> nix::Result<()> {
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    if env(DEBUGGABLE).as_deref() == Some("true") {
        return Ok(());
    }
    // The limit does not hold where the kernel pipes cores to a program (core(5)), as systemd has it do.
    prctl::set_dumpable(false)
}
