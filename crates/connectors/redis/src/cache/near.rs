//! Searching by vectors, in the way the server can.

use super::{
    RedisCache, VectorSearch,
    entry::{self, Put},
    index,
    layout::{self, LETTERS},
};
use redis::Value;
use signalbox_ports::cache::{CacheAway, Near, Partition};
use std::collections::HashMap;

/// How many more are asked for, since some may be gone.
const SPARE: usize = 8;
/// How often is asked again where too many were gone.
const ROUNDS: usize = 4;

/// What a search found: an entry's name, which put it is of, and how near it is.
struct Candidate {
    member: Vec<u8>,
    similarity: f32,
}

impl Candidate {
    fn name(&self) -> &[u8] {
        &self.member[..LETTERS.min(self.member.len())]
    }

    fn is_of(&self, put: Put) -> bool {
        self.member.get(LETTERS..) == Some(&put[..])
    }
}

/// A search under way.
pub(super) struct Search<'a> {
    pub(super) partition: &'a Partition,
    pub(super) space: &'a str,
    pub(super) vector: &'a [f32],
    pub(super) most: usize,
}

impl RedisCache {
    pub(super) async fn search(&self, search: Search<'_>, way: VectorSearch) -> Result<Vec<Near>, CacheAway> {
        let mut near = Vec::new();
        for _ in 0..ROUNDS {
            let candidates = self.candidates(&search, way).await?;
            let gone;
            (near, gone) = self.fetch(&search, &candidates).await?;
            self.forget(&search, way, &gone).await?;
            if gone.is_empty() || candidates.len() <= search.most {
                break;
            }
        }
        Ok(near)
    }

    async fn candidates(&self, search: &Search<'_>, way: VectorSearch) -> Result<Vec<Candidate>, CacheAway> {
        match way {
            VectorSearch::Module => self.by_module(search).await,
            VectorSearch::Sets => self.by_sets(search).await,
            VectorSearch::BruteForce => self.by_brute_force(search).await,
        }
    }

    async fn by_module(&self, search: &Search<'_>) -> Result<Vec<Candidate>, CacheAway> {
        let Partition { tenant, task, locale, fingerprint } = search.partition;
        let [tenant, task, locale, print] =
            [tenant, task, locale, fingerprint].map(|tag| layout::letters(*tag));
        let most = search.most + SPARE;
        let query = format!(
            "(@tenant:{{{tenant}}} @task:{{{task}}} @locale:{{{locale}}} @print:{{{print}}})\
             =>[KNN {most} @v $vector AS distance]"
        );
        let mut command = redis::cmd("FT.SEARCH");
        command.arg(layout::index(search.space)).arg(query).arg("SORTBY").arg("distance");
        command.arg("RETURN").arg(2).arg("put").arg("distance").arg("LIMIT").arg(0).arg(most);
        command.arg("PARAMS").arg(2).arg("vector").arg(bytes(search.vector)).arg("DIALECT").arg(2);
        let answer = self.ask(async |connection| command.query_async::<Vec<Value>>(connection).await).await;
        match answer {
            Ok(answer) => Ok(answer.get(1..).unwrap_or_default().chunks_exact(2).filter_map(found).collect()),
            Err(CacheAway(why)) if is_missing(&why) => {
                self.ensure_index(search.space, search.vector.len(), true).await?;
                Ok(Vec::new())
            }
            Err(away) => Err(away),
        }
    }

    async fn by_sets(&self, search: &Search<'_>) -> Result<Vec<Candidate>, CacheAway> {
        let mut command = redis::cmd("VSIM");
        command.arg(layout::vectors('v', search.space, search.partition));
        command.arg("FP32").arg(bytes(search.vector)).arg("WITHSCORES");
        command.arg("COUNT").arg(search.most + SPARE).arg("EF").arg(200);
        let found =
            self.ask(async |connection| command.query_async::<Vec<(Vec<u8>, f32)>>(connection).await).await?;
        // Told as 0 to 1.
        let candidate = |(member, score): (Vec<u8>, f32)| Candidate { member, similarity: 2.0 * score - 1.0 };
        Ok(found.into_iter().map(candidate).collect())
    }

    async fn by_brute_force(&self, search: &Search<'_>) -> Result<Vec<Candidate>, CacheAway> {
        let mut command = redis::cmd("HGETALL");
        command.arg(layout::vectors('b', search.space, search.partition));
        let members = self
            .ask(async |connection| command.query_async::<Vec<(Vec<u8>, Vec<u8>)>>(connection).await)
            .await?;
        let compared = |(member, vector): (Vec<u8>, Vec<u8>)| Candidate {
            member,
            similarity: dot(search.vector, &vector).clamp(-1.0, 1.0),
        };
        let mut candidates: Vec<_> = members.into_iter().map(compared).collect();
        candidates.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        candidates.truncate(search.most + SPARE);
        Ok(candidates)
    }

    /// The entries of candidates, and the members that lead to none.
    async fn fetch(
        &self,
        search: &Search<'_>,
        candidates: &[Candidate],
    ) -> Result<(Vec<Near>, Vec<Vec<u8>>), CacheAway> {
        if candidates.is_empty() {
            return Ok(Default::default());
        }
        let tag = layout::tag(search.partition.tenant);
        let mut command = redis::cmd("MGET");
        for candidate in candidates.iter().take(search.most) {
            command.arg([layout::ENTRIES.as_bytes(), tag.as_bytes(), b":", candidate.name()].concat());
        }
        let found = self
            .ask(async |connection| command.query_async::<Vec<Option<Vec<u8>>>>(connection).await)
            .await?;
        let (mut near, mut gone) = (Vec::new(), Vec::new());
        for (candidate, found) in candidates.iter().zip(found) {
            match found.as_deref().and_then(entry::read) {
                Some((entry, put)) if candidate.is_of(put) => {
                    near.push(Near { entry, similarity: candidate.similarity });
                }
                _ => gone.push(candidate.member.clone()),
            }
        }
        Ok((near, gone))
    }

    /// Removes members of a partition whose entries are gone. What the module indexes expires by itself.
    async fn forget(
        &self,
        search: &Search<'_>,
        way: VectorSearch,
        gone: &[Vec<u8>],
    ) -> Result<(), CacheAway> {
        let (kind, command) = match way {
            VectorSearch::Module => return Ok(()),
            VectorSearch::Sets => ('v', "VREM"),
            VectorSearch::BruteForce => ('b', "HDEL"),
        };
        if gone.is_empty() {
            return Ok(());
        }
        let key = layout::vectors(kind, search.space, search.partition);
        let mut pipeline = redis::pipe();
        for member in gone {
            pipeline.cmd(command).arg(&key).arg(member).ignore();
        }
        self.ask(async |connection| pipeline.query_async::<()>(connection).await).await
    }

    /// Makes the module's index of a space, once.
    pub(super) async fn ensure_index(
        &self,
        space: &str,
        dimensions: usize,
        anew: bool,
    ) -> Result<(), CacheAway> {
        if !anew && self.indexes().contains(space) {
            return Ok(());
        }
        self.ask(async |connection| index::ensure(connection, space, dimensions).await).await?;
        self.indexes().insert(space.to_owned());
        Ok(())
    }
}

/// A document's key, and its fields with their names.
fn found(document: &[Value]) -> Option<Candidate> {
    let [key, fields] = document else { return None };
    let key: Vec<u8> = redis::from_redis_value(key.clone()).ok()?;
    let mut fields: HashMap<String, Vec<u8>> = redis::from_redis_value(fields.clone()).ok()?;
    let distance: f32 = std::str::from_utf8(fields.get("distance")?).ok()?.parse().ok()?;
    let name = key.get(key.len().checked_sub(LETTERS)?..)?;
    let member = [name, &fields.remove("put")?].concat();
    Some(Candidate { member, similarity: (1.0 - distance).clamp(-1.0, 1.0) })
}

/// Whether an error says that there is no such index, as after the server began anew.
fn is_missing(error: &str) -> bool {
    let error = error.to_lowercase();
    error.contains("no such index") || error.contains("unknown index")
}

/// As servers want vectors.
pub(super) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn dot(vector: &[f32], bytes: &[u8]) -> f32 {
    let (numbers, _) = bytes.as_chunks::<4>();
    vector.iter().zip(numbers).map(|(a, b)| a * f32::from_le_bytes(*b)).sum()
}
