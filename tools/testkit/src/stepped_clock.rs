//! Clock of a service that a test can step, by libfaketime. Timers are not affected.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;

use crate::root;

/// The time of day of one process, and of those that replace it.
pub struct SteppedClock {
    /// The library adds the seconds in this file to the system's time, at each look at the clock.
    file: PathBuf,
}

impl SteppedClock {
    /// A clock that shows the system's time, with its file in this folder.
    pub fn new(name: &str, folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        let clock = Self {
            file: folder.join(name),
        };
        clock.set_right()?;
        Ok(clock)
    }

    /// Environment of a process with this clock.
    ///
    /// # Errors
    ///
    /// If libfaketime was not fetched.
    pub fn env(&self) -> anyhow::Result<[(&'static str, OsString); 6]> {
        let library = root().join("target/tools/libfaketimeMT.so.1");
        anyhow::ensure!(
            library.exists(),
            "There is no libfaketime; cargo xtask test rust fetches it"
        );
        Ok([
            ("LD_PRELOAD", library.into()),
            ("FAKETIME_TIMESTAMP_FILE", self.file.clone().into()),
            // A step is seen at once.
            ("FAKETIME_NO_CACHE", "1".into()),
            // Timers and the times of files stay.
            ("DONT_FAKE_MONOTONIC", "1".into()),
            ("NO_FAKE_STAT", "1".into()),
            // Shared memory would outlive a process that is killed.
            ("FAKETIME_DISABLE_SHM", "1".into()),
        ])
    }

    /// Steps it forward.
    pub fn step_forth(&self, by: Duration) -> anyhow::Result<()> {
        self.set(self.offset()? + by.as_secs_f64())
    }

    /// Steps it back.
    pub fn step_back(&self, by: Duration) -> anyhow::Result<()> {
        self.set(self.offset()? - by.as_secs_f64())
    }

    /// Sets it to the system's time.
    pub fn set_right(&self) -> anyhow::Result<()> {
        self.set(0.0)
    }

    fn offset(&self) -> anyhow::Result<f64> {
        let text = fs::read_to_string(&self.file)?;
        text.parse().with_context(|| format!("{text} is no offset"))
    }

    /// Replaces the file in one step: a process may read it at any moment.
    fn set(&self, seconds: f64) -> anyhow::Result<()> {
        let next = self.file.with_extension("next");
        fs::write(&next, format!("{seconds:+.3}"))?;
        Ok(fs::rename(&next, &self.file)?)
    }
}
