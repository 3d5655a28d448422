//! `log`: a line in the gateway's log for a message, or for one of so many.
//!
//! It is for debugging, not for archiving: the log limits its rate, lines are of bounded length, and secrets are left
//! out.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::base::config_error::ConfigError;
use crate::base::log::Log;
use crate::error::Fault;
use crate::mediate::mediator::{Mediator, Need, Outcome, Touches};
use crate::mediate::message::Passing;
use crate::mediate::reading::{MediatorKind, MediatorReader, Value};
use crate::mediate::redact;
use crate::mediate::way::Way;

pub(super) const KIND: MediatorKind =
    MediatorKind { name: "log", make, schema: |generator| generator.subschema_for::<Table>() };

/// Most bytes of a body in a line.
const BODY_BYTES_MAX: usize = 16 * 1024;

/// Writes a line to the gateway's log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Log")]
struct Table {
    /// The line.
    log: LineTable,
}

/// A line. Credentials, cookies and everything named as a password, a secret or a token are left out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "LogLine")]
struct LineTable {
    /// A text to find the line by.
    text: String,
    /// One of so many messages is logged.
    #[schemars(with = "u32", range(min = 1))]
    one_in: Spanned<u32>,
    /// The logged header fields.
    #[schemars(with = "Vec<String>")]
    fields: Vec<Spanned<String>>,
    /// Logged bytes of the body.
    #[schemars(with = "usize", range(max = BODY_BYTES_MAX))]
    body_bytes: Spanned<usize>,
}

impl Default for LineTable {
    fn default() -> LineTable {
        LineTable {
            text: String::new(),
            one_in: Spanned::new(0..0, 1),
            fields: Vec::new(),
            body_bytes: Spanned::new(0..0, 0),
        }
    }
}

#[derive(Debug)]
struct Logging {
    text: Box<str>,
    one_in: u64,
    fields: Box<[Box<str>]>,
    body_bytes: usize,
    /// Messages so far. All loops share one counter: logging every message costs far more than that.
    seen: AtomicU64,
    log: Arc<Log>,
}

fn make(table: Value<'_>, reading: &MediatorReader<'_>) -> Result<Box<dyn Mediator>, ConfigError> {
    let Table { log: LineTable { text, one_in, fields, body_bytes } } = reading.table(table)?;
    if *one_in.as_ref() == 0 {
        return Err(reading.wrong(one_in.span(), "expected one in 1 or more"));
    }
    if *body_bytes.as_ref() > BODY_BYTES_MAX {
        return Err(reading.wrong(body_bytes.span(), &format!("expected at most {BODY_BYTES_MAX} bytes")));
    }
    Ok(Box::new(Logging {
        text: text.chars().filter(|letter| !letter.is_control()).collect::<String>().into(),
        one_in: u64::from(one_in.into_inner()),
        fields: fields.iter().map(|name| reading.field_name(name)).collect::<Result<_, _>>()?,
        body_bytes: body_bytes.into_inner(),
        seen: AtomicU64::new(0),
        log: Arc::clone(reading.log),
    }))
}

impl Mediator for Logging {
    fn need(&self) -> Need {
        if self.body_bytes == 0 { Need::Head } else { Need::Body }
    }

    fn fields<'m>(&'m self, _: &mut dyn FnMut(Touches, &'m str)) {}

    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        // The first is logged, so that whoever tries it sees something.
        if self.seen.fetch_add(1, Ordering::Relaxed).is_multiple_of(self.one_in) {
            self.log.line(format_args!("{}", self.line(passing)));
        }
        Ok(Outcome::Continue)
    }
}

impl Logging {
    fn line(&self, passing: &Passing<'_>) -> String {
        let view = passing.view();
        let request = view.request;
        let mut line = String::with_capacity(128 + self.body_bytes);
        let way = match view.way {
            Way::Request => "request".to_owned(),
            Way::Answer(head) => format!("answer {}", head.status()),
        };
        // Its query may hold what nobody should read.
        let told = write!(line, "{way} {} {}", request.method_text(), request.path());
        told.expect("a text takes all");
        if !self.text.is_empty() {
            line.push_str(" · ");
            line.push_str(&self.text);
        }
        for name in &self.fields {
            if let Some(value) = view.edits.find(view.fields(), name) {
                write!(line, " · {name}: {}", redact::field(name, value)).expect("a text takes all");
            }
        }
        if self.body_bytes > 0 {
            let body = redact::body(view.body, self.body_bytes);
            write!(line, " · {} bytes: {body}", view.body.len()).expect("a text takes all");
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mediate::testing::Message;

    #[test]
    fn a_line_tells_what_is_asked_for_and_no_secret() {
        let check = |settings: &str, expected: &str| {
            let message = Message::post("/quotes?password=x", "<a><Password>s3cret</Password></a>")
                .with("X-Symbol", "IBM")
                .with("Authorization", "Basic s3cret");
            assert_eq!(line_of(settings, &message), expected);
        };
        check("{}", "request POST /quotes");
        check("{ text = \"in\" }", "request POST /quotes · in");
        check(
            "{ fields = [\"x-symbol\", \"Authorization\", \"X-None\"] }",
            "request POST /quotes · x-symbol: IBM · Authorization: ******",
        );
        check("{ body_bytes = 19 }", "request POST /quotes · 34 bytes: <a><Password>******");
    }

    fn line_of(settings: &str, message: &Message) -> String {
        let text = format!("log = {settings}");
        let table = toml::de::DeTable::parse(&text).unwrap();
        let span = table.span();
        let LineTable { text, fields, body_bytes, .. } = Table::deserialize(toml::de::ValueDeserializer::from(
            Spanned::new(span, toml::de::DeValue::Table(table.into_inner())),
        ))
        .unwrap()
        .log;
        let logging = Logging {
            text: text.into(),
            one_in: 1,
            fields: fields.into_iter().map(|name| name.into_inner().into()).collect(),
            body_bytes: body_bytes.into_inner(),
            seen: AtomicU64::new(0),
            log: Arc::new(Log::to_stderr()),
        };
        message.passing(|passing| logging.line(passing))
    }
}
