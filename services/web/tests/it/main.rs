//! A front end's server as a browser meets it.

mod both_forms;
mod one_front_end;
