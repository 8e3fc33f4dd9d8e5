use super::*;
use crate::tenants::Tenants;
use futures_util::future::join_all;
use signalbox_caching::Secret;
use std::sync::Mutex as StdMutex;
use tokio::time::timeout;

/// Remembers what it was asked, and takes a while.
#[derive(Debug, Default)]
struct Slow(StdMutex<Vec<usize>>);

#[async_trait::async_trait]
impl Embedder for Slow {
    fn id(&self) -> &str {
        "slow"
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, NotEmbedded> {
        self.0.lock().unwrap().push(texts.len());
        sleep(Duration::from_millis(100)).await;
        Ok(Embedded { vectors: texts.iter().map(|text| vec![text.len() as f32]).collect(), attempt: None })
    }
}

fn made() -> (Arc<Slow>, Vectors, Tenants) {
    let slow = Arc::new(Slow::default());
    let options = Options { embed_batch: 4, ..Options::default() };
    let vectors = Vectors::new(slow.clone(), &options);
    (slow, vectors, Tenants::new(Secret::new(b"s"), Duration::from_secs(1)))
}

#[tokio::test(start_paused = true)]
async fn texts_of_one_moment_go_in_one_call_and_no_text_goes_twice() {
    let (slow, vectors, tenants) = made();
    let tenant = tenants.get("acme");
    let texts = ["a", "bb", "bb", "ccc", "a"];
    let got = join_all(texts.map(|text| vectors.of(&tenant, text))).await;
    let lengths: Vec<_> = got.into_iter().map(|vector| vector.unwrap()[0]).collect();
    assert_eq!(lengths, [1.0, 2.0, 2.0, 3.0, 1.0]);
    assert_eq!(*slow.0.lock().unwrap(), [3]);
    assert_eq!(vectors.of(&tenant, "bb").await.unwrap()[0], 2.0);
    assert_eq!(*slow.0.lock().unwrap(), [3]);
}

#[tokio::test(start_paused = true)]
async fn a_full_call_does_not_wait_for_more() {
    let (slow, vectors, tenants) = made();
    let tenant = tenants.get("acme");
    let texts: Vec<_> = (0..6).map(|n| "x".repeat(n + 1)).collect();
    let got = join_all(texts.iter().map(|text| vectors.of(&tenant, text))).await;
    assert!(got.into_iter().zip(1..).all(|(vector, length)| vector.unwrap()[0] == length as f32));
    assert_eq!(*slow.0.lock().unwrap(), [4, 2]);
}

#[tokio::test(start_paused = true)]
async fn texts_of_two_tenants_never_go_in_one_call() {
    let (slow, vectors, tenants) = made();
    let (one, other) = (tenants.get("acme"), tenants.get("other"));
    let (a, b) = tokio::join!(vectors.of(&one, "a"), vectors.of(&other, "a"));
    assert!(a.is_ok() && b.is_ok());
    assert_eq!(*slow.0.lock().unwrap(), [1, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_vector_that_nobody_waits_for_any_more_is_there_for_the_next() {
    let (slow, vectors, tenants) = made();
    let tenant = tenants.get("acme");
    assert!(timeout(Duration::from_millis(20), vectors.of(&tenant, "a")).await.is_err());
    sleep(Duration::from_millis(200)).await;
    assert!(vectors.known(&tenant, "a").is_some());
    assert_eq!(*slow.0.lock().unwrap(), [1]);
}
