//! Settings of challenges.

use clap::{Args, ValueEnum};
use site_service::settings::{ExposeSecret, Secret};

const MIN_KEY_BYTES: usize = 32;

/// When a challenge is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChallengeMode {
    /// Never
    Off,
    /// During a flood, when more forms arrive than people send
    Flood,
    /// For every form
    Always,
}

/// Settings of the proof of work.
#[derive(Args, Debug)]
pub struct ChallengeSettings {
    /// When a form needs a proof of work, which our pages compute automatically
    #[arg(long = "challenge", value_name = "CHALLENGE", env = "CHALLENGE", value_enum, default_value_t = ChallengeMode::Off)]
    pub mode: ChallengeMode,
    /// Average tries per challenge; 2000 need half a second on a desktop, some seconds on an old phone
    #[arg(long = "challenge-tries", value_name = "CHALLENGE_TRIES", env = "CHALLENGE_TRIES", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub tries: u32,
    /// Key that signs challenges, at least 32 bytes, the same in every gateway; without it each gateway makes its own key
    #[arg(long = "challenge-key", value_name = "CHALLENGE_KEY", env = "CHALLENGE_KEY", hide_env_values = true, value_parser = challenge_key)]
    pub key: Option<Secret>,
}

fn challenge_key(raw: &str) -> Result<Secret, String> {
    let key = Secret::from(raw);
    if key.expose_secret().len() < MIN_KEY_BYTES {
        return Err(format!("a key has at least {MIN_KEY_BYTES} bytes"));
    }
    Ok(key)
}
