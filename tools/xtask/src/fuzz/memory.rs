//! How a target's memory grew while it ran, by what libFuzzer says of it on the way.

/// How many MB more it took at most than in the first quarter of its inputs. None of a run that was too short to say.
pub fn growth_mb(said: &str) -> Option<u64> {
    let peaks: Vec<(u64, u64)> = said.lines().filter_map(peak).collect();
    let (inputs, last_mb) = *peaks.last()?;
    let (_, first_mb) = peaks.iter().find(|(number, _)| number * 4 >= inputs)?;
    Some(last_mb.saturating_sub(*first_mb))
}

/// After how many inputs a line was said, and how much memory had been taken at most by then.
fn peak(line: &str) -> Option<(u64, u64)> {
    let (number, rest) = line.strip_prefix('#')?.split_once('\t')?;
    let (_, mb) = rest.split_once("rss: ")?;
    let (mb, _) = mb.split_once("Mb")?;
    Some((number.parse().ok()?, mb.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "\
INFO: seed corpus: files: 4 min: 1b max: 90b total: 200b rss: 38Mb
#5\tINITED cov: 2204 ft: 2605 corp: 4/200b exec/s: 0 rss: 40Mb
#1024\tGENERATE\tvalid: 1024 (100.00%) valid/s: 1024 (100.00%)
#2048\tpulse  cov: 2391 ft: 4046 corp: 88/1201b lim: 21 exec/s: 682 rss: 60Mb
#3000\tNEW    cov: 2392 ft: 4047 corp: 89/12Kb lim: 21 exec/s: 682 rss: 90Mb L: 14/21 MS: 1 EraseBytes-
#8000\tDONE   cov: 2392 ft: 4050 corp: 90/12Kb lim: 21 exec/s: 670 rss: 230Mb
stat::peak_rss_mb:              230
";

    #[test]
    fn memory_that_grows_after_the_first_quarter_is_what_a_target_keeps() {
        assert_eq!(growth_mb(RUN), Some(170));
        let even = RUN.replace("230Mb", "60Mb").replace("90Mb", "60Mb");
        assert_eq!(growth_mb(&even), Some(0));
    }

    #[test]
    fn where_nothing_was_said_of_memory_nothing_is_known() {
        assert_eq!(growth_mb("INFO: nothing\n#1\tGENERATE\tvalid: 1\n"), None);
    }
}
