//! What mails look like: their templates, the company that they speak for, and what an issue of the newsletter is rendered with.

mod brand;
mod bundle_kind;
mod issue;
mod templates;

pub use brand::Brand;
pub use bundle_kind::BundleKind;
pub use issue::issue_values;
pub use templates::{Kind, Rendered, Templates};
