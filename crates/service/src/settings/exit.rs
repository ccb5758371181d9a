//! Exit of a program that does not start.

use std::process::ExitCode;

/// Why a program does not start: help or an invalid setting.
#[derive(Debug)]
pub enum Exit {
    /// Text for `--help` or `--version`.
    Help(String),
    /// A sentence that names the missing or invalid setting.
    InvalidSetting(String),
}

impl Exit {
    /// Prints the text. Returns 0, or 2 for an invalid setting.
    #[expect(clippy::print_stdout, reason = "--help and --version go to stdout")]
    pub fn report(self) -> ExitCode {
        match self {
            Self::Help(text) => {
                print!("{text}");
                ExitCode::SUCCESS
            }
            Self::InvalidSetting(sentence) => {
                eprintln!("{sentence}");
                ExitCode::from(2)
            }
        }
    }
}
