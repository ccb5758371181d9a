//! What docs/operations-flows.md says of who may call whom.

use std::collections::BTreeSet;

use anyhow::Context as _;

/// How the page calls all pods of ours, and all addresses that are no private ones.
pub const EVERY_POD: &str = "every pod";
pub const OUTSIDE: &str = "outside the cluster";
/// The chapter on components.
const CHANGES: &str = "What components change of production";

/// A flow from one workload to another's port, by their names.
pub type Flow = (String, String, u16);

/// The flows that `docs/operations-flows.md` has for an overlay with these components, which are worked out from the policies by other
/// means.
///
/// # Errors
///
/// If the page has no chapter on the overlay.
pub fn written_down(page: &str, overlay: &str, components: &[String]) -> anyhow::Result<BTreeSet<Flow>> {
    let chapter = |title: &str| {
        let named = format!("{title}\n");
        page.split("\n## ").find(|chapter| chapter.starts_with(&named))
    };
    let rows = chapter(overlay).with_context(|| format!("no flows are written down of {overlay}"))?;
    let mut flows: BTreeSet<Flow> = rows
        .lines()
        .filter_map(|row| flow(&mut row.trim_matches('|').split('|').map(str::trim)))
        .collect();
    for row in chapter(CHANGES)
        .context("no components are written down")?
        .lines()
    {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (component, change) = (cells.next().unwrap_or_default(), cells.next());
        let is_taken = components.iter().any(|taken| component == format!("`{taken}`"));
        match (change, flow(&mut cells)) {
            (Some("more"), Some(flow)) if is_taken => drop(flows.insert(flow)),
            (Some("no more"), Some(flow)) if is_taken => drop(flows.remove(&flow)),
            _ => {}
        }
    }
    Ok(flows)
}

fn flow<'a>(cells: &mut impl Iterator<Item = &'a str>) -> Option<Flow> {
    let (from, to, port) = (cells.next()?, cells.next()?, cells.next()?);
    let port = port.strip_suffix("/TCP")?.parse().ok()?;
    Some((from.to_owned(), to.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "
## production

| from | to | port |
|---|---|---|
| careers | outside the cluster | 443/TCP |
| every pod | elsewhere | 53/UDP |
| gateway | contact | 50051/TCP |

## What components change of production

| component | flows | from | to | port |
|---|---|---|---|---|
| `private-s3` | more | careers | addresses 192.0.2.0/24 | 443/TCP |
| `private-s3` | no more | careers | outside the cluster | 443/TCP |
| `ses-reports` | more | newsletter | outside the cluster | 443/TCP |
";

    #[test]
    fn a_component_adds_its_flows_and_takes_away_what_it_is_in_place_of() {
        let flows = |components: &[&str]| -> Vec<String> {
            let components: Vec<String> = components.iter().map(ToString::to_string).collect();
            let flows = written_down(PAGE, "production", &components).expect("a chapter");
            flows
                .into_iter()
                .map(|(from, to, port)| format!("{from} {to} {port}"))
                .collect()
        };
        let to_contact = "gateway contact 50051";
        assert_eq!(flows(&[]), ["careers outside the cluster 443", to_contact]);
        let with_private_store = ["careers addresses 192.0.2.0/24 443", to_contact];
        assert_eq!(flows(&["private-s3", "canary"]), with_private_store);
        assert!(written_down(PAGE, "prod", &[]).is_err());
    }
}
