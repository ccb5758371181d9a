//! Which attacks there are.

use clap::ValueEnum;

/// Whose address the many give as their own.
pub const VICTIM: &str = "victim@attack.example";

/// What is done to the site meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Attack {
    /// Nothing: what the others are compared with
    Quiet,
    /// Eight at once send a résumé of nearly 10 MB whose directory lists 207,000 entries
    CrowdedArchives,
    /// Fifty addresses begin four uploads each, and go on by a byte a second
    SlowUploads,
    /// Five addresses begin two uploads each, and go on by a little more than the least rate: enough for every place
    LeastRateUploads,
    /// Two thousand connections of forty addresses say nothing, and five hundred of one
    IdleConnections,
    /// A thousand connections of forty addresses: slow headers, slow bodies, and answers that nobody reads
    SlowConnections,
    /// Two hundred forms a second from one address
    FloodFromOne,
    /// Two hundred forms a second from ten thousand addresses, all in the name of one victim
    FloodFromMany,
    /// The same flood where the gateway asks for work in one, as the cluster's does: visitors do the work, attackers do not
    ChallengedFlood,
}

impl Attack {
    /// Whether the gateway asks for work meanwhile.
    pub fn is_challenged(self) -> bool {
        self == Self::ChallengedFlood
    }
}
