//! SimpleStockQuote over SOAP 1.1 and 1.2: `getQuote`, `getFullQuote`, and `placeOrder`, which is counted and not
//! answered; `?wsdl` describes it.
//!
//! It keeps nothing but the count of orders. Messages are small, and read on the event loop.

mod data;
mod message;

use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_net::http1::Method;
use tollgate_net::http1::server::{Exchange, Response};
use tollgate_wire::soap::{self, Code, Version};
use tollgate_wire::{escape, soap::ADDRESSING_NAMESPACE};
use tollgate_xml::{Budget, Options, Workspace};

use self::data::{History, NAMESPACE, Quote};
use self::message::{Message, Operation, QuoteRequest, Refusal};
use super::service::{Answering, BuiltIn, BuiltInKind, Speaks};
use crate::auth::Verb;
use crate::error::{Failure, Fault};
use crate::visit::Visit;

const PATH: &str = "/services/SimpleStockQuoteService";

const EXAMPLE: &str = "/services/SimpleStockQuoteService?wsdl";

/// Capitalised, though HTTP allows any case: Synapse 3.0.1 looks for the content type of an answer by this spelling,
/// and treats a message without it as bytes that it cannot transform.
const CONTENT_TYPE: &str = "Content-Type";

const ALLOW: &str = "GET, HEAD, OPTIONS, POST";

// The table of limits.
/// Bytes of the largest message; no valid request is larger.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Processing limits of one message: ours have a dozen nodes.
const BUDGET: Budget = Budget {
    document_bytes_max: MESSAGE_BYTES_MAX,
    depth_max: 64,
    nodes_max: 4_096,
    attributes_max: 64,
    text_bytes_max: MESSAGE_BYTES_MAX,
    entity_bytes_max: 0,
    output_bytes_max: 0,
    instructions_max: 0,
    value_bytes_max: 0,
    template_depth_max: 0,
    stack_bytes_max: 0,
};

/// A full quote leaves in parts of about this size.
const PART_BYTES: usize = 32 * 1024;

/// The kind.
pub(super) const KIND: BuiltInKind = BuiltInKind {
    name: "stock-quote",
    summary: "Made-up stock quotes over SOAP 1.1 and 1.2, described in WSDL: the same.",
    path: PATH,
    example: EXAMPLE,
    speaks: Speaks::Soap,
    is_default: false,
    keys: &[],
    body_bytes_max: |_| MESSAGE_BYTES_MAX,
    make: |_| Box::new(StockQuote::new()),
};

/// The service.
#[derive(Debug)]
struct StockQuote {
    /// Closing time of each day, the last one first.
    closing_times: Vec<String>,
    orders: AtomicU64,
}

/// Work left after a message was read.
enum Next {
    Nothing,
    /// The full quote of this symbol, appended to the output so far.
    History(String),
}

impl StockQuote {
    /// The service.
    fn new() -> StockQuote {
        StockQuote { closing_times: data::closing_times(), orders: AtomicU64::new(0) }
    }

    /// Answers one request.
    ///
    /// # Errors
    /// An HTTP error, or a broken exchange. Errors in the message are answered as SOAP faults.
    async fn answered(&self, visit: &Visit<'_>, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
        let request = exchange.request();
        visit.access.check_document(Verb::of(request.method()))?;
        match request.method() {
            Method::Post => {}
            Method::Get | Method::Head => return Ok(describe(visit, exchange)?),
            Method::Options => {
                let response = exchange.respond();
                response.status = 204;
                response.header("allow", ALLOW);
                return Ok(());
            }
            _ => return Err(Fault::method_not_allowed(request.method_text(), ALLOW).into()),
        }
        let announced = request.header("content-type").and_then(Version::of_content_type).ok_or_else(|| {
            Fault::unsupported_media_type("expected text/xml (SOAP 1.1) or application/soap+xml (SOAP 1.2)")
        })?;
        exchange.read_body(MESSAGE_BYTES_MAX).await?;
        let (_, body, response) = exchange.parts();
        let next = self.work(&mut visit.memory.workspace.borrow_mut(), announced, body, response);
        match next {
            Next::Nothing => Ok(()),
            Next::History(symbol) => self.history(&symbol, exchange).await,
        }
    }

    /// Reads a message and answers it, a full quote up to its first day.
    fn work(&self, workspace: &mut Workspace, version: Version, body: &[u8], response: &mut Response) -> Next {
        let options = Options { budget: Some(&BUDGET), ..Options::default() };
        let document = match workspace.parse_bytes(body, &options) {
            Ok(document) => document,
            Err(error) => {
                Refusal::of_sender(format!("expected an envelope: {error}")).tell(version, response);
                return Next::Nothing;
            }
        };
        let next = match Message::read(&document, version) {
            Ok(message) => self.done(&message, version, response),
            Err(refusal) => {
                refusal.tell(version, response);
                Next::Nothing
            }
        };
        workspace.recycle(document);
        next
    }

    fn done(&self, message: &Message<'_>, version: Version, response: &mut Response) -> Next {
        let QuoteRequest { operation, symbol } = &message.asked;
        if *operation == Operation::PlaceOrder {
            self.orders.fetch_add(1, Ordering::Relaxed);
            response.status = 202;
            return Next::Nothing;
        }
        response.header(CONTENT_TYPE, version.content_type());
        let out = &mut response.body;
        begin(out, version, message, operation.name());
        if *operation == Operation::GetFullQuote {
            return Next::History(symbol.to_string());
        }
        data::write_quote(out, symbol, &self.closing_times[0], &Quote::of(symbol));
        end(out, operation.name());
        Next::Nothing
    }

    /// Answers with the days of a symbol, appended to the output so far.
    async fn history(&self, symbol: &str, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
        for (back, (quote, date)) in History::of(symbol).zip(&self.closing_times).enumerate() {
            let out = &mut exchange.respond().body;
            data::write_day(out, symbol, back, date, &quote);
            if out.len() >= PART_BYTES {
                exchange.flush_part().await?;
            }
        }
        end(&mut exchange.respond().body, Operation::GetFullQuote.name());
        Ok(())
    }
}

impl BuiltIn for StockQuote {
    fn answer<'a, 'e: 'a>(&'a self, visit: &'a Visit<'a>, exchange: &'a mut Exchange<'e>) -> Answering<'a> {
        Box::pin(self.answered(visit, exchange))
    }

    fn orders(&self) -> Option<u64> {
        Some(self.orders.load(Ordering::Relaxed))
    }
}

/// Answers with the description, with the service's address as the client used it.
fn describe(visit: &Visit<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    if !exchange.request().query().is_some_and(|query| query.eq_ignore_ascii_case("wsdl")) {
        return Err(Fault::bad_request("wsdl", "expected a POST, or ?wsdl for the description"));
    }
    let address = visit.memory.service_root(exchange, PATH);
    let response = exchange.respond();
    response.header(CONTENT_TYPE, "text/xml; charset=utf-8");
    data::write_description(&mut response.body, &address);
    visit.memory.give_text(address);
    Ok(())
}

/// Writes an answer up to its figures. If the message has an id by WS-Addressing 1.0, the answer refers to it and names
/// its action, by the pattern of its binding to WSDL (section 4.4.4).
fn begin(out: &mut Vec<u8>, version: Version, message: &Message<'_>, operation: &str) {
    match &message.id {
        None => write(out, &[version.before_payload()]),
        Some(id) => {
            write(out, &[version.before_headers(), "<wsa:Action xmlns:wsa=\"", ADDRESSING_NAMESPACE, "\">"]);
            write(out, &[NAMESPACE, "/SimpleStockQuoteServicePortType/", operation, "Response</wsa:Action>"]);
            write(out, &["<wsa:RelatesTo xmlns:wsa=\"", ADDRESSING_NAMESPACE, "\">"]);
            escape::xml_text(out, id.as_bytes());
            write(out, &["</wsa:RelatesTo>", soap::BETWEEN_HEADERS_AND_PAYLOAD]);
        }
    }
    write(out, &["<ns:", operation, "Response xmlns:ns=\"", NAMESPACE, "\"><ns:return>"]);
}

fn end(out: &mut Vec<u8>, operation: &str) {
    write(out, &["</ns:return></ns:", operation, "Response>", soap::BEHIND_PAYLOAD]);
}

fn write(out: &mut Vec<u8>, texts: &[&str]) {
    texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));
}

impl Refusal<'_> {
    /// Answers with a fault.
    fn tell(&self, version: Version, response: &mut Response) {
        response.header(CONTENT_TYPE, version.content_type());
        let code = match self {
            Refusal::Fault { code, reason } => {
                soap::write_fault(&mut response.body, version, &soap::Fault { code: *code, reason, detail: None });
                *code
            }
            Refusal::NotUnderstood { namespace, local } => {
                soap::write_not_understood(&mut response.body, version, namespace, local);
                Code::MustUnderstand
            }
        };
        response.status = version.status(code);
    }
}
