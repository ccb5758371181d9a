//! Prints the API's OpenAPI document: `cargo run -p gateway --example openapi > docs/openapi.json`.

use std::io::Write;

fn main() -> anyhow::Result<()> {
    let document = gateway::openapi().to_pretty_json()?;
    Ok(writeln!(std::io::stdout(), "{document}")?)
}
