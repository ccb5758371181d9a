//! Contact details of the company, compiled in from `brand.json`.

use std::sync::LazyLock;

use serde_json::Value;

const BRAND: &str = include_str!("../../../brand.json");

/// Sentence for visitors whose form is rejected: how else to contact us.
pub static OTHER_WAY: LazyLock<String> = LazyLock::new(|| {
    let brand: Value = serde_json::from_str(BRAND).unwrap_or_default();
    let [email, phone] = [&brand["emails"]["sales"], &brand["phone"]].map(|value| value.as_str());
    let (email, phone) = (email.unwrap_or_default(), phone.unwrap_or_default());
    format!("You may also write to {email} or call {phone}.")
});
