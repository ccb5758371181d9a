//! The gateway as a browser meets it.

mod alone;
mod answers;
mod openapi;
mod site;
mod whole_path;
