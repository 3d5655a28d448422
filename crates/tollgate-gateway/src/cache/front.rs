//! Cache lookup of a request: after the rules, before its handler. It is answered from the cache, waits for another
//! fetch, or goes to the handler, whose answer is then stored for others.
//!
//! Routes decide which requests come here, and how long the answers of handlers stay good. Incomplete answers of
//! backends are handled in `fetched`. Requests for ranges, those with `If-Match` or `If-Unmodified-Since`, and those
//! for a CSRF token bypass the cache, and so do those that a backend sees differently: `Connection` names fields that
//! stay here.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant, UNIX_EPOCH};

use tollgate_net::http1::server::{Exchange, ExchangeError, Keeping, Response};
use tollgate_net::http1::{Method, RequestHead};

use super::entry::{Entry, SourceVersion, Varying};
use super::flight::{Leader, Waited};
use super::key::{Key, KeyText, Origin};
use super::policy::{self, Answered, Freshness, Identity, Reuse};
use super::shard::{Leads, Question, Validates};
use super::{Lookup, ResponseCache, Switch, http_date};
use crate::error::Fault;
use crate::http::cache_control::CacheControl;
use crate::http::conditions::{self, Verdict};

/// Caching properties of a route's answers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cachable<'s> {
    /// Whether they contain absolute links.
    pub(crate) dependence: Dependence,
    /// The scheme by which the client reached us, for answers with absolute links.
    pub(crate) scheme: &'static str,
    /// The resource's form chosen by the request; empty where fields choose.
    pub(crate) selected: &'static str,
    /// Request fields that select answers, whatever `Vary` says.
    pub(crate) varies: &'static [&'static str],
    /// Their lifetime.
    pub(crate) lifetime: Lifetime,
    /// Counter of changes to the data that they are read from.
    pub(crate) changes: Option<&'s Arc<AtomicU64>>,
    /// Whether the caller is known, by any way.
    pub(crate) identity: Identity,
    /// Read rules that permit the caller: answers are shared by callers with the same value.
    pub(crate) outcome: u64,
    /// Properties of answers from a backend.
    pub(crate) proxied: Option<Proxied<'s>>,
}

/// Caching properties of a route's backend answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proxied<'s> {
    /// Request fields that its mediators read: they select the answer too.
    pub(crate) reads: &'s [Box<str>],
    /// Fields that the backend receives changed: an answer that varies by one is not stored, since its real audience is
    /// unknown.
    pub(crate) changes: &'s [Box<str>],
    /// Whether a backend can revalidate a stored answer.
    pub(crate) validates: Validates,
}

/// Whether answers depend on the origin named by the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dependence {
    /// Their links begin with it.
    Origin,
    /// They are the same for everybody.
    #[default]
    Nothing,
}

/// Lifetime of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Lifetime {
    /// Stated by their handler: the answers are for everybody, and the request's cache directives do not count.
    Stated(Duration),
    /// Determined by their `Cache-Control`; that of the request counts too (RFC 9111).
    #[default]
    ByFields,
}

/// Result of a cache lookup.
pub(crate) enum Turn<'s> {
    /// The request is answered.
    Answered,
    /// Nothing is stored for it, and it accepts only stored answers.
    Refused(Fault),
    /// The request goes on to its handler.
    Fetch(Fetch<'s>),
}

/// A request that goes on to its handler.
pub(crate) struct Fetch<'s>(pub(super) Option<Box<Fetching<'s>>>);

/// A request whose answer may be stored.
pub(super) struct Fetching<'s> {
    pub(super) cachable: Cachable<'s>,
    /// Dropped as soon as the answer is known to be too large to share.
    pub(super) leader: Rc<Cell<Option<Leader>>>,
    key: KeyText,
    asked: policy::RequestTerms,
    conditions: Conditions,
    source: Option<SourceVersion>,
    began: Instant,
    /// Stored answer that has outlived its lifetime, if the backend is to revalidate it.
    pub(super) stale: Option<Arc<Entry>>,
    /// `Date` as the backend sent it.
    pub(super) date: Option<String>,
}

/// Conditions of a request about what its client already has.
#[derive(Debug, Default)]
struct Conditions {
    if_none_match: Vec<String>,
    if_modified_since: Option<String>,
}

/// The fields of a request that count for caching, found in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fields {
    passes: bool,
    /// `Connection` names fields that would otherwise reach a backend.
    withholds: bool,
    conditional: bool,
    control: bool,
    authorization: bool,
}

/// Fields for conditions of a client.
const CONDITIONS: [&str; 2] = ["if-none-match", "if-modified-since"];

/// Options of `Connection` that never reach a backend, whether named or not.
const OF_THE_CONNECTION: [&str; 4] = ["close", "keep-alive", "te", "upgrade"];

/// Looks up a reading request in the cache.
///
/// # Errors
/// Its client left while it waited for another fetch.
pub(crate) async fn turn<'s>(
    cache: &Arc<ResponseCache>,
    cachable: &Cachable<'s>,
    exchange: &mut Exchange<'_>,
) -> Result<Turn<'s>, ExchangeError> {
    const ALONE: Turn<'static> = Turn::Fetch(Fetch(None));
    let request = exchange.request();
    let fields = Fields::of(request);
    if cache.state == Switch::Off {
        return Ok(ALONE);
    }
    let leads = if request.method() == Method::Get { Leads::Yes } else { Leads::No };
    let control = match cachable.lifetime {
        Lifetime::ByFields if fields.control => CacheControl::of(request.values("cache-control")),
        Lifetime::ByFields | Lifetime::Stated(_) => CacheControl::default(),
    };
    if fields.passes || control.no_store || fields.withholds && cachable.proxied.is_some() {
        return Ok(if control.only_if_cached { Turn::Refused(Fault::not_cached()) } else { ALONE });
    }
    loop {
        let now = exchange.now();
        let request = exchange.request();
        let Some(key) = cachable.key(request) else { return Ok(ALONE) };
        // Before anything is read: what changes from here on makes the answer one of before.
        let source = cachable.changes.map(SourceVersion::now);
        let question = Question {
            key,
            request,
            control,
            varies: cachable.varies,
            reads: cachable.proxied.map_or(&[], |proxied| proxied.reads),
            leads,
            validates: cachable.proxied.map_or(Validates::No, |proxied| proxied.validates),
            passes_conditions: cachable.proxied.is_some() && fields.conditional,
        };
        let waiter = match cache.ask(&question, now) {
            Lookup::Hit(entry) => {
                answer(cache, exchange, entry, fields, now);
                return Ok(Turn::Answered);
            }
            Lookup::Lead(mut leader) => {
                let identity = if fields.authorization { Identity::Said } else { cachable.identity };
                let asked = policy::RequestTerms { control, identity };
                let key = key.to_text();
                let conditions = if fields.conditional { Conditions::of(request) } else { Conditions::default() };
                if fields.conditional {
                    // What is kept is the whole answer, whatever this client has of it.
                    exchange.remove_fields(&CONDITIONS);
                }
                let stale = leader.stale.take();
                let leader = Rc::new(Cell::new(Some(leader)));
                // Whoever waits is let go before the first byte is sent: how fast this client reads is not their affair.
                let outgrown = too_large(Arc::clone(cache), Rc::clone(&leader));
                exchange.keep_parts(cache.entry_bytes_max, outgrown);
                let cachable = *cachable;
                let fetching =
                    Fetching { cachable, leader, key, asked, conditions, source, began: now, stale, date: None };
                return Ok(Turn::Fetch(Fetch(Some(Box::new(fetching)))));
            }
            Lookup::Alone if control.only_if_cached => return Ok(Turn::Refused(Fault::not_cached())),
            Lookup::Alone => return Ok(ALONE),
            Lookup::Wait(waiter) => waiter,
        };
        match exchange.wait_for(waiter.wait()).await? {
            Waited::Shared(entry) => {
                let now = exchange.now();
                let request = exchange.request();
                let fits = cachable.key(request).is_some_and(|key| entry.answers(&key, request)) && entry.is_current();
                if !fits || policy::reuse(&control, entry.age(now), entry.freshness.lifetime) != Reuse::Serve {
                    return Ok(ALONE);
                }
                answer(cache, exchange, entry, fields, now);
                return Ok(Turn::Answered);
            }
            Waited::Alone => return Ok(ALONE),
            Waited::LeaderGone => {}
        }
    }
}

impl Fetch<'_> {
    /// Creates a fetch whose answer is not stored.
    pub(crate) fn alone() -> Fetch<'static> {
        Fetch(None)
    }

    /// Stores the handler's answer, where allowed, and releases waiting requests.
    pub(crate) fn settle(
        self,
        cache: &ResponseCache,
        exchange: &mut Exchange<'_>,
        outcome: &Result<(), ExchangeError>,
    ) {
        let Some(fetching) = self.0 else { return };
        let keeping = exchange.end_keeping();
        if outcome.is_err() || keeping == Keeping::Sent {
            // The leader is dropped without having landed, or has done so before anything was sent.
            return;
        }
        let now = exchange.now();
        let (request, response) = exchange.split();
        let found = ResponseFields::of(response);
        let freshness = fetching.freshness(cache, &found, response.status, now);
        let Fetching { cachable, leader, key, conditions, source, .. } = *fetching;
        let not_modified = response.status == 200 && {
            let last_modified_s = found.last_modified_s(cache.wall_s());
            conditions.judge(found.etag.as_deref(), last_modified_s, cache.wall_s()) == Verdict::NotModified
        };
        match (leader.take(), freshness) {
            (None, _) => {}
            (Some(leader), Some(_)) if response.body.len() > cache.entry_bytes_max => {
                cache.count_too_large();
                leader.keep_to_itself();
            }
            (Some(leader), Some(freshness)) => leader.share(Entry {
                key,
                varying: cachable.varying(&found, request),
                status: response.status,
                fields: without_age(response.rendered_headers(), &found),
                body: response.body.as_slice().into(),
                last_modified_s: found.last_modified_s(cache.wall_s()),
                etag: found.etag.map(Into::into),
                kept_at: now,
                freshness,
                source,
            }),
            (Some(leader), None) => leader.keep_to_itself(),
        }
        if not_modified {
            response.status = 304;
            response.body.clear();
        }
    }
}

impl Fetching<'_> {
    /// Lifetime of an answer of this status with these fields; `None` if it must not be stored.
    pub(super) fn freshness(
        &self,
        cache: &ResponseCache,
        found: &ResponseFields,
        status: u16,
        now: Instant,
    ) -> Option<Freshness> {
        let freshness = match self.cachable.lifetime {
            Lifetime::Stated(_) if status != 200 => None,
            Lifetime::Stated(lifetime) => Some(Freshness { age: Duration::ZERO, lifetime }),
            Lifetime::ByFields => {
                let delay = now.saturating_duration_since(self.began);
                let changes = self.cachable.proxied.map_or(&[][..], |proxied| proxied.changes);
                let answered = found.answered(status, self.date.as_deref(), changes);
                policy::storing(&self.asked, &answered, delay, cache.wall_s())
            }
        };
        freshness.filter(|freshness| freshness.lifetime > freshness.age)
    }
}

/// Rendered fields as stored: the age of the answer on arrival is stored separately.
fn without_age(rendered: &[u8], found: &ResponseFields) -> Box<[u8]> {
    if found.age.is_none() {
        return rendered.into();
    }
    let lines = rendered.split_inclusive(|byte| *byte == b'\n');
    let is_age = |line: &&[u8]| line.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case(b"age:"));
    lines.filter(|line| !is_age(line)).collect::<Vec<_>>().concat().into()
}

/// Action for an answer that turns out too large to be stored.
fn too_large(cache: Arc<ResponseCache>, leader: Rc<Cell<Option<Leader>>>) -> impl FnOnce() + 'static {
    move || {
        cache.count_too_large();
        if let Some(leader) = leader.take() {
            leader.keep_to_itself();
        }
    }
}

impl Cachable<'_> {
    fn key<'r>(&self, request: &'r RequestHead) -> Option<Key<'r>> {
        let origin = match self.dependence {
            Dependence::Nothing => None,
            // Without a host the links begin with our own address, which is nobody's name.
            Dependence::Origin => Some(Origin::new(self.scheme, request.host()?)),
        };
        Some(Key { origin, target: request.target(), selected: self.selected, outcome: self.outcome })
    }

    fn varying(&self, found: &ResponseFields, request: &RequestHead) -> Box<[Varying]> {
        let said = match self.lifetime {
            // The route has chosen already, and says by what.
            Lifetime::Stated(_) => "",
            Lifetime::ByFields => &found.vary,
        };
        let said = said.split(',').map(str::trim).filter(|name| !name.is_empty());
        let said = said.filter(|name| !self.varies.iter().any(|known| known.eq_ignore_ascii_case(name)));
        let reads = self.proxied.map_or(&[][..], |proxied| proxied.reads).iter().map(|name| &**name);
        self.varies.iter().copied().chain(reads).chain(said).map(|name| Varying::of(name, request)).collect()
    }
}

/// Answers with the stored answer.
fn answer(cache: &ResponseCache, exchange: &mut Exchange<'_>, entry: Arc<Entry>, fields: Fields, now: Instant) {
    let (request, response) = exchange.split();
    let verdict = match fields.conditional && entry.status == 200 {
        true => Conditions::of(request).judge(entry.etag.as_deref(), entry.last_modified_s, cache.wall_s()),
        false => Verdict::Answer,
    };
    response.status = entry.status;
    response.add_rendered_headers(&entry.fields);
    let mut line = [0; AGE_LINE_BYTES];
    response.add_rendered_headers(age_line(&mut line, entry.age(now).as_secs()));
    match verdict {
        Verdict::NotModified => response.status = 304,
        Verdict::Answer | Verdict::Failed => response.share(entry),
    }
}

const AGE_NAME: &[u8] = b"age: ";
const AGE_LINE_BYTES: usize = AGE_NAME.len() + "18446744073709551615\r\n".len();

/// The rendered `Age` field, made from its end.
fn age_line(line: &mut [u8; AGE_LINE_BYTES], seconds: u64) -> &[u8] {
    let mut begin = line.len() - 2;
    line[begin..].copy_from_slice(b"\r\n");
    let mut left = seconds;
    loop {
        begin -= 1;
        line[begin] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    begin -= AGE_NAME.len();
    line[begin..begin + AGE_NAME.len()].copy_from_slice(AGE_NAME);
    &line[begin..]
}

impl Fields {
    fn of(request: &RequestHead) -> Fields {
        let mut found =
            Fields { passes: false, withholds: false, conditional: false, control: false, authorization: false };
        for (name, value) in request.headers() {
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            // By length first: most fields are none of these.
            match name.len() {
                5 => found.passes |= is("range"),
                8 => found.passes |= is("if-match") || is("if-range"),
                10 => found.withholds |= is("connection") && names_others(value),
                12 => found.passes |= is("x-csrf-token"),
                13 => {
                    found.conditional |= is("if-none-match");
                    found.control |= is("cache-control");
                    found.authorization |= is("authorization");
                }
                17 => found.conditional |= is("if-modified-since"),
                19 => found.passes |= is("if-unmodified-since"),
                _ => {}
            }
        }
        found
    }
}

/// Whether a value of `Connection` names fields that would otherwise reach a backend.
fn names_others(value: &[u8]) -> bool {
    let mut options = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|option| !option.is_empty());
    options.any(|option| !OF_THE_CONNECTION.iter().any(|known| option.eq_ignore_ascii_case(known.as_bytes())))
}

impl Conditions {
    fn of(request: &RequestHead) -> Conditions {
        let [if_none_match, if_modified_since] = CONDITIONS;
        Conditions {
            if_none_match: request.values(if_none_match).map(str::to_owned).collect(),
            if_modified_since: request.header(if_modified_since).map(str::to_owned),
        }
    }

    /// Evaluates them (RFC 9110, section 13.2.2): a date counts only where no ETag is named.
    fn judge(&self, etag: Option<&str>, last_modified_s: Option<i64>, now_s: i64) -> Verdict {
        if !self.if_none_match.is_empty() {
            let named = self.if_none_match.iter().map(String::as_str);
            return etag.map_or(Verdict::Answer, |etag| conditions::judge(None, named, etag));
        }
        let since_s = self.if_modified_since.as_ref().and_then(|since| http_date::parse(since, now_s));
        match last_modified_s.zip(since_s) {
            Some((last_modified_s, since_s)) if last_modified_s <= since_s => Verdict::NotModified,
            _ => Verdict::Answer,
        }
    }
}

/// The fields of an answer that count for caching.
#[derive(Debug, Default)]
pub(super) struct ResponseFields {
    control: CacheControl,
    vary: String,
    pub(super) etag: Option<String>,
    last_modified: Option<String>,
    expires: Option<String>,
    age: Option<String>,
    sets_cookie: bool,
}

impl ResponseFields {
    pub(super) fn of(response: &Response) -> ResponseFields {
        let mut found = ResponseFields::default();
        let mut control = Vec::new();
        for (name, value) in response.headers() {
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            let text = || String::from_utf8_lossy(value).into_owned();
            if is("cache-control") {
                control.push(text());
            } else if is("vary") {
                found.vary.push_str(&text());
                found.vary.push(',');
            } else if is("etag") {
                found.etag = Some(text());
            } else if is("last-modified") {
                found.last_modified = Some(text());
            } else if is("expires") {
                found.expires = Some(text());
            } else if is("age") {
                found.age = Some(text());
            } else if is("set-cookie") {
                found.sets_cookie = true;
            }
        }
        found.control = CacheControl::of(control.iter().map(String::as_str));
        found
    }

    /// Parts that count for caching, with the `Date` that came with it. An answer that varies by one of `changes` is
    /// not for others.
    fn answered<'f>(&'f self, status: u16, date: Option<&'f str>, changes: &[Box<str>]) -> Answered<'f> {
        Answered {
            status,
            control: self.control,
            expires: self.expires.as_deref(),
            // Of our own answers the engine writes it, and it says now.
            date,
            age: self.age.as_deref(),
            varies_by_all: self
                .vary
                .split(',')
                .map(str::trim)
                .any(|name| name == "*" || changes.iter().any(|changed| changed.eq_ignore_ascii_case(name))),
            sets_cookie: self.sets_cookie,
        }
    }

    fn last_modified_s(&self, now_s: i64) -> Option<i64> {
        http_date::parse(self.last_modified.as_deref()?, now_s)
    }
}

impl ResponseCache {
    /// Current wall-clock time, in seconds since 1970.
    fn wall_s(&self) -> i64 {
        let since = self.clock.wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_written_without_leading_zeros() {
        for seconds in [0, 9, 10, 300, u64::MAX] {
            let mut line = [0; AGE_LINE_BYTES];
            assert_eq!(age_line(&mut line, seconds), format!("age: {seconds}\r\n").as_bytes());
        }
    }
}
