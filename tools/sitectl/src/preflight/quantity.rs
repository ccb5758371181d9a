//! Quantities of Kubernetes, such as `100m` of a CPU or `64Mi` of memory.

/// A quantity in thousandths; nothing where it is none.
pub fn milli(raw: &str) -> Option<u128> {
    let digits = raw
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(raw.len());
    let (number, suffix) = raw.split_at(digits);
    // What an exact number of thousandths cannot say is of no weight here.
    let number = number.parse::<f64>().ok()? * milli_of(suffix)?;
    Some(number.round() as u128)
}

/// What one of a suffix is, in thousandths (`k8s.io/apimachinery/pkg/api/resource`).
fn milli_of(suffix: &str) -> Option<f64> {
    let (base, power): (f64, i32) = match suffix {
        "m" => return Some(1.0),
        "" => (1.0, 0),
        "k" => (1000.0, 1),
        "M" => (1000.0, 2),
        "G" => (1000.0, 3),
        "T" => (1000.0, 4),
        "Ki" => (1024.0, 1),
        "Mi" => (1024.0, 2),
        "Gi" => (1024.0, 3),
        "Ti" => (1024.0, 4),
        exponent => (10.0, exponent.strip_prefix(['e', 'E'])?.parse().ok()?),
    };
    Some(base.powi(power) * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_a_number_and_a_suffix() {
        for (raw, thousandths) in [
            ("100m", 100),
            ("2", 2_000),
            ("0.5", 500),
            ("64Mi", 67_108_864_000),
            ("16390188Ki", 16_783_552_512_000),
            ("1e3", 1_000_000),
            ("3G", 3_000_000_000_000),
        ] {
            assert_eq!(milli(raw), Some(thousandths), "{raw}");
        }
        for raw in ["", "Mi", "1Xi", "1..2", "-1", "1 Gi"] {
            assert_eq!(milli(raw), None, "{raw}");
        }
    }
}
