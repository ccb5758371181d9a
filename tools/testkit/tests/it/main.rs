//! The parts of tests, held to what they promise.

mod books;
mod clock;
mod cluster;
mod footprints;
mod mail_server;
mod publishing;
mod s3;
mod small_disk;
mod strangers;
mod what_is_left;
