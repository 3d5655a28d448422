//! The one file that maps every error to a status and to the caller's protocol: OData V2 as XML or JSON, OData V4 as
//! JSON, REST as problem JSON (RFC 9457), SOAP as a fault.
//!
//! The client gets the outer message. The part for the operator only ([`Fault::inner`]) goes to the log.

pub(crate) mod format;

use std::sync::Arc;
use std::time::Duration;

use tollgate_net::http1::Fault as ProtocolFault;
use tollgate_net::http1::server::{ExchangeError, reason};
use tollgate_wire::batch::{BatchError, BatchErrorKind};
use tollgate_wire::body::BodyError;
use tollgate_wire::error::ErrorBody;
use tollgate_wire::url::{Place, UrlError};

use self::format::ErrorFormat;
use crate::http::answer::Reply;
use crate::http::conditions::Unmet;
use crate::store::{self, Rule, StoreError};
use crate::work::allowance::Excess;
use crate::work::dispatcher::{RETRY_AFTER_SECONDS, Refused};

/// An error of one request, independent of the protocol. One pointer, so that success costs no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(Box<Told>);

/// Reason for a missing answer.
pub(crate) enum Failure {
    /// The client gets an error.
    Told(Fault),
    /// The exchange itself broke: no client is left to answer.
    Broken(ExchangeError),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Told(fault)
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Failure {
        Failure::Broken(error)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    status: u16,
    code: &'static str,
    message: String,
    /// Part of the request that is wrong, such as `$filter`.
    target: Option<String>,
    /// For the operator only.
    inner: Option<String>,
    field: Option<(&'static str, Field)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Field {
    Text(&'static str),
    Shared(Arc<str>),
    Number(u32),
}

impl Fault {
    fn new(status: u16, code: &'static str, message: impl Into<String>) -> Fault {
        Fault(Box::new(Told { status, code, message: message.into(), target: None, inner: None, field: None }))
    }

    fn at(mut self, target: Option<String>) -> Fault {
        self.0.target = target;
        self
    }

    fn with_field(mut self, name: &'static str, value: Field) -> Fault {
        self.0.field = Some((name, value));
        self
    }

    fn with_inner(mut self, inner: impl Into<String>) -> Fault {
        self.0.inner = Some(inner.into());
        self
    }

    fn with_retry_after(self) -> Fault {
        self.with_field("retry-after", Field::Number(RETRY_AFTER_SECONDS))
    }

    /// The status.
    pub(crate) fn status(&self) -> u16 {
        self.0.status
    }

    /// Part for the operator only: status, code and the inner message.
    pub(crate) fn inner(&self) -> Option<(u16, &'static str, &str)> {
        self.0.inner.as_deref().map(|inner| (self.0.status, self.0.code, inner))
    }

    /// Whether there was no room for it, or no turn in time.
    pub(crate) fn is_overload(&self) -> bool {
        self.0.status == 503 && matches!(self.0.code, "ServiceUnavailable" | "BackendFull")
    }

    /// 404: the URL is well-formed but leads nowhere.
    pub(crate) fn not_found(message: impl Into<String>) -> Fault {
        Fault::new(404, "NotFound", message)
    }

    /// 400: the request is malformed at `target`.
    pub(crate) fn bad_request(target: &str, message: impl Into<String>) -> Fault {
        Fault::new(400, "BadRequest", message).at(Some(target.to_owned()))
    }

    /// 400: the protocol version is not supported.
    pub(crate) fn version(message: impl Into<String>) -> Fault {
        Fault::new(400, "VersionNotSupported", message)
    }

    /// 413: a limit for one client is exceeded.
    pub(crate) fn too_large(message: impl Into<String>) -> Fault {
        Fault::new(413, "ContentTooLarge", message)
    }

    /// 424: a request that it depends on failed.
    pub(crate) fn failed_dependency(message: impl Into<String>) -> Fault {
        Fault::new(424, "FailedDependency", message)
    }

    /// 503: no memory, time or turn for it at the moment.
    pub(crate) fn overloaded(message: impl Into<String>) -> Fault {
        Fault::new(503, "ServiceUnavailable", message).with_retry_after()
    }

    /// 429: the client may try again after `wait`.
    pub(crate) fn too_many(wait: Duration, message: impl Into<String>) -> Fault {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let seconds = u32::try_from(seconds.max(1)).unwrap_or(u32::MAX);
        Fault::new(429, "TooManyRequests", message).with_field("retry-after", Field::Number(seconds))
    }

    /// 405: the resource has no such method.
    pub(crate) fn method_not_allowed(method: &str, allow: &'static str) -> Fault {
        let message = format!("{method} is not for this resource, but {allow}");
        Fault::new(405, "MethodNotAllowed", message).with_field("allow", Field::Text(allow))
    }

    /// 406: no acceptable format.
    pub(crate) fn not_acceptable(message: impl Into<String>) -> Fault {
        Fault::new(406, "NotAcceptable", message)
    }

    /// 400: a foreign key, in `target` if known, leads nowhere.
    pub(crate) fn unknown_reference(target: Option<&str>) -> Fault {
        let message = format!("{} refers to an entity that does not exist", target.unwrap_or("the entity"));
        Fault::new(400, "ForeignKey", message).at(target.map(str::to_owned))
    }

    /// 409: other entities refer to the one to be deleted.
    pub(crate) fn still_referred_to() -> Fault {
        Fault::new(409, "ForeignKey", "others still refer to it")
    }

    /// 409: the entity is not in a state that the action needs.
    pub(crate) fn not_in_state(action: &str) -> Fault {
        let message = format!("the entity is not in a state in which {action} can be done");
        Fault::new(409, "Conflict", message).at(Some(action.to_owned()))
    }

    /// 412: `If-Match` names another state.
    pub(crate) fn precondition_failed() -> Fault {
        Fault::new(412, "PreconditionFailed", "the entity has changed since the state that If-Match names")
    }

    /// 412: the entity must not exist, or not be in this state, but is.
    pub(crate) fn precondition_of_absence_failed() -> Fault {
        Fault::new(412, "PreconditionFailed", "the entity is in a state that If-None-Match names")
    }

    /// 428: the entity has an ETag, and the request does not name its state.
    pub(crate) fn precondition_required() -> Fault {
        Fault::new(
            428,
            "PreconditionRequired",
            "expected If-Match with the ETag of the entity that is to be changed, or *",
        )
    }

    /// 403: the service allows this to nobody.
    pub(crate) fn forbidden(target: &str, message: impl Into<String>) -> Fault {
        Fault::new(403, "Forbidden", message).at(Some(target.to_owned()))
    }

    /// 403: the caller may not do this, to `target` if known.
    pub(crate) fn not_permitted(target: Option<&str>, message: impl Into<String>) -> Fault {
        Fault::new(403, "Forbidden", message).at(target.map(str::to_owned))
    }

    /// 401: the caller is not authenticated, as `challenge` requires.
    pub(crate) fn unauthenticated(challenge: Arc<str>, message: impl Into<String>) -> Fault {
        Fault::new(401, "Unauthorized", message).with_field("www-authenticate", Field::Shared(challenge))
    }

    /// 403: a writing request has no token, or another's.
    pub(crate) fn token_required() -> Fault {
        let message = "expected the X-CSRF-Token that a request with X-CSRF-Token: Fetch is answered, and its cookie";
        Fault::new(403, "TokenRequired", message).with_field("x-csrf-token", Field::Text("Required"))
    }

    /// 415: an unsupported body.
    pub(crate) fn unsupported_media_type(message: impl Into<String>) -> Fault {
        Fault::new(415, "UnsupportedMediaType", message)
    }

    /// 413: a body larger than the service accepts.
    pub(crate) fn body_too_large(bytes_max: u64) -> Fault {
        Fault::new(413, "ContentTooLarge", format!("the body has more than {bytes_max} bytes"))
    }

    /// 413: more entities than the service accepts at once.
    pub(crate) fn too_many_entities(rows_max: u64) -> Fault {
        Fault::new(413, "ContentTooLarge", format!("the array has more than {rows_max} entities"))
    }

    /// 408: a body that comes too slowly while others wait.
    pub(crate) fn body_too_slow(bytes_per_second_min: u64) -> Fault {
        let message = format!("the body came more slowly than {bytes_per_second_min} bytes a second, or paused");
        Fault::new(408, "RequestTimeout", message)
    }

    /// 408: an array that takes longer than it may block others.
    pub(crate) fn array_too_slow(ms_max: u32) -> Fault {
        let message = format!("the array took more than {ms_max} ms, so nothing of it was done: send smaller ones");
        Fault::new(408, "RequestTimeout", message)
    }

    /// The same fault, in the entity at `index` of an array.
    pub(crate) fn of_entity(mut self, index: u64) -> Fault {
        self.0.target = Some(match self.0.target {
            Some(property) => format!("[{index}].{property}"),
            None => format!("[{index}]"),
        });
        self
    }

    /// 501: declared by the protocol, but not implemented.
    pub(crate) fn not_implemented(thing: &str) -> Fault {
        Fault::new(501, "NotImplemented", format!("{thing} is not implemented"))
    }

    /// 504: the client wants only a cached answer, and there is none (RFC 9111, section 5.2.1.7).
    pub(crate) fn not_cached() -> Fault {
        Fault::new(
            504,
            "NotCached",
            "Cache-Control wants only what is kept, and nothing is: ask without only-if-cached",
        )
    }

    /// 421: the request was meant for another host.
    pub(crate) fn misdirected(message: impl Into<String>) -> Fault {
        Fault::new(421, "MisdirectedRequest", message)
    }

    /// 503: the gateway finishes requests in flight and accepts no new ones.
    pub(crate) fn draining() -> Fault {
        Fault::new(503, "Draining", "the gateway is shutting down")
    }

    /// 502: the backend gave no usable answer; the reason is for the operator.
    pub(crate) fn backend_failed(inner: impl Into<String>) -> Fault {
        Fault::new(502, "BadGateway", "the backend gave no answer that could be passed on").with_inner(inner)
    }

    /// 504: the backend took too long; the step is for the operator.
    pub(crate) fn backend_late(inner: impl Into<String>) -> Fault {
        Fault::new(504, "GatewayTimeout", "the backend did not answer in time").with_inner(inner)
    }

    /// 503: the backend is suspended for a while.
    pub(crate) fn backend_away(retry_after_seconds: u32) -> Fault {
        let message = "the backend did not answer others, and is left alone for a while";
        Fault::new(503, "BackendAway", message).with_field("retry-after", Field::Number(retry_after_seconds))
    }

    /// 503: the backend has the most requests that it may have at once.
    pub(crate) fn backend_full(retry_after_seconds: u32) -> Fault {
        let message = "the backend has as many requests as it may have at once";
        Fault::new(503, "BackendFull", message).with_field("retry-after", Field::Number(retry_after_seconds))
    }

    /// 400: a path with two possible readings.
    pub(crate) fn ambiguous_path() -> Fault {
        Fault::new(
            400,
            "BadPath",
            "the path may mean another one: expected it without `..`, `//`, `;` and encoded slashes",
        )
    }

    /// 405: the path takes other methods.
    pub(crate) fn other_methods(method: &str, allow: String) -> Fault {
        let message = format!("{method} is not for this path, but {allow}");
        Fault::new(405, "MethodNotAllowed", message).with_field("allow", Field::Shared(allow.into()))
    }

    /// 500: our fault, logged for the operator.
    pub(crate) fn internal(inner: impl Into<String>) -> Fault {
        Fault::new(500, "InternalError", "the server failed at this request; the log says why").with_inner(inner)
    }

    /// Writes this error to `reply` in the caller's format.
    pub(crate) fn answer(&self, format: impl Into<ErrorFormat>, reply: &mut impl Reply) {
        let format = format.into();
        let told = &*self.0;
        reply.begin(told.status);
        match &told.field {
            Some((name, Field::Text(text))) => reply.field(name, text.as_bytes()),
            Some((name, Field::Shared(text))) => reply.field(name, text.as_bytes()),
            Some((name, Field::Number(number))) => reply.field(name, number.to_string().as_bytes()),
            None => {}
        }
        if let Some((name, said)) = format.version() {
            reply.field(name, said.as_bytes());
        }
        if format.is_negotiated() {
            // 404 and 405 may be cached like answers.
            reply.field("vary", b"Accept");
        }
        reply.field("content-type", format.content_type().as_bytes());
        let target = told.target.as_deref();
        let title = reason(told.status);
        let body =
            ErrorBody { status: told.status, title, code: told.code, message: &told.message, target, details: &[] };
        format.write(reply.body(), &body);
    }
}

impl From<Excess> for Fault {
    fn from(excess: Excess) -> Fault {
        let told = |message: String| Fault::too_large(message + ": ask for fewer at once, or expand less");
        match excess {
            Excess::Bytes(bytes_max) => told(format!("the answer would have more than {bytes_max} bytes")),
            Excess::Entities(entities_max) => {
                told(format!("the answer would have more than {entities_max} entities, those it expands included"))
            }
            Excess::Memory(bytes_max) => told(format!("the answer would take more than {bytes_max} bytes at once")),
            Excess::Room => Fault::overloaded("the room for large answers is taken by others; ask again later"),
        }
    }
}

impl From<ProtocolFault> for Fault {
    fn from(fault: ProtocolFault) -> Fault {
        // What is too large has one code, whoever says so.
        let code = if fault.status() == 413 { "ContentTooLarge" } else { "Protocol" };
        let told = Fault::new(fault.status(), code, fault.to_string());
        match fault {
            ProtocolFault::ConnectionsFull | ProtocolFault::ClientConnectionsFull | ProtocolFault::MemoryFull => {
                told.with_retry_after()
            }
            _ => told,
        }
    }
}

impl From<Unmet> for Fault {
    fn from(unmet: Unmet) -> Fault {
        match unmet {
            Unmet::Match => Fault::precondition_failed(),
            Unmet::NoneMatch => Fault::precondition_of_absence_failed(),
        }
    }
}

impl From<UrlError> for Fault {
    fn from(error: UrlError) -> Fault {
        let told = Fault::new(error.status(), error.fault.code(), error.message);
        let target = match error.place {
            Place::Path => None,
            Place::Option(name) => Some(name.into_owned()),
        };
        told.at(target)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        let message = error.to_string();
        match error.fault() {
            store::Fault::Client => match error {
                StoreError::NotImplemented { .. } => Fault::new(501, "NotImplemented", message),
                StoreError::Undefined { .. } => Fault::new(400, "BadValue", message),
                StoreError::Duplicate { columns } => {
                    Fault::new(409, "Duplicate", message).at(columns.into_iter().next())
                }
                StoreError::Condition { condition: _, column } => Fault::new(400, "BadValue", message).at(column),
                StoreError::Constraint { rule, name } => {
                    let (status, code) = match rule {
                        Rule::ForeignKey => (409, "ForeignKey"),
                        Rule::NotNull | Rule::Check => (400, "BadValue"),
                    };
                    // A condition has its own text for a name, which is no target.
                    let path =
                        |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_/".contains(&byte));
                    Fault::new(status, code, message).at(name.filter(path))
                }
                _ => Fault::new(400, "BadRequest", message),
            },
            store::Fault::Overload if matches!(error, StoreError::Full(_)) => {
                let mut told = Fault::new(507, "InsufficientStorage", message);
                told.0.inner = std::error::Error::source(&error).map(ToString::to_string);
                told
            }
            store::Fault::Overload => Fault::new(503, "ServiceUnavailable", message).with_retry_after(),
            store::Fault::Gateway if matches!(error, StoreError::InDoubt(_)) => {
                // No `Retry-After`: to try again may be to do it twice.
                let mut told = Fault::new(500, "InDoubt", message);
                told.0.inner = std::error::Error::source(&error).map(ToString::to_string);
                told
            }
            store::Fault::Gateway => match std::error::Error::source(&error) {
                Some(inner) => Fault::internal(format!("{message}: {inner}")),
                None => Fault::internal(message),
            },
        }
    }
}

impl From<BodyError> for Fault {
    fn from(error: BodyError) -> Fault {
        Fault::new(400, "BadBody", error.to_string()).at(error.property)
    }
}

impl From<BatchError> for Fault {
    fn from(error: BatchError) -> Fault {
        match error.kind {
            BatchErrorKind::Malformed => Fault::new(400, "BadBatch", error.to_string()),
            BatchErrorKind::TooMany => Fault::too_large(error.to_string()),
        }
    }
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Fault {
        Fault::new(503, "ServiceUnavailable", refused.message()).with_retry_after()
    }
}
