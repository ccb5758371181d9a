//! What a stack leaves behind.

use std::{
    fs,
    path::{Path, PathBuf},
};

use testkit::{Hosting, Ports, Shape, Stack};

/// The files of a run that are no logs.
fn stored(run: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![run.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                _ if path.extension().is_none_or(|end| end != "log") => files.push(path),
                _ => {}
            }
        }
    }
    files
}

#[tokio::test]
async fn a_stack_that_was_stopped_leaves_its_logs_and_nothing_that_it_stored() -> anyhow::Result<()> {
    let shape = Shape {
        hosting: Hosting::Nobody,
        ..Shape::USUAL
    };
    let stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
    let log = stack.logs().join("gateway.log");
    let run = stack.logs().join("..");
    assert!(log.exists() && !stored(&run).is_empty());
    stack.stop().await?;
    assert!(log.exists());
    assert_eq!(stored(&run), Vec::<PathBuf>::new());
    Ok(())
}
