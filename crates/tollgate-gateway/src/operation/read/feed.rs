//! Writing of a page of entities, for every protocol: rows from the store go through a stencil into the answer, on the
//! loop or outside it.
//!
//! Permissions and format were decided before.

use std::sync::Arc;

use tollgate_net::http1::server::Exchange;
use tollgate_wire::plan::{Counting, Expand, Plan, SkipToken};
use tollgate_wire::query::skip_token;
use tollgate_wire::stencil::{Base, FeedHead, Stencil, Writer};
use tollgate_wire::value::Row;

use crate::error::{Failure, Fault};
use crate::hosted::Hosted;
use crate::operation::read::away::{self, Progress, Sent, Work};
use crate::operation::read::next_link::{self, Begin};
use crate::store::{Connection, Flow, RowSink, Store};
use crate::visit::Visit;
use crate::work::allowance::{Meter, Spent};
use crate::work::attempts::HELD_UP_MAX;
use crate::work::parts::{Output, PartWriter, Whole};
use crate::work::weight::ReadPlace;

/// A page to write; it owns all its data, so that it can leave the loop.
#[derive(Debug)]
pub(crate) struct Feed {
    /// Plan of the read.
    pub(crate) plan: Plan,
    /// Stencil that writes it.
    pub(crate) stencil: Arc<Stencil>,
    /// The absolute URL of the service.
    pub(crate) root: String,
    /// Time of the request, as Atom writes it.
    pub(crate) updated: String,
    /// The requested path below the service root.
    pub(crate) path: String,
    /// Form of the link to the next page.
    pub(crate) next: Next,
    /// Number of further entities that fit in the page.
    pub(crate) page_left: u64,
    /// Number of entities written.
    pub(crate) written: u64,
    /// The next page, once its existence is known.
    pub(crate) next_page: Option<String>,
    /// The part of its limits that is used.
    pub(crate) spent: Spent,
}

/// Form of the link to the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// By a skip token, with the other options of this query kept.
    Token {
        /// The requested query.
        query: Option<String>,
    },
    /// By a cursor, with the other parameters of this query kept.
    Cursor {
        /// The requested query.
        query: Option<String>,
    },
}

impl Feed {
    /// Writes the page as the answer of `exchange`, whose status and fields are already set.
    pub(crate) async fn answer(
        mut self,
        visit: &Visit<'_>,
        service: &Arc<Hosted>,
        exchange: &mut Exchange<'_>,
    ) -> Result<(), Failure> {
        match service.place_of_read(&self.plan, self.page_left) {
            ReadPlace::Loop => {
                let mut work_process =
                    service.pool.acquire(&visit.task(exchange.request())).await.map_err(Fault::from)?;
                let written = self.write_whole(service, &mut work_process, &mut exchange.respond().body);
                drop(work_process);
                written?;
                self.end(visit, exchange);
                Ok(())
            }
            ReadPlace::Attempt(form) => {
                let mut work_process =
                    service.pool.acquire(&visit.task(exchange.request())).await.map_err(Fault::from)?;
                let body = &mut exchange.respond().body;
                let begin = body.len();
                let attempt =
                    work_process.briefly(HELD_UP_MAX, |connection| self.write_whole(service, connection, body));
                let Some(written) = attempt else {
                    // Nothing of it has left, and what was not read to its end is as it was.
                    body.truncate(begin);
                    service.rows.attempt_failed(form);
                    drop(work_process);
                    return away::run(visit, service, exchange, self).await;
                };
                drop(work_process);
                written?;
                self.end(visit, exchange);
                Ok(())
            }
            ReadPlace::Away => away::run(visit, service, exchange, self).await,
        }
    }

    /// Ends an answer that was written as a whole.
    fn end(self, visit: &Visit<'_>, exchange: &mut Exchange<'_>) {
        if let Some(link) = self.link(Sent::Whole) {
            exchange.respond().header("link", &link);
        }
        visit.memory.give_text(self.root);
    }

    /// Writes the page into `body`, in one piece.
    ///
    /// # Errors
    /// As [`write`](Feed::write).
    pub(crate) fn write_whole(
        &mut self,
        service: &Hosted,
        connection: &mut Connection,
        body: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let mut whole = Whole::of(std::mem::take(body));
        let written = self.write(service, connection, &mut whole);
        *body = whole.into_bytes();
        written.map(|_| ())
    }

    /// Writes the page, or as much of it as the output takes, with this connection.
    ///
    /// # Errors
    /// 404 if the path leads nowhere, 413 if the answer is larger than one may be, and errors of the store.
    pub(crate) fn write<O: Output>(
        &mut self,
        service: &Hosted,
        connection: &mut Connection,
        output: &mut O,
    ) -> Result<Progress, Fault> {
        let mut sink = FeedSink {
            writer: self.stencil.writer(Base::new(&self.root, &self.updated)),
            head: FeedHead { path: &self.path, count: None },
            expand: &self.plan.options.expand,
            written: self.written,
            page_left: self.page_left,
            stopped: false,
            meter: service.answers.meter(self.spent),
            output,
        };
        if self.written > 0 {
            sink.writer.feed_resume();
        }
        let outcome = connection.read(&service.model, &self.plan, Some(self.page_left), &mut sink)?;
        if sink.meter.is_over() {
            sink.meter.end(sink.output)?;
        }
        if !outcome.found {
            return Err(Fault::not_found("the path leads through an entity that does not exist"));
        }
        sink.begin();
        let (written, page_left) = (sink.written, sink.page_left);
        if sink.stopped && outcome.next.is_some() {
            self.spent = sink.meter.end(sink.output)?;
            (self.written, self.page_left) = (written, page_left);
            self.plan.options.skip_token = outcome.next;
            self.plan.options.count = Counting::Without;
            return Ok(Progress::Paused);
        }
        let link = outcome.next.map(|token| self.next_link(token));
        sink.writer.feed_end(sink.output.buffer(), link.as_deref());
        self.spent = sink.meter.end(sink.output)?;
        self.next_page = link;
        Ok(Progress::Done)
    }

    fn next_link(&self, mut token: SkipToken) -> String {
        match &self.next {
            Next::Token { query } => self.page_at(query.as_deref(), Begin::SkipToken(&skip_token::write(&token))),
            Next::Cursor { query } => {
                // So that it tells how many stand before it, those that were skipped among them.
                token.answered = token.answered.saturating_add(self.plan.options.skip.unwrap_or(0));
                self.page_at(query.as_deref(), Begin::Cursor(&skip_token::write(&token)))
            }
        }
    }

    fn page_at(&self, query: Option<&str>, begin: Begin<'_>) -> String {
        let mut link = String::with_capacity(self.root.len() + self.path.len() + 128);
        next_link::write_next(&mut link, &self.root, &self.path, query, begin);
        link
    }
}

impl Work for Feed {
    fn go(
        &mut self,
        service: &Hosted,
        connection: &mut Connection,
        writer: &mut PartWriter,
    ) -> Result<Progress, Fault> {
        self.write(service, connection, writer)
    }

    /// Plain REST's `Link`. If the answer leaves before its end is known, it names the page where the next one would
    /// begin: it may turn out empty, but no client takes the page before it for the last one.
    fn link(&self, sent: Sent) -> Option<String> {
        let Next::Cursor { query } = &self.next else { return None };
        let page = match sent {
            Sent::Whole => self.next_page.clone()?,
            Sent::InParts => {
                let options = &self.plan.options;
                let before = options.skip_token.as_ref().map_or(options.skip.unwrap_or(0), |token| token.answered);
                let begin = before.saturating_add(self.written).saturating_add(self.page_left);
                self.page_at(query.as_deref(), Begin::Offset(begin))
            }
        };
        Some(format!("<{page}>; rel=\"next\""))
    }
}

struct FeedSink<'a, O> {
    writer: Writer<'a>,
    expand: &'a [Expand],
    head: FeedHead<'a>,
    written: u64,
    page_left: u64,
    stopped: bool,
    meter: Meter<'a>,
    output: &'a mut O,
}

impl<O: Output> FeedSink<'_, O> {
    /// Writes the part before the first entity, once the total is known if requested.
    fn begin(&mut self) {
        if self.written == 0 {
            self.writer.feed_begin(self.output.buffer(), &self.head);
        }
    }
}

impl<O: Output> RowSink for FeedSink<'_, O> {
    fn total(&mut self, count: u64) -> Flow {
        self.head.count = Some(count);
        Flow::Continue
    }

    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        self.begin();
        self.written += 1;
        if self.writer.stencil().expansions() == 0 {
            self.writer.entry(self.output.buffer(), row);
        } else {
            self.writer.entry_begin(self.output.buffer(), row);
        }
        self.meter.entity(self.output)
    }

    fn expand_total(&mut self, _index: usize, count: u64) -> Flow {
        self.writer.expand_total(count);
        Flow::Continue
    }

    fn expand_begin<R: Row>(&mut self, index: usize, parent: &R) -> Flow {
        self.writer.expand_begin(self.output.buffer(), index, parent);
        Flow::Continue
    }

    fn expand_entity<R: Row>(&mut self, _index: usize, row: &R) -> Flow {
        self.writer.expand_entity(self.output.buffer(), row);
        self.meter.entity(self.output)
    }

    fn expand_entity_end<R: Row>(&mut self, _index: usize, row: &R) -> Flow {
        self.writer.expand_entity_end(self.output.buffer(), row);
        Flow::Continue
    }

    fn expand_more<R: Row>(&mut self, _index: usize, parent: &R, next: &SkipToken) -> Flow {
        let expand = Expand::at(self.expand, self.writer.expand_positions());
        let query = expand.map_or("", |expand| expand.query.as_str());
        self.writer.expand_more(parent, query, &skip_token::write(next));
        Flow::Continue
    }

    fn expand_end<R: Row>(&mut self, _index: usize, _parent: &R) -> Flow {
        self.writer.expand_end(self.output.buffer());
        Flow::Continue
    }

    fn entity_end<R: Row>(&mut self, row: &R) -> Flow {
        if self.writer.stencil().expansions() > 0 {
            self.writer.entry_end(self.output.buffer(), row);
        }
        self.page_left = self.page_left.saturating_sub(1);
        // The last entity of a page is no place to pause: what follows it is only the end.
        if self.page_left > 0 && self.output.entity_done() == Flow::Stop {
            self.stopped = true;
            return Flow::Stop;
        }
        Flow::Continue
    }
}
