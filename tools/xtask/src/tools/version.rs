//! Versions as programs say them.

/// The first two numbers in a version.
pub fn version(text: &str) -> Option<(u64, u64)> {
    let digits = text.find(|c: char| c.is_ascii_digit())?;
    let mut parts = text[digits..].split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        assert_eq!(version("nats-server: v2.15.1"), Some((2, 15)));
        assert_eq!(version("24.1.0"), Some((24, 1)));
        assert_eq!(version("none"), None);
    }
}
