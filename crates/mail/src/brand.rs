//! The fields of `brand.json` that mails show. `brand.schema.json` describes the whole file.

use std::fs;

use lettre::Address;
use serde::{Deserialize, Serialize};

/// The company.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Brand {
    /// Name of the company.
    pub name: String,
    /// Sentence about the company's business.
    pub tagline: String,
    /// Addresses that visitors see.
    pub emails: Emails,
    /// Telephone number of the company.
    pub phone: String,
    /// Postal address of the office.
    pub address: PostalAddress,
}

/// Addresses that visitors see.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Emails {
    /// Address for questions before a purchase.
    pub sales: Address,
    /// Address for all other mails.
    pub admin: Address,
    /// Address for internships.
    pub careers: Address,
}

/// Postal address.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PostalAddress {
    /// Lines of the address above the city.
    pub lines: Vec<String>,
    /// The city.
    pub city: String,
    /// The country.
    pub country: String,
}

impl Brand {
    /// Reads and parses the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or parsed.
    pub fn read(path: &str) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("it cannot be read: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("it is not a brand file: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../brand.json");
    const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../brand.schema.json");

    fn json(path: &str) -> Value {
        let text = fs::read_to_string(path).expect("it is in the repository");
        serde_json::from_str(&text).expect("it is JSON")
    }

    #[test]
    fn the_brand_file_is_what_its_schema_describes() {
        let schema = jsonschema::validator_for(&json(SCHEMA)).expect("it is a schema");
        let wrong: Vec<String> = schema
            .iter_errors(&json(FILE))
            .map(|error| error.to_string())
            .collect();
        assert_eq!(wrong, [""; 0]);
        let mut misspelt = json(FILE);
        misspelt["phnoe"] = "+91 44 0000 0000".into();
        assert!(!schema.is_valid(&misspelt));
    }

    #[test]
    fn the_schemas_required_fields_are_enough() {
        let mut smallest = json(FILE);
        let required = json(SCHEMA)["required"].take();
        let required: Vec<String> = serde_json::from_value(required).expect("names");
        let fields = smallest.as_object_mut().expect("a brand is an object");
        fields.retain(|name, _| required.contains(name));
        assert!(serde_json::from_value::<Brand>(smallest).is_ok());
    }

    #[test]
    fn an_invalid_brand_file_is_refused_with_the_reason() {
        let refusal = Brand::read("/nowhere/brand.json").expect_err("there is none");
        assert!(refusal.starts_with("it cannot be read"), "{refusal}");
        let refusal = Brand::read(SCHEMA).expect_err("a schema is no brand");
        assert!(
            refusal.starts_with("it is not a brand file: missing field"),
            "{refusal}"
        );
    }
}
