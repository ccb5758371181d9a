//! Questions at a terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anyhow::{anyhow, ensure};

/// Text of a question, and the flag or variable that answers it.
pub struct Question(pub &'static str, pub &'static str);

type Check = Result<(), &'static str>;

impl Question {
    /// Answer without a default.
    ///
    /// # Errors
    ///
    /// If the given answer is wrong, or none is given and nobody can be asked.
    pub fn required(self, given: Option<&String>, check: impl Fn(&str) -> Check) -> anyhow::Result<String> {
        self.ask(given, None, check)
    }

    /// Answer, or this default.
    ///
    /// # Errors
    ///
    /// If the given answer is wrong.
    pub fn or(
        self,
        given: Option<&String>,
        default: &str,
        check: impl Fn(&str) -> Check,
    ) -> anyhow::Result<String> {
        self.ask(given, Some(default), check)
    }

    fn ask(
        self,
        given: Option<&String>,
        default: Option<&str>,
        check: impl Fn(&str) -> Check,
    ) -> anyhow::Result<String> {
        let Self(text, name) = self;
        let is_terminal = io::stdin().is_terminal();
        let given = given.map(String::as_str).or(default.filter(|_| !is_terminal));
        if let Some(given) = given {
            check(given).map_err(|reason| anyhow!("{name} is wrong: \"{given}\": {reason}"))?;
            return Ok(given.to_owned());
        }
        ensure!(is_terminal, "{name} is missing: {text}");
        let shown = default.map(|default| format!(" [{default}]")).unwrap_or_default();
        loop {
            eprint!("{text}{shown}: ");
            io::stderr().flush()?;
            let mut line = String::new();
            ensure!(
                io::stdin().lock().read_line(&mut line)? > 0,
                "{name} is missing: {text}"
            );
            let answer = match line.trim() {
                "" => default.unwrap_or_default(),
                answer => answer,
            };
            match check(answer) {
                Ok(()) => return Ok(answer.to_owned()),
                Err(reason) => eprintln!("  {reason}"),
            }
        }
    }
}

/// Fails if an answer is empty.
pub fn some(raw: &str) -> Check {
    if raw.is_empty() {
        Err("it is empty")
    } else {
        Ok(())
    }
}
