//! Measurements of running processes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{ChildProcess, child_process::status_field};

/// A file of this size (at least of its first and last bytes) whose content is recognized as a PDF.
pub fn pdf(bytes: usize) -> Vec<u8> {
    const HEAD: &[u8] = b"%PDF-1.7\n";
    const END: &[u8] = b"\nstartxref\n0\n%%EOF";
    let filling = bytes.saturating_sub(HEAD.len() + END.len());
    let filling: Vec<u8> = (0..filling).map(|n| b"0123456789abcdef"[n * 7 % 16]).collect();
    [HEAD, &filling, END].concat()
}

/// Resident memory of a process: `VmRSS` now, `VmHWM` at its peak (proc(5)).
pub fn resident_bytes(process: &ChildProcess, field: &str) -> anyhow::Result<u64> {
    let value = status_field(process.running_pid()?, field)?;
    let kilobytes = value.split_whitespace().next().unwrap_or_default();
    Ok(kilobytes.parse::<u64>()? * 1024)
}

/// Number of a process's threads.
pub fn threads(process: &ChildProcess) -> anyhow::Result<usize> {
    Ok(status_field(process.running_pid()?, "Threads")?.parse()?)
}

/// The files of this folder that processes hold open, with a name or without, each as `/proc/<process>/fd/<number>`.
pub fn open_files(folder: &Path) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    // A process that ends meanwhile holds none.
    let open = processes.filter_map(|process| fs::read_dir(process.path().join("fd")).ok());
    let files = open.flatten().flatten().map(|file| file.path());
    files
        .filter(|file| fs::read_link(file).is_ok_and(|target| target.starts_with(folder)))
        .collect()
}
