//! The gateway as a browser meets it.

mod alone;
mod answers;
mod openapi;
mod site;
mod traces;
mod whole_path;
