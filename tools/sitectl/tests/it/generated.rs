//! Generated documents are current.

use testkit::generated;

use crate::settings_table;

#[test]
fn the_generated_table_of_settings_is_current() -> anyhow::Result<()> {
    generated::ensure_table_is_current("docs/operations.md", "settings", &settings_table::table())
}

#[test]
fn the_generated_openapi_document_is_current() -> anyhow::Result<()> {
    let document = gateway::openapi().to_pretty_json()?;
    generated::ensure_current("docs/openapi.json", &format!("{document}\n"))
}
