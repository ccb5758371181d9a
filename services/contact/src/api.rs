//! The gRPC transport.

use site_broker::Publisher;
use site_proto::contact::v1::{SubmitRequest, SubmitResponse, contact_service_server::ContactService};
use site_service::RequestId;
use tonic::{Request, Response, Status};

use crate::{sender::Senders, submit::submit};

pub struct Api {
    pub publisher: Publisher,
    pub senders: Senders,
}

#[tonic::async_trait]
impl ContactService for Api {
    async fn submit(&self, request: Request<SubmitRequest>) -> Result<Response<SubmitResponse>, Status> {
        let request_id = RequestId::of_metadata(request.metadata());
        let stored = submit(&self.publisher, &self.senders, &request_id, request.into_inner()).await?;
        Ok(Response::new(stored))
    }
}
