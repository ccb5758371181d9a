//! Wrong clocks for services, by libfaketime. Timers are not affected.

use std::{env, fs, path::PathBuf, process};

use testkit::root;

/// Settings of libfaketime, which adds the seconds in a file to the system's time.
///
/// # Errors
///
/// If libfaketime was not fetched.
pub fn settings() -> anyhow::Result<[(&'static str, String); 6]> {
    let library = root().join("target/tools/libfaketimeMT.so.1");
    anyhow::ensure!(
        library.exists(),
        "libfaketime is missing; cargo xtask chaos fetches it"
    );
    fs::create_dir_all(file(""))?;
    let [library, file] = [library, file("{service}")].map(|path| path.display().to_string());
    Ok([
        ("LD_PRELOAD", library),
        ("FAKETIME_TIMESTAMP_FILE", file),
        // A step takes effect at once.
        ("FAKETIME_NO_CACHE", "1".to_owned()),
        // Timers and file times stay real.
        ("DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("NO_FAKE_STAT", "1".to_owned()),
        // Shared memory would survive a killed process.
        ("FAKETIME_DISABLE_SHM", "1".to_owned()),
    ])
}

/// Sets a service's clock ahead or behind. The write is atomic: a process may read the file at any moment.
pub fn set(service: &str, seconds: f64) -> anyhow::Result<()> {
    let next = file("next");
    fs::write(&next, format!("{seconds:+.3}"))?;
    Ok(fs::rename(next, file(service))?)
}

fn file(name: &str) -> PathBuf {
    let folder = format!("clocks-{}", process::id());
    env::temp_dir().join(folder).join(name)
}
