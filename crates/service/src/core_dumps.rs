//! Protection of secrets in memory: no core dumps, no access by processes of the same user.

use nix::sys::{
    prctl,
    resource::{Resource, setrlimit},
};

/// `true` lets debuggers and profilers of the same user attach.
const DEBUGGABLE: &str = "DEBUGGABLE";

pub fn forbid(env: &impl Fn(&str) -> Option<String>) -> nix::Result<()> {
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    if env(DEBUGGABLE).as_deref() == Some("true") {
        return Ok(());
    }
    // The limit does not hold for cores piped to a program (core(5)), as with systemd.
    prctl::set_dumpable(false)
}
