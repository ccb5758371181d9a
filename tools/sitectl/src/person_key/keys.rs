//! Both keys, as the command needs them.

use clap::Args;
use visitor::PersonKey;

/// The key of person ids, and the one before it.
#[derive(Args, Debug)]
pub struct BothKeys {
    /// Key of the person ids, at least 32 bytes, the same in every service
    #[arg(long, env = "PERSON_KEY", hide_env_values = true, value_parser = PersonKey::new)]
    pub person_key: PersonKey,
    /// The key of person ids before it, from whose ids subscribers are moved
    #[arg(long, env = "PERSON_KEY_FORMER", hide_env_values = true, value_parser = PersonKey::new)]
    pub person_key_former: PersonKey,
}
