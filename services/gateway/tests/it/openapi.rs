use std::path::Path;

#[test]
fn the_committed_document_is_the_one_the_handlers_make() -> anyhow::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let committed = std::fs::read_to_string(path)?;
    let made = gateway::openapi().to_pretty_json()?;
    assert_eq!(
        committed.trim_end(),
        made,
        "run: cargo run -p gateway --example openapi > docs/openapi.json"
    );
    Ok(())
}
