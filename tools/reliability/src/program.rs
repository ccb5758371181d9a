//! What both programs have in common: how they end.

use std::process::ExitCode;

use anyhow::bail;
use site_service::drain;

/// Ends with all that was started for the work when it is asked to stop. Fails where the work does, or gives that not all held.
pub async fn until_signal(work: impl Future<Output = anyhow::Result<bool>>) -> ExitCode {
    let ended = async {
        let stop = drain::on_signal()?;
        match stop.run_until_cancelled(work).await {
            Some(done) => done,
            None => bail!("asked to stop; the work was cut off"),
        }
    };
    match ended.await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
