//! What turns come to: the middle one of several, and of a turn what most of its answers do not exceed.

use testkit::measure::median;

/// The median of what this is in each turn.
pub fn middle<T>(turns: &[T], value: impl Fn(&T) -> f64) -> f64 {
    median(turns.iter().map(value).collect())
}

/// What this share of them does not exceed, the least first.
pub fn percentile<T: Copy + Default>(sorted: &[T], share: f64) -> T {
    let at = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_hundred_answers_the_slowest_is_beyond_p99() {
        let answers: Vec<u64> = (1..=100).collect();
        let of = |share| percentile(&answers, share);
        assert_eq!([of(0.5), of(0.99), of(0.999)], [50, 99, 100]);
        assert_eq!(percentile::<u64>(&[], 0.5), 0);
    }
}
