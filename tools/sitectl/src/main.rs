//! The operator's tool.

use std::process::ExitCode;

use site_service::{error_line, settings};
use sitectl::Cli;

#[tokio::main]
async fn main() -> ExitCode {
    let cli: Cli = match settings::read() {
        Ok(cli) => cli,
        Err(exit) => return exit.report(),
    };
    match sitectl::run(cli).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", sitectl::printable(&error_line(error.as_ref())));
            ExitCode::FAILURE
        }
    }
}
