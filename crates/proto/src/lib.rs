//! The gRPC contracts of `proto/`, as generated code.
//!
//! `examples/generate.rs` writes it.
#![expect(
    missing_docs,
    clippy::allow_attributes,
    clippy::missing_errors_doc,
    clippy::too_many_lines,
    reason = "generated: the documentation stands in the .proto files"
)]

pub mod attribution {
    pub mod v1 {
        include!("generated/attribution.v1.rs");
    }
}

pub mod contact {
    pub mod v1 {
        include!("generated/contact.v1.rs");
    }
}

pub mod newsletter {
    pub mod v1 {
        include!("generated/newsletter.v1.rs");
    }
}

pub mod careers {
    pub mod v1 {
        include!("generated/careers.v1.rs");
    }
}

impl From<attribution::v1::Attribution> for site_events::Attribution {
    fn from(told: attribution::v1::Attribution) -> Self {
        Self {
            page: Some(told.page),
            referrer: Some(told.referrer),
            utm_source: Some(told.utm_source),
            utm_medium: Some(told.utm_medium),
            utm_campaign: Some(told.utm_campaign),
            utm_term: Some(told.utm_term),
            utm_content: Some(told.utm_content),
        }
    }
}

/// Every service's descriptors, for server reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!("generated/descriptors.bin");
