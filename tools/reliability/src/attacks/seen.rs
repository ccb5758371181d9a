//! What was seen during an attack.

use super::{attack::Attack, honest_visitors::Visits, parts::Part};

/// What was seen during an attack.
pub struct Seen {
    /// Which one.
    pub attack: Attack,
    /// How often the attackers began something.
    pub attempts: usize,
    /// What honest visitors met.
    pub visits: Visits,
    /// The parts that visitors reach, or that take their forms.
    pub parts: Vec<Part>,
    /// How often a probe of the gateway's health did not succeed.
    pub failed_probes: usize,
    /// How many mails the victim was sent since the stack was started.
    pub mails_to_victim: usize,
}
