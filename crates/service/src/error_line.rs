//! One-line errors for terminals and logs.

use std::error::Error;

/// An error and its causes, except causes whose text the line already contains.
pub fn error_line(error: &(dyn Error + 'static)) -> String {
    let mut line = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let said = error.to_string();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            line = said;
        } else if !line.contains(&said) {
            line = format!("{}: {said}", line.trim_end_matches(['.', ':']));
        }
        next = error.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use anyhow::{Context as _, anyhow};
    use async_nats::jetstream::context::{PublishError, PublishErrorKind};

    use super::*;

    fn line(error: &anyhow::Error) -> String {
        error_line(error.as_ref())
    }

    #[test]
    fn each_cause_is_named_once_on_one_line() {
        let said_by_the_broker = PublishError::with_source(PublishErrorKind::Other, "no responders");
        let error = Err::<(), _>(said_by_the_broker).context("the event is not stored");
        let error = error.expect_err("it failed");
        assert_eq!(
            line(&error),
            "the event is not stored: publish failed: no responders"
        );
        let lines = anyhow!("it ended:\n  line one\n\n  line two").context("The job failed.");
        assert_eq!(line(&lines), "The job failed: it ended: line one line two");
        assert_eq!(line(&anyhow!("nothing more")), "nothing more");
    }
}
