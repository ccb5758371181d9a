//! Static file server for the front ends' build, used by the gateway and `services/web`.
//!
//! [`Site`] serves a folder's pages and files; [`security_headers`] adds the headers of every answer.

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
