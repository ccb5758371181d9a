//! The gRPC transport.

use std::sync::Arc;

use site_proto::newsletter::v1::{
    ConfirmRequest, ConfirmResponse, SubscribeRequest, SubscribeResponse, UnsubscribeRequest,
    UnsubscribeResponse, newsletter_service_server::NewsletterService,
};
use site_service::RequestId;
use time::OffsetDateTime;
use tonic::{Request, Response, Status};

use crate::{links, newsletter::Newsletter, sign_up};

pub struct Api(pub Arc<Newsletter>);

#[tonic::async_trait]
impl NewsletterService for Api {
    async fn subscribe(
        &self,
        request: Request<SubscribeRequest>,
    ) -> Result<Response<SubscribeResponse>, Status> {
        let (request_id, now) = arrival(&request);
        sign_up::sign_up(&self.0, &request_id, request.into_inner(), now).await?;
        Ok(Response::new(SubscribeResponse {}))
    }

    async fn confirm(&self, request: Request<ConfirmRequest>) -> Result<Response<ConfirmResponse>, Status> {
        let (request_id, now) = arrival(&request);
        links::confirm(&self.0, &request_id, &request.get_ref().token, now).await?;
        Ok(Response::new(ConfirmResponse {}))
    }

    async fn unsubscribe(
        &self,
        request: Request<UnsubscribeRequest>,
    ) -> Result<Response<UnsubscribeResponse>, Status> {
        let (request_id, now) = arrival(&request);
        links::unsubscribe(&self.0, &request_id, &request.get_ref().token, now).await?;
        Ok(Response::new(UnsubscribeResponse {}))
    }
}

/// Request id and time of arrival.
fn arrival<T>(request: &Request<T>) -> (RequestId, OffsetDateTime) {
    let id = RequestId::of_metadata(request.metadata());
    (id, OffsetDateTime::now_utc())
}
