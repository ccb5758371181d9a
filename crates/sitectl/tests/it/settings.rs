//! The table of settings in `docs/operations.md`.

#[path = "../../examples/settings/table.rs"]
mod table;

use std::fs;

#[test]
fn the_page_names_every_setting_as_the_programs_take_it() -> anyhow::Result<()> {
    let page = fs::read_to_string(testkit::root().join("docs/operations.md"))?;
    let should = table::within(&page)?;
    for (stands, should) in page.lines().zip(should.lines()) {
        assert_eq!(stands, should, "cargo xtask settings writes it anew");
    }
    assert_eq!(page.lines().count(), should.lines().count());
    assert!(
        should.contains("| `TOKEN_KEY` | `--token-key` | it does not start | **Secret**"),
        "secrets are told as such"
    );
    Ok(())
}
