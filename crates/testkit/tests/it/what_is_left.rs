//! What a stack leaves behind.

use testkit::{Hosting, Ports, Shape, Stack};

#[tokio::test]
async fn a_stack_that_was_stopped_leaves_its_logs_and_nothing_that_it_stored() -> anyhow::Result<()> {
    let shape = Shape {
        hosting: Hosting::Nobody,
        ..Shape::USUAL
    };
    let stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
    let log = stack.logs().join("gateway.log");
    let stored = stack.logs().with_file_name("nats").join("nats.conf");
    assert!(log.exists() && stored.exists());
    stack.stop().await?;
    assert!(log.exists() && !stored.exists());
    Ok(())
}
