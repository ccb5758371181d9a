//! Our addresses, mail templates with their values, DKIM signatures, and causes of rejections.

mod addresses;
mod brand;
pub mod dkim;
mod issue;
pub mod refusal;
mod templates;

pub use addresses::{AddressSettings, is_example, mailbox};
pub use brand::Brand;
pub use issue::issue_values;
pub use templates::{Kind, Rendered, Templates};
