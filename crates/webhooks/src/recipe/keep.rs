//! Values that a step keeps from its answer for later steps.

use serde_json::Value;

/// Part of a pointer that means every element of a list.
const EACH: &str = "/*";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    /// Name of the value in templates.
    pub name: String,
    /// JSON pointer to the value, or to the list whose elements contain it.
    pointer: String,
    /// JSON pointer to the value inside each element of the list.
    in_each: Option<String>,
}

impl Keep {
    /// Parses a pointer such as `/data/id`, or `/data/*/id` for a list.
    pub fn parse(name: &str, pointer: &str) -> Result<Self, &'static str> {
        if !pointer.starts_with('/') {
            return Err("what is kept is named by a JSON pointer, such as /data/id or /data/*/id");
        }
        let (pointer, in_each) = match pointer.split_once(EACH) {
            Some((list, in_each)) => (list, Some(in_each.to_owned())),
            None => (pointer, None),
        };
        if in_each.as_ref().is_some_and(|rest| rest.contains(EACH)) {
            return Err("what is kept is of one list, and not of lists within lists");
        }
        Ok(Self {
            name: name.to_owned(),
            pointer: pointer.to_owned(),
            in_each,
        })
    }

    /// Value until the answer arrives: an empty list for a list, otherwise none.
    pub fn before(&self) -> Option<Value> {
        self.in_each.as_ref().map(|_| Value::Array(Vec::new()))
    }

    pub fn of(&self, answer: &Value) -> Option<Value> {
        let found = answer.pointer(&self.pointer);
        let Some(in_each) = &self.in_each else {
            return found.cloned();
        };
        let elements = found.and_then(Value::as_array).into_iter().flatten();
        Some(
            elements
                .filter_map(|element| element.pointer(in_each).cloned())
                .collect(),
        )
    }

    /// Placeholder for the value in previews.
    pub fn unknown(&self, step: &str) -> Value {
        let unknown = Value::String(format!("{step}.{}", self.name));
        match self.in_each {
            Some(_) => Value::Array(vec![unknown]),
            None => unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_or_a_list_of_values_is_kept() {
        let answer = json!({ "data": [{ "id": 1 }, {}, { "id": "b" }], "next": null });
        for (pointer, kept) in [
            ("/data/0/id", Some(json!(1))),
            ("/data/*/id", Some(json!([1, "b"]))),
            ("/next", Some(json!(null))),
            ("/next/*/id", Some(json!([]))),
            ("/none", None),
        ] {
            let keep = Keep::parse("id", pointer).expect("a pointer");
            assert_eq!(keep.of(&answer), kept, "{pointer}");
        }
        assert!(Keep::parse("id", "data/id").is_err());
        assert!(Keep::parse("id", "/a/*/b/*/c").is_err());
    }
}
