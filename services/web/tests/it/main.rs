//! A front end's server as a browser meets it.

mod one_front_end;
