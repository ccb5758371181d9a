//! The gRPC contracts of `proto/`, as generated code.
#![expect(
    missing_docs,
    clippy::allow_attributes,
    reason = "generated: the documentation stands in the .proto files"
)]

pub mod attribution {
    pub mod v1 {
        tonic::include_proto!("attribution.v1");
    }
}

pub mod contact {
    pub mod v1 {
        tonic::include_proto!("contact.v1");
    }
}

pub mod newsletter {
    pub mod v1 {
        tonic::include_proto!("newsletter.v1");
    }
}

pub mod careers {
    pub mod v1 {
        tonic::include_proto!("careers.v1");
    }
}

/// Every service's descriptors, for server reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
