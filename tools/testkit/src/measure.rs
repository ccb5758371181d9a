//! Measurements of processes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{ChildProcess, child_process::status_field};

/// Content of this size, detected as a PDF.
pub fn pdf(bytes: usize) -> Vec<u8> {
    const HEAD: &[u8] = b"%PDF-1.7\n";
    const END: &[u8] = b"\nstartxref\n0\n%%EOF";
    let filling = bytes.saturating_sub(HEAD.len() + END.len());
    let filling: Vec<u8> = (0..filling).map(|n| b"0123456789abcdef"[n * 7 % 16]).collect();
    [HEAD, &filling, END].concat()
}

/// Memory in bytes: `VmRSS` is resident, `VmHWM` its peak (proc(5)).
pub fn resident_bytes(process: &ChildProcess, field: &str) -> anyhow::Result<u64> {
    let value = status_field(process.running_pid()?, field)?;
    let kilobytes = value.split_whitespace().next().unwrap_or_default();
    Ok(kilobytes.parse::<u64>()? * 1024)
}

/// Open files below this folder as `/proc/<pid>/fd/<number>`, unlinked ones included.
pub fn open_files(folder: &Path) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    // A process may end in the meantime.
    let open = processes.filter_map(|process| fs::read_dir(process.path().join("fd")).ok());
    let files = open.flatten().flatten().map(|file| file.path());
    files
        .filter(|file| fs::read_link(file).is_ok_and(|target| target.starts_with(folder)))
        .collect()
}
