//! The gRPC transport.

use site_broker::Publisher;
use site_proto::contact::v1::{SubmitRequest, SubmitResponse, contact_service_server::ContactService};
use site_service::RequestId;
use tonic::{Request, Response, Status};
use visitor::PersonKeys;

use crate::submit::submit;

pub struct Api {
    pub publisher: Publisher,
    pub person_keys: PersonKeys,
}

#[tonic::async_trait]
impl ContactService for Api {
    async fn submit(&self, request: Request<SubmitRequest>) -> Result<Response<SubmitResponse>, Status> {
        let request_id = RequestId::of_metadata(request.metadata());
        let stored = submit(
            &self.publisher,
            &self.person_keys,
            &request_id,
            request.into_inner(),
        )
        .await?;
        Ok(Response::new(stored))
    }
}
