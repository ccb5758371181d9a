//! A front end's server as a browser uses it.

mod both_forms;
mod one_front_end;
