//! How a program ends that does not start.

use std::process::ExitCode;

/// Exit of the program instead of its start: its help, or an invalid setting.
#[derive(Debug)]
pub enum Exit {
    /// `--help` or `--version` was asked for: the text to print.
    Help(String),
    /// A setting is missing or wrong: the sentence that names it.
    InvalidSetting(String),
}

impl Exit {
    /// Prints what there is to say and gives the exit code: 0, or 2 for a wrong setting.
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
