//! Static file server: serves what the front ends' build wrote, for the gateway and `services/web`.
//!
//! [`Site`] answers a folder's pages and files, the same wherever it lies, [`security_headers`] says what browsers are told about
//! every answer.

mod answer_cache;
mod canonical_path;
mod content_security_policy;
mod drawings;
mod folder;
mod page_loads;
mod ranges;
pub mod security_headers;
mod site;

pub use site::Site;
