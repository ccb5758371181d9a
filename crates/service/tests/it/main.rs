//! Every service's servers and broker connections, through real clients.

mod grpc_tls;
mod http1;
mod http2;
mod http_server;
mod nats_tls;
