//! What the S3 server does wrong when it is told to, as a service's own client meets it.

use std::{fs, path::PathBuf, time::Duration};

use resumes::{ResumeKey, ResumeStore};
use tempfile::TempDir;
use testkit::{S3, S3Fault};
use tokio::time::Instant;
use uuid::Uuid;
use visitor::{EmailAddress, PersonKey};

const RESUME: usize = 400_000;
const PDF: &str = "application/pdf";

struct Scene {
    s3: S3,
    store: ResumeStore,
    key: ResumeKey,
    file: PathBuf,
    _folder: TempDir,
}

impl Scene {
    async fn new() -> anyhow::Result<Self> {
        let (s3, folder) = (S3::start().await?, TempDir::new()?);
        let file = folder.path().join("resume");
        fs::write(&file, vec![b'x'; RESUME])?;
        let person = PersonKey::new("a person key of thirty-two bytes or more")?;
        let person = person.person(&EmailAddress::parse("zoe@example.org")?);
        Ok(Self {
            store: ResumeStore::new(&s3.settings()?),
            key: ResumeKey::new(&person, Uuid::now_v7()),
            s3,
            file,
            _folder: folder,
        })
    }

    async fn is_put(&self) -> bool {
        self.store.put(&self.key, &self.file, PDF).await.is_ok()
    }

    /// The lengths of all that is stored.
    fn stored(&self) -> anyhow::Result<Vec<usize>> {
        let objects = self.s3.objects()?;
        Ok(objects.iter().map(|(_, content)| content.len()).collect())
    }
}

#[tokio::test]
async fn an_upload_that_is_stored_can_be_answered_with_a_failure() -> anyhow::Result<()> {
    let scene = Scene::new().await?;
    scene.s3.fault(S3Fault::FailAfterStoring);
    assert!(!scene.is_put().await);
    assert_eq!(scene.stored()?, [RESUME]);
    assert_eq!(scene.store.get(&scene.key).await?.len(), RESUME);
    Ok(())
}

#[tokio::test]
async fn what_is_refused_or_cut_is_not_stored_until_the_fault_is_over() -> anyhow::Result<()> {
    let scene = Scene::new().await?;
    for fault in [S3Fault::Unavailable, S3Fault::CutUploadAfter(RESUME / 2)] {
        scene.s3.fault(fault);
        assert!(!scene.is_put().await, "{fault:?}");
        assert!(scene.stored()?.is_empty(), "{fault:?}");
    }
    scene.s3.fault(S3Fault::None);
    assert!(scene.is_put().await);
    assert_eq!(scene.stored()?, [RESUME]);
    Ok(())
}

#[tokio::test]
async fn a_slow_server_takes_and_gives_as_slowly_as_it_is_told_until_it_is_told_otherwise()
-> anyhow::Result<()> {
    let scene = Scene::new().await?;
    let a_second = u32::try_from(RESUME)?;
    scene.s3.fault(S3Fault::Slow(a_second));
    for is_upload in [true, false] {
        let started = Instant::now();
        if is_upload {
            assert!(scene.is_put().await);
        } else {
            assert_eq!(scene.store.get(&scene.key).await?.len(), RESUME);
        }
        let took = started.elapsed();
        assert!(took > Duration::from_millis(900), "{took:?}");
    }
    scene.s3.fault(S3Fault::Slow(1));
    let (put, ()) = tokio::join!(scene.is_put(), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        scene.s3.fault(S3Fault::None);
    });
    assert!(put);
    Ok(())
}
