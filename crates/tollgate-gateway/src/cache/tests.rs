//! The cache against the simplest possible model, and the waiting requests.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use tollgate_net::http1::RequestHead;
use tollgate_net::limits::Limits;

use super::entry::{SourceVersion, Varying};
use super::flight::Waited;
use super::key::Key;
use super::policy::Freshness;
use super::shard::{Leads, Validates};
use super::*;
use crate::http::cache_control::CacheControl;

const LIFETIME_S: u64 = 60;

fn cache(config: config::Cache) -> Arc<ResponseCache> {
    ResponseCache::new(&config, Clock::system())
}

fn request(accept: &str) -> RequestHead {
    let mut head = RequestHead::default();
    let text = format!("GET / HTTP/1.1\r\nHost: a\r\nAccept: {accept}\r\n\r\n");
    head.parse(text.as_bytes(), &Limits::default()).unwrap().unwrap();
    head
}

fn question<'r>(target: &'r str, request: &'r RequestHead) -> Question<'r> {
    let key = Key { origin: None, target, selected: "", outcome: 0 };
    Question {
        key,
        request,
        control: CacheControl::default(),
        varies: &[],
        reads: &[],
        leads: Leads::Yes,
        validates: Validates::No,
        passes_conditions: false,
    }
}

fn entry(question: &Question<'_>, body: &[u8], now: Instant, source: Option<SourceVersion>) -> Entry {
    Entry {
        key: question.key.to_text(),
        varying: [Varying::of("Accept", question.request)].into(),
        status: 200,
        fields: Box::default(),
        body: body.into(),
        etag: None,
        last_modified_s: None,
        kept_at: now,
        freshness: Freshness { age: Duration::ZERO, lifetime: Duration::from_secs(LIFETIME_S) },
        source,
    }
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Stored answers, the eldest first, as SIEVE on paper would have it.
#[derive(Default)]
struct Model {
    kept: Vec<Kept>,
    hand: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    target: usize,
    accept: usize,
    body: Vec<u8>,
    bytes: usize,
    kept_at: Instant,
    changes: u64,
    marked: bool,
}

impl Model {
    fn remove(&mut self, index: usize) {
        self.kept.remove(index);
        if index < self.hand {
            self.hand -= 1;
        }
        if self.hand >= self.kept.len() {
            self.hand = 0;
        }
    }

    fn remove_where(&mut self, mut is_meant: impl FnMut(&Kept) -> bool) {
        while let Some(index) = self.kept.iter().position(&mut is_meant) {
            self.remove(index);
        }
    }

    fn is_spent(kept: &Kept, now: Instant, changes: u64) -> bool {
        now - kept.kept_at >= Duration::from_secs(LIFETIME_S) || kept.changes != changes
    }

    /// The body of the answer to a request.
    fn ask(&mut self, target: usize, accept: usize, now: Instant, changes: u64) -> Option<Vec<u8>> {
        let index = self.kept.iter().position(|kept| (kept.target, kept.accept) == (target, accept))?;
        if Model::is_spent(&self.kept[index], now, changes) {
            self.remove(index);
            return None;
        }
        self.kept[index].marked = true;
        Some(self.kept[index].body.clone())
    }

    fn keep(&mut self, new: Kept, config: &config::Cache, now: Instant) {
        if new.bytes > config.bytes_max {
            return;
        }
        while self.kept.iter().map(|kept| kept.bytes).sum::<usize>() + new.bytes > config.bytes_max
            || self.kept.len() + 1 > config.entries_max
        {
            loop {
                let kept = &mut self.kept[self.hand];
                if !kept.marked || Model::is_spent(kept, now, new.changes) {
                    let hand = self.hand;
                    self.remove(hand);
                    break;
                }
                kept.marked = false;
                self.hand = (self.hand + 1) % self.kept.len();
            }
        }
        self.kept.push(new);
    }
}

#[derive(Debug, Clone)]
enum Step {
    Ask { target: usize, accept: usize, body_bytes: usize },
    Wait { seconds: u64 },
    Change,
    InvalidateOne { target: usize },
    InvalidatePrefix { long: bool },
    InvalidateAll,
}

const TARGETS: [&str; 5] = ["/a", "/a/b", "/a/b?c=1", "/d", "/d?e"];
const ACCEPTS: [&str; 3] = ["text/plain", "application/json", "*/*"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0..TARGETS.len(), 0..ACCEPTS.len(), 0..2000_usize)
            .prop_map(|(target, accept, body_bytes)| Step::Ask { target, accept, body_bytes }),
        4 => (1..=LIFETIME_S / 2).prop_map(|seconds| Step::Wait { seconds }),
        1 => Just(Step::Change),
        1 => (0..TARGETS.len()).prop_map(|target| Step::InvalidateOne { target }),
        1 => any::<bool>().prop_map(|long| Step::InvalidatePrefix { long }),
        1 => Just(Step::InvalidateAll),
    ]
}

proptest! {
    #[test]
    fn it_answers_what_the_model_answers_and_keeps_to_its_limits(
        steps in proptest::collection::vec(step(), 1..120),
        entries_max in 1..12_usize,
        bytes_max in 2_000..12_000_usize,
    ) {
        let config = config::Cache { entries_max, bytes_max, entry_bytes_max: 2000, ..config::Cache::default() };
        let (cache, mut model) = (cache(config.clone()), Model::default());
        prop_assert_eq!(cache.shards.len(), 1);
        let requests = ACCEPTS.map(request);
        let changes = Arc::new(AtomicU64::new(0));
        let mut now = Instant::now();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Ask { target, accept, body_bytes } => {
                    let question = question(TARGETS[target], &requests[accept]);
                    let seen = changes.load(Ordering::Relaxed);
                    let expected = model.ask(target, accept, now, seen);
                    match cache.ask(&question, now) {
                        Lookup::Hit(entry) => prop_assert_eq!(Some(entry.body.to_vec()), expected),
                        Lookup::Lead(leader) => {
                            prop_assert_eq!(expected, None);
                            let mut body = number.to_string().into_bytes();
                            body.resize(body_bytes.max(4), b' ');
                            let fetched = entry(&question, &body, now, Some(SourceVersion::now(&changes)));
                            let bytes = fetched.bytes();
                            leader.share(fetched);
                            let kept = Kept { target, accept, body, bytes, kept_at: now, changes: seen, marked: false };
                            model.keep(kept, &config, now);
                        }
                        other => prop_assert!(false, "nobody else fetches, but {:?}", other),
                    }
                }
                Step::Wait { seconds } => now += Duration::from_secs(seconds),
                Step::Change => {
                    changes.fetch_add(1, Ordering::Relaxed);
                }
                Step::InvalidateOne { target } => {
                    cache.invalidate(Which::One(TARGETS[target]));
                    model.remove_where(|kept| kept.target == target);
                }
                Step::InvalidatePrefix { long } => {
                    let prefix = if long { "/a/b" } else { "/d" };
                    cache.invalidate(Which::Prefix(prefix));
                    model.remove_where(|kept| TARGETS[kept.target].starts_with(prefix));
                }
                Step::InvalidateAll => {
                    cache.invalidate(Which::All);
                    model.remove_where(|_| true);
                }
            }
            let statistics = cache.statistics();
            let bytes: usize = model.kept.iter().map(|kept| kept.bytes).sum();
            prop_assert_eq!((statistics.entries, statistics.bytes), (model.kept.len() as u64, bytes as u64));
            prop_assert!(bytes <= bytes_max && model.kept.len() <= entries_max);
            let listed: u64 = cache.entries(usize::MAX).iter().map(|listed| listed.bytes).sum();
            prop_assert_eq!(listed, statistics.bytes);
        }
    }
}

#[tokio::test]
async fn one_fetches_and_all_who_wait_are_given_the_answer() {
    let (cache, request, now) = (cache(config::Cache::default()), request("*/*"), Instant::now());
    let question = question("/a", &request);
    let Lookup::Lead(leader) = cache.ask(&question, now) else { panic!("the first leads") };
    let Lookup::Wait(first) = cache.ask(&question, now) else { panic!("the others wait") };
    let Lookup::Wait(second) = cache.ask(&question, now) else { panic!("the others wait") };
    let mut first = pin!(first.wait());
    assert!(poll(first.as_mut()).is_pending());
    leader.share(entry(&question, b"answer", now, None));
    for waited in [first.await, second.wait().await] {
        assert!(matches!(&waited, Waited::Shared(entry) if &*entry.body == b"answer"), "{waited:?}");
    }
    assert!(matches!(cache.ask(&question, now), Lookup::Hit(_)));
    let statistics = cache.statistics();
    assert_eq!((statistics.misses_total, statistics.waits_total, statistics.hits_total), (1, 2, 1));
}

#[tokio::test]
async fn where_the_leader_goes_away_the_next_who_asks_leads() {
    let (cache, request, now) = (cache(config::Cache::default()), request("*/*"), Instant::now());
    let question = question("/a", &request);
    let Lookup::Lead(leader) = cache.ask(&question, now) else { panic!("the first leads") };
    let Lookup::Wait(waiter) = cache.ask(&question, now) else { panic!("the others wait") };
    drop(leader);
    assert!(matches!(waiter.wait().await, Waited::LeaderGone));
    let Lookup::Lead(leader) = cache.ask(&question, now) else { panic!("the next leads") };
    let Lookup::Wait(waiter) = cache.ask(&question, now) else { panic!("the others wait") };
    // A failure, or an answer for one alone.
    leader.keep_to_itself();
    assert!(matches!(waiter.wait().await, Waited::Alone));
    assert!(matches!(cache.ask(&question, now), Lookup::Lead(_)));
    assert_eq!(cache.statistics().entries, 0);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_ever() {
    let config = config::Cache { wait_ms_max: 50, ..config::Cache::default() };
    let (cache, request, now) = (cache(config), request("*/*"), Instant::now());
    let question = question("/a", &request);
    let _leader = cache.ask(&question, now);
    let Lookup::Wait(waiter) = cache.ask(&question, now) else { panic!("the others wait") };
    assert!(matches!(waiter.wait().await, Waited::Alone));
}

#[test]
fn what_was_thrown_away_while_it_was_fetched_is_not_kept() {
    let (cache, request, now) = (cache(config::Cache::default()), request("*/*"), Instant::now());
    let question = question("/a", &request);
    for (which, expected) in [(Which::One("/a"), 0), (Which::Prefix("/"), 0), (Which::All, 0), (Which::One("/b"), 1)] {
        let Lookup::Lead(leader) = cache.ask(&question, now) else { panic!("nothing is kept") };
        cache.invalidate(which);
        leader.share(entry(&question, b"answer", now, None));
        assert_eq!(cache.statistics().entries, expected, "{which:?}");
    }
}

#[test]
fn what_changed_while_it_was_read_is_not_kept() {
    let (cache, request, now) = (cache(config::Cache::default()), request("*/*"), Instant::now());
    let question = question("/a", &request);
    let changes = Arc::new(AtomicU64::new(0));
    let Lookup::Lead(leader) = cache.ask(&question, now) else { panic!("nothing is kept") };
    let source = Some(SourceVersion::now(&changes));
    changes.fetch_add(1, Ordering::Relaxed);
    leader.share(entry(&question, b"answer", now, source));
    assert_eq!(cache.statistics().entries, 0);
}

#[tokio::test]
async fn where_the_last_answer_was_not_for_others_nobody_waits_until_one_is_kept() {
    let (cache, request, now) = (cache(config::Cache::default()), request("*/*"), Instant::now());
    let question = question("/a", &request);
    let Lookup::Lead(leader) = cache.ask(&question, now) else { panic!("the first leads") };
    leader.keep_to_itself();
    let now = now + Duration::from_secs(1);
    let mut leaders = Vec::new();
    for _ in 0..3 {
        let Lookup::Lead(leader) = cache.ask(&question, now) else { panic!("all go side by side") };
        leaders.push(leader);
    }
    let conditional = Question { passes_conditions: true, ..question };
    assert!(matches!(cache.ask(&conditional, now), Lookup::Alone), "what the client has goes to the backend");
    let [first, second, third] = leaders.try_into().unwrap();
    first.keep_to_itself();
    // What was thrown away since its fetch began is not kept.
    cache.invalidate_key(&question.key);
    second.share(entry(&question, b"old", now, None));
    assert_eq!(cache.statistics().entries, 0);
    drop(third);
    let Lookup::Lead(leader) = cache.ask(&question, now) else { panic!("nothing is kept") };
    leader.share(entry(&question, b"new", now, None));
    assert!(matches!(cache.ask(&question, now), Lookup::Hit(_)));
    cache.invalidate(Which::All);
    let Lookup::Lead(_leader) = cache.ask(&question, now) else { panic!("nothing is kept") };
    assert!(matches!(cache.ask(&question, now), Lookup::Wait(_)), "they wait again");
    // Nor is it remembered for ever.
    let other = self::question("/b", &request);
    let Lookup::Lead(leader) = cache.ask(&other, now) else { panic!("nothing is kept") };
    leader.keep_to_itself();
    let later = now + Duration::from_secs(120);
    let Lookup::Lead(_leader) = cache.ask(&other, later) else { panic!("nothing is kept") };
    assert!(matches!(cache.ask(&other, later), Lookup::Wait(_)));
}

#[test]
fn all_answers_to_one_key_are_thrown_away_in_one_lookup_and_none_is_kept_that_is_fetched() {
    let (cache, now) = (cache(config::Cache::default()), Instant::now());
    let requests = ACCEPTS.map(request);
    for request in &requests {
        for target in ["/a", "/b"] {
            let question = question(target, request);
            let Lookup::Lead(leader) = cache.ask(&question, now) else { panic!("each is another") };
            leader.share(entry(&question, b"answer", now, None));
        }
    }
    cache.invalidate_key(&question("/a", &requests[0]).key);
    assert_eq!((cache.statistics().entries, cache.statistics().invalidated_total), (3, 3));
    let Lookup::Lead(leader) = cache.ask(&question("/a", &requests[0]), now) else { panic!("it is gone") };
    cache.invalidate_key(&question("/a", &requests[0]).key);
    leader.share(entry(&question("/a", &requests[0]), b"old", now, None));
    assert_eq!(cache.statistics().entries, 3);
}

#[test]
fn what_has_outlived_its_lifetime_stays_where_it_can_be_asked_about() {
    let (cache, request, now) = (cache(config::Cache::default()), request("*/*"), Instant::now());
    let plain = question("/a", &request);
    let validates = Question { validates: Validates::Yes, ..plain };
    let Lookup::Lead(leader) = cache.ask(&plain, now) else { panic!("nothing is kept") };
    leader.share(Entry { etag: Some("\"1\"".into()), ..entry(&plain, b"answer", now, None) });
    let later = now + Duration::from_secs(LIFETIME_S);
    for _ in 0..2 {
        let Lookup::Lead(leader) = cache.ask(&validates, later) else { panic!("it is asked about") };
        assert_eq!(leader.stale.as_ref().map(|stale| &*stale.body), Some(&b"answer"[..]));
    }
    let Lookup::Lead(leader) = cache.ask(&plain, later) else { panic!("it is of no use") };
    assert!(leader.stale.is_none());
    drop(leader);
    assert_eq!((cache.statistics().entries, cache.statistics().expired_total), (0, 1));
}

#[test]
fn no_more_variants_of_one_target_are_kept_than_allowed() {
    let (cache, now) = (cache(config::Cache::default()), Instant::now());
    for number in 0..shard::VARIANTS_MAX + 3 {
        let request = request(&format!("text/{number}"));
        let question = question("/a", &request);
        let Lookup::Lead(leader) = cache.ask(&question, now) else { panic!("each is another") };
        leader.share(entry(&question, b"answer", now, None));
    }
    assert_eq!((cache.statistics().entries, cache.statistics().evicted_total), (shard::VARIANTS_MAX as u64, 3));
    let newest = request(&format!("text/{}", shard::VARIANTS_MAX + 2));
    assert!(matches!(cache.ask(&question("/a", &newest), now), Lookup::Hit(_)));
}

#[test]
fn a_large_cache_is_divided_and_its_parts_hold_what_was_allowed_together() {
    for (bytes_max, entries_max, entry_bytes_max, expected) in [
        (64 << 20, 10_000, 1 << 20, SHARDS_MAX),
        (64 << 20, 10_000, 4 << 20, 4),
        (64 << 20, 100, 1 << 20, 1),
        (7 << 20, 10_000, 1 << 20, 1),
        (0, 0, 0, 1),
    ] {
        let cache = cache(config::Cache { bytes_max, entries_max, entry_bytes_max, ..config::Cache::default() });
        assert_eq!(cache.shards.len(), expected, "{bytes_max} {entries_max} {entry_bytes_max}");
    }
}
