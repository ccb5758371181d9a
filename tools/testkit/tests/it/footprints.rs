//! What each service takes before it is given any work.

use testkit::{Ports, Shape, Stack, measure};

#[tokio::test]
async fn each_service_is_started_anew_and_measured() -> anyhow::Result<()> {
    let mut stack = Stack::start_as(Shape::USUAL, Ports::free()?, &[]).await?;
    let names = stack.names();
    let measured = measure::footprints(&mut stack).await?;
    assert_eq!(Vec::from_iter(measured.iter().map(|one| one.service)), names);
    for one in measured {
        assert!(one.idle_bytes > 0 && one.binary_bytes > 0, "{}", one.service);
    }
    stack.stop().await
}
