//! Recipes, as vendors and whoever writes one meet them.

mod answers;
mod examples;
mod lines;
mod recipes;
mod setting;
mod tokens;
mod verify_webhook;
