//! Tests recipes against vendors' documents, and the examples that verify signatures.

mod answers;
mod examples;
mod lines;
mod recipes;
mod setting;
mod tokens;
mod verify_webhook;
