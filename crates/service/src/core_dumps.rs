//! Protects secrets in memory: forbids core dumps and access by processes of the same user.

use nix::sys::{
    prctl,
    resource::{Resource, setrlimit},
};

/// Environment variable; the value `true` lets debuggers and profilers attach.
const DEBUGGABLE: &str = "DEBUGGABLE";

pub fn forbid(env: &impl Fn(&str) -> Option<String>) -> nix::Result<()> {
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    if env(DEBUGGABLE).as_deref() == Some("true") {
        return Ok(());
    }
    // The limit does not apply to core dumps piped to a program (core(5)).
    prctl::set_dumpable(false)
}
