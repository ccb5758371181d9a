//! Open positions, from the file that the site's pages use.

use std::sync::LazyLock;

use serde::Deserialize;

static POSITIONS: LazyLock<Vec<Position>> = LazyLock::new(|| {
    let file = include_str!("../../../../frontends/careers/src/positions.json");
    serde_json::from_str(file).unwrap_or_default()
});

#[derive(Deserialize)]
struct Position {
    title: String,
}

/// The site's spelling of an entered position; none if it is unknown, because the field accepts any text.
pub fn title(entered: &str) -> Option<&'static str> {
    let entered = entered.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut titles = POSITIONS.iter().map(|position| position.title.as_str());
    titles.find(|title| title.eq_ignore_ascii_case(&entered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_position_of_the_site_is_known_by_its_title() {
        assert!(!POSITIONS.is_empty(), "the file holds no positions");
        for Position { title: ours } in POSITIONS.iter() {
            assert_eq!(title(ours), Some(ours.as_str()));
        }
    }

    #[test]
    fn a_title_is_repeated_as_the_site_writes_it() {
        assert_eq!(title("Backend Intern"), Some("Backend Intern"));
        assert_eq!(title(" backend  INTERN "), Some("Backend Intern"));
        for other in [
            "",
            "Intern",
            "Backend Intern at casino.example",
            "Backend Intern\u{200b}",
            "Buy now",
        ] {
            assert_eq!(title(other), None, "{other:?}");
        }
    }
}
