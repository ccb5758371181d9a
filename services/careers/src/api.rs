//! gRPC API.

use site_proto::careers::v1::{ApplyRequest, ApplyResponse, careers_service_server::CareersService};
use site_service::{RequestId, drain::Drain};
use tonic::{Request, Response, Status, Streaming};

use crate::apply::{Careers, apply};

pub struct Api {
    pub careers: Careers,
}

#[tonic::async_trait]
impl CareersService for Api {
    async fn apply(
        &self,
        request: Request<Streaming<ApplyRequest>>,
    ) -> Result<Response<ApplyResponse>, Status> {
        let request_id = RequestId::of_metadata(request.metadata());
        let drain = Drain::of(request.extensions());
        let event_id = apply(&self.careers, &request_id, &drain, request.into_inner()).await?;
        Ok(Response::new(ApplyResponse {
            event_id: event_id.to_string(),
        }))
    }
}
