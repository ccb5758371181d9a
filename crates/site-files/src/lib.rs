//! Serves what the front ends' build wrote, the same wherever it lies: [`Site`] answers a folder's pages and files,
//! [`security_headers`] says what browsers are told about every answer.

pub mod security_headers;
mod site;

pub use site::Site;
