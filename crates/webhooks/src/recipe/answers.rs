//! Interprets an answer by the recipe's rules. If no rule matches, the answer's status decides.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::file::{AnswerFile, Meaning};

pub struct Answers(Vec<Rule>);

struct Rule {
    statuses: RangeInclusive<u16>,
    body: Vec<(String, Value)>,
    means: Meaning,
}

impl Answers {
    pub fn read(rules: Vec<AnswerFile>) -> Result<Self, (usize, String)> {
        let rules = rules.into_iter().map(|rule| {
            let statuses = match &rule.status {
                None => Ok(100..=599),
                Some(status) => statuses(&status.value).ok_or_else(|| {
                    let line = usize::try_from(status.referenced.line()).unwrap_or_default();
                    (line, "a status is 409, 4xx or 400-499".to_owned())
                }),
            };
            Ok(Rule {
                statuses: statuses?,
                body: rule.body.into_iter().collect(),
                means: rule.means,
            })
        });
        rules.collect::<Result<_, _>>().map(Self)
    }

    pub fn judge(&self, status: u16, body: &Value) -> Meaning {
        let rule = self.0.iter().find(|rule| rule.fits(status, body));
        rule.map_or_else(|| by_status(status), |rule| rule.means)
    }
}

impl Rule {
    fn fits(&self, status: u16, body: &Value) -> bool {
        self.statuses.contains(&status)
            && self.body.iter().all(|(pointer, wanted)| {
                let found = body.pointer(pointer).unwrap_or(&Value::Null);
                match wanted {
                    Value::Array(any) => any.contains(found),
                    one => one == found,
                }
            })
    }
}

/// Rejected credentials (401, 403) lead to a retry, because the operator can fix them.
fn by_status(status: u16) -> Meaning {
    match status {
        200..=299 => Meaning::Done,
        300..=399 | 401 | 403 | 408 | 425 | 429 | 500..=599 => Meaning::Again,
        _ => Meaning::Never,
    }
}

fn statuses(listed: &Value) -> Option<RangeInclusive<u16>> {
    let listed = match listed {
        Value::Number(number) => number.to_string(),
        Value::String(listed) => listed.clone(),
        _ => return None,
    };
    let (first, last) = match (listed.strip_suffix("xx"), listed.split_once('-')) {
        (Some(hundreds), _) => {
            let first = hundreds.parse::<u16>().ok()?.checked_mul(100)?;
            (first, first.checked_add(99)?)
        }
        (None, Some((first, last))) => (first.trim().parse().ok()?, last.trim().parse().ok()?),
        (None, None) => {
            let status = listed.parse().ok()?;
            (status, status)
        }
    };
    ((100..=599).contains(&first) && first <= last && last <= 599).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answers(rules: &str) -> Answers {
        let rules = serde_saphyr::from_str(rules).expect("rules");
        Answers::read(rules).unwrap_or_else(|(line, reason)| panic!("{line}: {reason}"))
    }

    #[test]
    fn the_first_matching_rule_decides_and_without_one_the_status() {
        let table = answers(
            "[{status: 409, means: done},
              {status: 2xx, body: {/data/0/code: [SUCCESS, DUPLICATE_DATA]}, means: done},
              {status: 200-202, body: {/data/0/code: LIMIT}, means: again},
              {status: 2xx, means: never}]",
        );
        let code = |code: &str| json!({ "data": [{ "code": code }] });
        for (status, body, means) in [
            (409, Value::Null, Meaning::Done),
            (201, code("SUCCESS"), Meaning::Done),
            (200, code("DUPLICATE_DATA"), Meaning::Done),
            (202, code("LIMIT"), Meaning::Again),
            (203, code("LIMIT"), Meaning::Never),
            (200, Value::Null, Meaning::Never),
            (400, code("SUCCESS"), Meaning::Never),
            (401, Value::Null, Meaning::Again),
            (404, Value::Null, Meaning::Never),
            (429, Value::Null, Meaning::Again),
            (302, Value::Null, Meaning::Again),
            (500, Value::Null, Meaning::Again),
        ] {
            assert_eq!(table.judge(status, &body), means, "{status} {body}");
        }
    }

    #[test]
    fn an_invalid_status_is_refused() {
        for status in ["ok", "9xx", "600", "299-200", "[200]", "99", "-1"] {
            let rules = serde_saphyr::from_str(&format!("[{{status: {status}, means: done}}]"));
            let refusal = Answers::read(rules.expect("rules")).err();
            assert_eq!(refusal.map(|(line, _)| line), Some(1), "{status}");
        }
    }
}
