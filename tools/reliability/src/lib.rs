//! Two promises, attacked: that nothing is lost (faults under load, then the books), and that honest visitors get through.

pub mod attacks;
mod awaited_deliveries;
mod books;
mod faults;
mod holdings;
mod ledger;
mod limits;
mod memory;
mod plan;
mod program;
mod repeats;
mod run;
mod spool;
mod submission;
mod table;
mod visitors;

pub use books::{Balance, Losses};
pub use plan::Plan;
pub use program::until_signal;
pub use run::{Outcome, run};
pub use submission::{FormKind, Submission};
pub use table::{HEAD, broken_promises, long_elections, row, too_slow};
