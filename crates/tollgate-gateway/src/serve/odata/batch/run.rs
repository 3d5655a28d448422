//! Runs the requests of a batch one after the other, in the transaction that the caller began: each by itself and each
//! change set as a whole is a unit, which is kept or undone as a whole.
//!
//! Order and errors follow the form of the batch. Multipart is a sequence that ends at its first error, unless the
//! client prefers to go on (Protocol 11.7.7.6); the requests of JSON are independent unless they name dependencies, and
//! those that depend on a failure get 424 (JSON Format 19.1, 19.4); V2 always goes on ([MS-ODATA] 2.2.6.7).

use std::borrow::Cow;
use std::time::{Duration, Instant};

use tollgate_net::http1::Method;
use tollgate_wire::batch::{self, Condition, Dependency, Requests, Step, below_root};
use tollgate_wire::edm::Version;
use tollgate_wire::format::Format;

use super::output::{Output, Telling};
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::answer::Answer;
use crate::http::headers::Headers;
use crate::operation::head::negotiation;
use crate::operation::{self, Author, ContentIds, Performed, Request};
use crate::store::{Connection, Store};
use crate::visit::common::Common;
use crate::visit::room::BatchShare;

/// Effect of an error on the following requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnError {
    /// The following requests neither run nor get an answer.
    Stop,
    /// The following requests run, except those that depend on the failed one.
    Continue,
}

/// Separation of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Units {
    /// By savepoints of a transaction.
    Savepoints,
    /// Without savepoints: nothing is written.
    Unmarked,
}

/// Kind of request groups, and the reach of names for created entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// Change sets of multipart: they only write.
    ChangeSets,
    /// Atomicity groups of JSON: they may read too.
    AtomicityGroups,
}

/// The methods that the requests of a batch may have.
const METHODS: &str = "DELETE, GET, MERGE, PATCH, POST, PUT";

/// Names after `$` that are no reference to another request (Protocol 11.7.4).
const SYSTEM_RESOURCES: [&str; 7] = ["batch", "crossjoin", "all", "entity", "root", "id", "metadata"];

/// Context of a batch's run, except the requests.
pub(super) struct Run<'r> {
    pub(super) service: &'r Hosted,
    pub(super) connection: &'r mut Connection,
    pub(super) common: &'r Common,
    pub(super) version: Version,
    pub(super) on_error: OnError,
    pub(super) units: Units,
    pub(super) grouping: Grouping,
    /// The absolute URL of the service root, and its path.
    pub(super) root: (&'r str, &'r str),
    pub(super) author: &'r Author,
    /// `OData-MaxVersion` of the batch.
    pub(super) max_version: Option<&'r str>,
    /// The batch's share of the memory budget, including its answer.
    pub(super) share: &'r mut BatchShare,
    pub(super) body_bytes: usize,
}

/// A run under way.
struct Running<'r, 'a, 'o> {
    run: Run<'r>,
    requests: Requests<'a>,
    output: Output<'o>,
    out: &'o mut Vec<u8>,
    answer: Answer,
    content_ids: ContentIds,
    /// Success of each request so far, and of each group.
    succeeded: Vec<bool>,
    groups_succeeded: Vec<bool>,
    members: Vec<Member<'a>>,
    since: Instant,
}

/// A request of the current change set.
struct Member<'a> {
    index: usize,
    id: Option<Cow<'a, str>>,
}

/// Fault of a request, with the format for its caller.
struct Refusal {
    fault: Fault,
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Well,
    Badly,
}

impl Run<'_> {
    /// Runs all of `requests` and appends the answer to `out`.
    ///
    /// # Errors
    /// An error that fails the whole batch: the caller rolls back.
    pub(super) fn all(self, requests: Requests<'_>, output: Output<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut running = Running {
            since: self.common.clock.now(),
            run: self,
            requests,
            output,
            out,
            answer: Answer::default(),
            content_ids: ContentIds::default(),
            succeeded: Vec::new(),
            groups_succeeded: Vec::new(),
            members: Vec::new(),
        };
        running.go()?;
        let Running { output, out, .. } = running;
        output.finish(out);
        Ok(())
    }
}

impl Running<'_, '_, '_> {
    fn go(&mut self) -> Result<(), Fault> {
        loop {
            let ended = match self.requests.next()? {
                Step::End => return Ok(()),
                Step::Request => self.single()?,
                Step::GroupBegin => self.group()?,
                Step::GroupEnd => continue,
            };
            if ended == Ended::Badly && self.run.on_error == OnError::Stop {
                return Ok(());
            }
        }
    }

    /// Performs a request that is a unit by itself.
    fn single(&mut self) -> Result<Ended, Fault> {
        let ended = match self.check() {
            Err(refusal) => {
                self.tell(&refusal);
                Ended::Badly
            }
            Ok(()) => {
                self.begin_unit()?;
                match self.perform().and_then(|()| self.end_unit().map_err(|fault| self.refused(fault))) {
                    Ok(()) => Ended::Well,
                    Err(refusal) => {
                        self.undo_unit()?;
                        self.tell(&refusal);
                        Ended::Badly
                    }
                }
            }
        };
        self.succeeded.push(ended == Ended::Well);
        let request = self.requests.request();
        self.output.response(self.out, request.id.as_deref(), None, &self.answer);
        self.check_limits()?;
        Ok(ended)
    }

    /// Performs the requests up to the end of the group, all or none.
    fn group(&mut self) -> Result<Ended, Fault> {
        if self.run.version == Version::V2 {
            // A Content-ID is known within its change set only ([MS-ODATA] 2.2.6.7.1).
            self.content_ids.clear();
        }
        self.members.clear();
        self.output.begin_group(self.out);
        self.begin_unit()?;
        let mut failed: Option<(usize, Refusal)> = None;
        let mut name = None;
        while self.requests.next()? == Step::Request {
            let request = self.requests.request();
            self.members.push(Member { index: request.index, id: request.id.clone() });
            self.succeeded.push(failed.is_none());
            if failed.is_some() {
                continue;
            }
            name.clone_from(&request.group);
            match self.check_member().and_then(|()| self.check()).and_then(|()| self.perform()) {
                Ok(()) => {
                    let request = self.requests.request();
                    self.output.response(self.out, request.id.as_deref(), request.group.as_deref(), &self.answer);
                    self.check_limits()?;
                }
                Err(refusal) => {
                    self.undo_unit()?;
                    failed = Some((self.members.len() - 1, refusal));
                }
            }
        }
        if failed.is_none()
            && let Err(fault) = self.end_unit()
        {
            // What the database holds against all of it is told with the last of it.
            self.undo_unit()?;
            failed = Some((self.members.len().saturating_sub(1), self.refused(fault)));
        }
        self.groups_succeeded.push(failed.is_none());
        match failed {
            None => {
                self.output.end_group(self.out);
                Ok(Ended::Well)
            }
            Some((culprit, refusal)) => {
                self.tell_group(name.as_deref(), culprit, &refusal);
                self.check_limits()?;
                Ok(Ended::Badly)
            }
        }
    }

    /// Reports that a group failed and its requests were undone.
    fn tell_group(&mut self, name: Option<&str>, culprit: usize, refusal: &Refusal) {
        let members = std::mem::take(&mut self.members);
        for member in &members {
            self.succeeded[member.index] = false;
            if let Some(id) = &member.id {
                self.content_ids.forget(id);
            }
        }
        match self.output.abandon_group(self.out) {
            Telling::Once => {
                self.tell(refusal);
                self.output.response(self.out, members[culprit].id.as_deref(), None, &self.answer);
            }
            Telling::ToEach => {
                let others = Refusal {
                    fault: Fault::failed_dependency("another request of its group failed, so nothing of it was done"),
                    format: refusal.format,
                };
                for (position, member) in members.iter().enumerate() {
                    self.tell(if position == culprit { refusal } else { &others });
                    self.output.response(self.out, member.id.as_deref(), name, &self.answer);
                }
                self.output.end_group(self.out);
            }
        }
        self.members = members;
    }

    /// Checks that the request is allowed in its group.
    fn check_member(&self) -> Result<(), Refusal> {
        let reads = matches!(self.method(), Method::Get | Method::Head);
        match self.run.grouping {
            Grouping::ChangeSets if reads => {
                Err(self.refused(Fault::bad_request("method", "a change set holds requests that write, and no GET")))
            }
            Grouping::ChangeSets | Grouping::AtomicityGroups => Ok(()),
        }
    }

    /// Checks that the requests it depends on have succeeded.
    fn check(&self) -> Result<(), Refusal> {
        let request = self.requests.request();
        if request.condition == Condition::Present {
            // As a service answers that knows no conditions (JSON Format 19.1).
            return Err(self.refused(Fault::failed_dependency("conditions of requests (`if`) are not supported")));
        }
        let has_failed = |dependency: &&Dependency| match dependency {
            Dependency::Request(index) => !self.succeeded[*index],
            Dependency::Group(index) => !self.groups_succeeded[*index],
        };
        match request.depends_on.iter().find(has_failed) {
            None => Ok(()),
            Some(_) => Err(self.refused(Fault::failed_dependency("a request that it depends on has failed"))),
        }
    }

    /// Performs the request; its answer is then in `self.answer`.
    fn perform(&mut self) -> Result<(), Refusal> {
        let done = self.operate();
        done.map_err(|fault| self.refused(fault))
    }

    fn operate(&mut self) -> Result<(), Fault> {
        let method = self.method();
        let Running { run, requests, answer, content_ids, .. } = self;
        let request = requests.request();
        match method {
            Method::Other => return Err(Fault::not_implemented(&format!("method {}", request.method))),
            Method::Head | Method::Options | Method::Trace => {
                return Err(Fault::method_not_allowed(&request.method, METHODS));
            }
            Method::Get | Method::Post | Method::Put | Method::Patch | Method::Delete | Method::Merge => {}
        }
        let entity_bytes_max = run.service.rules.body_bytes_max;
        if request.body.len() > entity_bytes_max {
            return Err(Fault::too_large(format!("the body of a request has more than {entity_bytes_max} bytes")));
        }
        let (root_url, root_path) = run.root;
        let Some(below) = below_root(&request.target, root_path) else {
            return Err(Fault::not_found(format!("the URL does not lead below {root_path}")));
        };
        let (path, query) = below.split_once('?').map_or((below, None), |(path, query)| (path, Some(query)));
        if path == "$batch" {
            return Err(Fault::bad_request("url", "a batch cannot stand in a batch"));
        }
        if let Some(id) = reference(path)
            && content_ids.address(id).is_none()
        {
            return Err(match run.grouping {
                Grouping::ChangeSets => {
                    Fault::bad_request("url", format!("`${id}` is no earlier request that left an entity"))
                }
                Grouping::AtomicityGroups => {
                    Fault::failed_dependency(format!("`${id}` is no earlier request that left an entity"))
                }
            });
        }
        let operation = Request {
            method,
            path,
            query,
            version: run.version,
            root: root_url,
            headers: &BatchPart { request, max_version: run.max_version },
            body: &request.body,
            content_ids,
            author: run.author,
            page_size: run.common.page_size,
        };
        let performed = operation::perform(run.service, run.connection, &operation, answer)?;
        if let Some(id) = &request.id
            && !SYSTEM_RESOURCES.contains(&id.as_ref())
        {
            match performed {
                Performed::Wrote if answer.address.is_empty() => content_ids.forget(id),
                Performed::Wrote => content_ids.note(id, &answer.address),
                // What was read stands where it was read.
                Performed::Read => {
                    let address = content_ids.resolve(path).into_owned();
                    content_ids.note(id, address.as_bytes());
                }
            }
        }
        Ok(())
    }

    fn method(&self) -> Method {
        let text = &self.requests.request().method;
        match (Method::from_text(text), self.run.grouping) {
            // The methods of JSON are written in any case (JSON Format 19.1).
            (Method::Other, Grouping::AtomicityGroups) => Method::from_text(&text.to_ascii_uppercase()),
            (method, _) => method,
        }
    }

    /// The fault, with the format for the request's sender.
    fn refused(&self, fault: Fault) -> Refusal {
        let request = self.requests.request();
        let query = request.target.split_once('?').map(|(_, query)| query);
        let headers = BatchPart { request, max_version: self.run.max_version };
        Refusal { fault, format: negotiation::error(self.run.version, query, Some(&headers)) }
    }

    /// Writes the fault as the answer.
    fn tell(&mut self, refusal: &Refusal) {
        let request = self.requests.request();
        let path = request.target.split('?').next().unwrap_or_default();
        self.run.common.log_inner(&refusal.fault, &request.method, path);
        self.answer.clear();
        refusal.fault.answer(refusal.format, &mut self.answer);
    }

    /// Checks that the batch may go on: its time, and the size of its answer.
    fn check_limits(&mut self) -> Result<(), Fault> {
        let rules = &self.run.service.rules;
        let ms_max = rules.batch_ms_max;
        if self.run.common.clock.now().saturating_duration_since(self.since) > Duration::from_millis(ms_max.into()) {
            return Err(Fault::overloaded(format!("the batch took more than {ms_max} ms, so nothing of it was done")));
        }
        let bytes_max = rules.batch_answer_bytes_max;
        if self.out.len() > bytes_max {
            return Err(Fault::too_large(format!("the answer to the batch would have more than {bytes_max} bytes")));
        }
        self.run.share.hold(self.run.body_bytes + self.out.capacity() + self.answer.body.capacity())
    }

    fn begin_unit(&mut self) -> Result<(), Fault> {
        match self.run.units {
            Units::Savepoints => Ok(self.run.connection.savepoint()?),
            Units::Unmarked => Ok(()),
        }
    }

    fn end_unit(&mut self) -> Result<(), Fault> {
        match self.run.units {
            Units::Savepoints => Ok(self.run.connection.release()?),
            Units::Unmarked => Ok(()),
        }
    }

    fn undo_unit(&mut self) -> Result<(), Fault> {
        match self.run.units {
            Units::Savepoints => Ok(self.run.connection.undo()?),
            Units::Unmarked => Ok(()),
        }
    }
}

/// The id at the beginning of a path, if it is a reference to another request.
fn reference(path: &str) -> Option<&str> {
    let id = path.strip_prefix('$')?.split('/').next()?;
    (!SYSTEM_RESOURCES.contains(&id)).then_some(id)
}

/// The fields of a request of a batch, and those inherited from the batch.
struct BatchPart<'r> {
    request: &'r batch::Request<'r>,
    max_version: Option<&'r str>,
}

impl Headers for BatchPart<'_> {
    fn value(&self, name: &str, index: usize) -> Option<&str> {
        let named = self.request.headers.iter().filter(|header| header.0.eq_ignore_ascii_case(name));
        let own = named.map(|header| header.1.as_ref()).nth(index);
        let inherits = || index == 0 && name.eq_ignore_ascii_case("odata-maxversion");
        own.or_else(|| self.max_version.filter(|_| inherits()))
    }
}
