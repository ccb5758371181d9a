//! Enhanced status codes (RFC 3463): what an answer is about, where a server says so.

/// The subject and the detail of the first status code of this class in an answer's words (RFC 3463, 2).
pub fn enhanced_status(class: u16, words: &str) -> Option<(u16, u16)> {
    words.split_whitespace().find_map(|word| {
        let mut numbers = word.trim_matches(|c: char| !c.is_ascii_digit()).split('.');
        let mut next = || numbers.next()?.parse::<u16>().ok();
        let status = (next()?, next()?, next()?);
        match (status, next()) {
            ((of_class, subject, detail), None) if of_class == class => Some((subject, detail)),
            _ => None,
        }
    })
}
