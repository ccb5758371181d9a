//! Clock of a service that steps when it is told to, by libfaketime: what the system says of the time of day, while its
//! timers go on.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;

use crate::root;

/// The time of day of one process, and of those that take its place.
pub struct SteppedClock {
    /// What the library reads at each look at the clock: seconds to add to the system's.
    file: PathBuf,
}

impl SteppedClock {
    /// One that goes right, with its file in this folder.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn new(name: &str, folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        let clock = Self {
            file: folder.join(name),
        };
        clock.set_right()?;
        Ok(clock)
    }

    /// The environment that a process goes by it in.
    ///
    /// # Errors
    ///
    /// Where libfaketime was not fetched.
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
            // A step moves no timer, as it would not on a real machine.
            ("DONT_FAKE_MONOTONIC", "1".into()),
            // Files keep their times.
            ("NO_FAKE_STAT", "1".into()),
            // It would outlive a process that is killed.
            ("FAKETIME_DISABLE_SHM", "1".into()),
        ])
    }

    /// Steps it forth.
    pub fn step_forth(&self, by: Duration) -> anyhow::Result<()> {
        self.set(self.offset()? + by.as_secs_f64())
    }

    /// Steps it back.
    pub fn step_back(&self, by: Duration) -> anyhow::Result<()> {
        self.set(self.offset()? - by.as_secs_f64())
    }

    /// Steps it to the system's time.
    pub fn set_right(&self) -> anyhow::Result<()> {
        self.set(0.0)
    }

    fn offset(&self) -> anyhow::Result<f64> {
        let text = fs::read_to_string(&self.file)?;
        text.parse().with_context(|| format!("{text} is no offset"))
    }

    /// In one step: a process may look at any moment.
    fn set(&self, seconds: f64) -> anyhow::Result<()> {
        let next = self.file.with_extension("next");
        fs::write(&next, format!("{seconds:+.3}"))?;
        Ok(fs::rename(&next, &self.file)?)
    }
}
