//! Common parts of every binary: settings, telemetry, health, drain.

#[cfg(feature = "jemalloc")]
mod allocator;
mod core_dumps;
pub mod detached_calls;
pub mod drain;
mod error_line;
pub mod grpc;
pub mod grpc_middleware;
pub mod health;
pub mod http;
pub mod http_health;
pub mod http_middleware;
pub mod idempotency;
mod listener;
mod log_lines;
pub mod metrics;
pub mod nats;
mod nats_login;
pub mod program;
pub mod request_id;
pub mod settings;
pub mod site_files;
pub mod status;
pub mod telemetry;
pub mod tls;
pub mod trace;

pub use error_line::error_line;
pub use request_id::RequestId;

/// HTTP header that marks a synthetic submission.
pub const SYNTHETIC_MARK: &str = "synthetic-mark";
