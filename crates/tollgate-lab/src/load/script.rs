//! Requests of a load: one message, or one with places for a feed's rows. All that can be is rendered before the
//! measurement; a request is then ready, or assembled in its user's buffer.
//!
//! It does not send, and does not check answers.

use std::cell::Cell;

use tollgate_facts::names::did_you_mean;
use tollgate_net::http1::client::{BodyFraming, Piece as FieldPiece, RequestTemplate};

use super::target::LoadTarget;
use crate::traffic::feed::csv::Table;
use crate::traffic::feed::template::{self, Escape, Piece, TemplateError};
use crate::traffic::feed::{Feed, Values, Way};
use crate::traffic::model::Lane;

/// A message as its user wrote it; with a feed, its target, fields and body may have places for values.
#[derive(Debug, Clone)]
pub struct Message {
    /// The method, in capitals.
    pub method: String,
    /// The `Host` field's value.
    pub authority: String,
    /// The target in the request line.
    pub target: String,
    /// Header fields; all are sent, also several of one name.
    pub headers: Vec<(String, String)>,
    /// The body; absent for none.
    pub body: Option<Body>,
    /// Framing of the body.
    pub framing: BodyFraming,
}

/// A body.
#[derive(Debug, Clone)]
pub enum Body {
    /// Plain bytes; with a feed they are text.
    Plain(Vec<u8>),
    /// Several parts, each with a row of its own.
    Parted(Parted),
}

/// A body with parts for each row, such as a batch.
#[derive(Debug, Clone)]
pub struct Parted {
    /// Text before each part; as many as there are parts in a request.
    pub before: Vec<Vec<u8>>,
    /// The part, once for each row.
    pub parts: Vec<Vec<u8>>,
    /// Text after the last part.
    pub behind: Vec<u8>,
}

/// Requests of a load.
#[derive(Debug, Clone)]
pub struct Script(Sent);

#[derive(Debug, Clone)]
enum Sent {
    /// The same request every time: for a connection that goes on, and as the last one on it.
    Fixed { going_on: Vec<u8>, last: Vec<u8> },
    /// Requests with the rows of a feed.
    Fed(Feed, Box<Form>),
}

/// A request with places for values.
#[derive(Debug, Clone)]
struct Form {
    values: Values,
    going_on: Head,
    last: Head,
    body: Vec<BodyPiece>,
    /// Rows in one request.
    rows: usize,
}

/// The request before its body; the last one on a connection has other fields.
#[derive(Debug, Clone)]
struct Head {
    template: RequestTemplate,
    /// Column of each slot.
    columns: Vec<u32>,
}

#[derive(Debug, Clone)]
enum BodyPiece {
    Text(Vec<u8>),
    Value { row: usize, column: u32 },
}

impl Script {
    /// Creates a script with the same request for a target's own path.
    pub fn of_target(target: &LoadTarget) -> Script {
        let (mut going_on, mut last) = (Vec::new(), Vec::new());
        target.render(target.target.path_and_query(), &mut going_on);
        target.render_last(target.target.path_and_query(), &mut last);
        Script(Sent::Fixed { going_on, last })
    }

    /// Creates a script from a message, with the rows of a feed if there is one. `always_last` makes each request the
    /// last one on its connection.
    ///
    /// # Errors
    /// Invalid text, an unknown place or column, with its position.
    pub fn new(message: &Message, feed: Option<Feed>, always_last: bool) -> Result<Script, String> {
        let mut filling = Filling { feed: feed.as_ref(), values: Values::default(), slots: Vec::new() };
        let going_on = filling.head(message, always_last)?;
        let last = filling.head(message, true)?;
        let (body, rows) = filling.body(message)?;
        let form = Form { values: filling.values, going_on, last, body, rows };
        Ok(Script(match feed {
            Some(feed) => Sent::Fed(feed, Box::new(form)),
            None => Sent::Fixed { going_on: form.only(Place::GoingOn), last: form.only(Place::Last) },
        }))
    }

    /// Renders the first request, at this place on its connection.
    pub(crate) fn first(&self, place: Place) -> Vec<u8> {
        let mut writer = self.writer(Lane::WHOLE, 0);
        self.next(&mut writer, &Cell::new(0), place).map(<[u8]>::to_vec).unwrap_or_default()
    }

    /// Creates the writer of the user with this number in this lane.
    pub(super) fn writer(&self, lane: Lane, user: usize) -> Writer {
        let way = match &self.0 {
            Sent::Fixed { .. } => None,
            Sent::Fed(feed, _) => Some(Box::new(Way::new(feed, lane, user))),
        };
        Writer { way, rows: Vec::new(), out: Vec::new() }
    }

    /// Returns a user's next request; `None` once the feed has no more rows. `shared` counts the rows that the lane has
    /// taken.
    #[inline]
    pub(super) fn next<'w>(&'w self, writer: &'w mut Writer, shared: &Cell<u64>, place: Place) -> Option<&'w [u8]> {
        match &self.0 {
            Sent::Fixed { going_on, last } => Some(if place == Place::Last { last } else { going_on }),
            Sent::Fed(_, form) => {
                let Writer { way, rows, out } = writer;
                let way = way.as_mut()?;
                rows.clear();
                for _ in 0..form.rows {
                    rows.push(way.next(shared)?);
                }
                form.render(rows, place, out);
                Some(out)
            }
        }
    }
}

/// Place of a request on its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    GoingOn,
    Last,
}

/// State with which a user writes requests: its position in a feed, and memory.
pub(super) struct Writer {
    way: Option<Box<Way>>,
    rows: Vec<u32>,
    out: Vec<u8>,
}

impl Form {
    /// Renders the only request of a form without a feed.
    fn only(&self, place: Place) -> Vec<u8> {
        let mut out = Vec::new();
        self.render(&vec![0; self.rows], place, &mut out);
        out
    }

    fn render(&self, rows: &[u32], place: Place, out: &mut Vec<u8>) {
        let Head { template, columns } = if place == Place::Last { &self.last } else { &self.going_on };
        let head = columns.iter().map(|column| self.values.value(*column, rows[0] as usize));
        let body = self.body.iter().map(|piece| match piece {
            BodyPiece::Text(text) => text.as_slice(),
            BodyPiece::Value { row, column } => self.values.value(*column, rows[*row] as usize),
        });
        template.render_with(head, body, out);
    }
}

/// Returns the fields to send, all in their order. The last request has our own `Connection` field.
fn fields(headers: &[(String, String)], is_last: bool) -> impl Iterator<Item = (&str, &str)> {
    let kept = headers.iter().filter(move |(name, _)| !(is_last && name.eq_ignore_ascii_case("connection")));
    let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
    kept.chain(is_last.then_some(("Connection", "close")))
}

/// Resolves the columns in a message; without a feed, text like a place is left as it is.
struct Filling<'f> {
    feed: Option<&'f Feed>,
    values: Values,
    slots: Vec<u32>,
}

impl Filling<'_> {
    fn column(
        &mut self,
        name: &str,
        escape: Escape,
        place: &str,
        allowed: impl Fn(&[u8]) -> bool,
    ) -> Result<u32, String> {
        let table = &*self.feed.expect("there are places where there is a feed").table;
        let column = column(table, name, place)?;
        self.values.column(table, column, escape, allowed).map_err(|error| format!("{place}: {error}"))
    }

    fn head(&mut self, message: &Message, is_last: bool) -> Result<Head, String> {
        let mut builder = RequestTemplate::builder(&message.method, &message.authority);
        for piece in self.field(None, &message.target)? {
            builder = match piece {
                FieldPiece::Text(text) => builder.target_text(text),
                FieldPiece::Slot => builder.target_slot(),
            };
        }
        for (name, value) in fields(&message.headers, is_last) {
            builder = builder.header_with(name, &self.field(Some(name), value)?);
        }
        if message.body.is_some() {
            builder = builder.framed(message.framing);
        }
        let template = builder.build().map_err(|error| error.to_string())?;
        Ok(Head { template, columns: std::mem::take(&mut self.slots) })
    }

    /// Returns the pieces of the field with this name, or of the target; keeps the values of its places.
    fn field<'t>(&mut self, field: Option<&str>, text: &'t str) -> Result<Vec<FieldPiece<'t>>, String> {
        let allowed = if field.is_none() { RequestTemplate::is_target_text } else { RequestTemplate::is_field_text };
        let (place, default) = match field {
            None => ("the URL".to_owned(), Escape::Url),
            Some(name) => (format!("header `{name}`"), Escape::Raw),
        };
        let pieces = pieces(text, &place, self.feed)?;
        let fill = |piece| match piece {
            Piece::Text(text) => Ok(FieldPiece::Text(text)),
            Piece::Value { column, escape, .. } => {
                let slot = self.column(column, escape.unwrap_or(default), &place, allowed)?;
                self.slots.push(slot);
                Ok(FieldPiece::Slot)
            }
        };
        pieces.into_iter().map(fill).collect()
    }

    /// Returns the body's pieces, and the number of rows in a request.
    fn body(&mut self, message: &Message) -> Result<(Vec<BodyPiece>, usize), String> {
        match &message.body {
            None => Ok((Vec::new(), 1)),
            Some(Body::Plain(bytes)) if self.feed.is_none() => Ok((vec![BodyPiece::Text(bytes.clone())], 1)),
            Some(Body::Plain(bytes)) => {
                let text = std::str::from_utf8(bytes).map_err(|_| "the body: with a feed it must be text in UTF-8")?;
                let default = Escape::of_fields(fields(&message.headers, false));
                let pieces = pieces(text, "the body", self.feed)?;
                let fill = |piece| match piece {
                    Piece::Text(text) => Ok(BodyPiece::Text(text.into())),
                    Piece::Value { column, escape, position } => {
                        let place = format!("the body, line {}", line(text, position));
                        let column = self.column(column, escape.unwrap_or(default), &place, |_| true)?;
                        Ok(BodyPiece::Value { row: 0, column })
                    }
                };
                Ok((pieces.into_iter().map(fill).collect::<Result<_, String>>()?, 1))
            }
            Some(Body::Parted(Parted { before, parts, behind })) => {
                let write = |row: usize, out: &mut Vec<u8>| out.extend_from_slice(&parts[row % parts.len()]);
                let column = self.values.made(self.feed.map_or(1, |feed| feed.table.rows()), write)?;
                let each = before.iter().enumerate();
                let mut found: Vec<BodyPiece> = each
                    .flat_map(|(row, text)| [BodyPiece::Text(text.clone()), BodyPiece::Value { row, column }])
                    .collect();
                found.push(BodyPiece::Text(behind.clone()));
                Ok((found, before.len()))
            }
        }
    }
}

/// Returns the pieces of a text; without a feed it is one.
fn pieces<'t>(text: &'t str, place: &str, feed: Option<&Feed>) -> Result<Vec<Piece<'t>>, String> {
    if feed.is_none() {
        return Ok(vec![Piece::Text(text)]);
    }
    template::parse(text).map_err(|TemplateError { position, message }| match text.contains('\n') {
        true => format!("{place}, line {}: {message}", line(text, position)),
        false => format!("{place}: {message}"),
    })
}

/// Returns the position of a column of the feed.
fn column(table: &Table, name: &str, place: &str) -> Result<usize, String> {
    let known = || table.columns.iter().map(String::as_str);
    known()
        .position(|column| column == name)
        .ok_or_else(|| format!("{place}: the feed has no column `{name}`: {}", did_you_mean(name, known())))
}

fn line(text: &str, position: usize) -> usize {
    1 + text[..position].matches('\n').count()
}

/// Fills a text with the values of one row.
///
/// # Errors
/// As [`Script::new`], for this text.
pub(super) fn filled(text: &str, feed: &Feed, row: usize, escape: Escape, place: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for piece in pieces(text, place, Some(feed))? {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
            Piece::Value { column, escape: own, .. } => {
                let column = self::column(&feed.table, column, place)?;
                own.unwrap_or(escape).write(feed.table.value(row, column), &mut out);
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::Arc;

    use super::*;
    use crate::traffic::feed::{FeedEnd, Order};

    fn message(target: &str, header: &str, body: &str) -> Message {
        Message {
            method: "POST".to_owned(),
            authority: "h".to_owned(),
            target: target.to_owned(),
            headers: vec![
                ("Content-Type".to_owned(), "application/json".to_owned()),
                ("x".to_owned(), "first".to_owned()),
                ("X".to_owned(), header.to_owned()),
            ],
            body: Some(Body::Plain(body.into())),
            framing: BodyFraming::Length,
        }
    }

    fn feed(text: &str) -> Feed {
        let table = Arc::new(Table::parse(text.as_bytes()).unwrap());
        Feed { table, order: Order::InOrder, end: FeedEnd::Stop, seed: 0 }
    }

    fn sent(script: &Script, place: Place, count: usize) -> Vec<Option<String>> {
        let (mut writer, shared) = (script.writer(Lane::WHOLE, 0), Cell::new(0));
        let next = |_| script.next(&mut writer, &shared, place).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
        (0..count).map(next).collect()
    }

    #[test]
    fn each_row_fills_its_own_request_escaped_for_its_place() {
        let feed = feed("id,name\n1,\"a\"\"b c\"\n22,é\n");
        let script =
            Script::new(&message("/f/{{name}}", "n-{{id}}", "{\"n\":\"{{name}}\"}"), Some(feed), false).unwrap();
        let request = |target: &str, id: &str, body: &str| {
            let head = format!(
                "POST {target} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nx: first\r\nX: n-{id}\r\n"
            );
            Some(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()))
        };
        let expected =
            [request("/f/a%22b%20c", "1", "{\"n\":\"a\\\"b c\"}"), request("/f/%C3%A9", "22", "{\"n\":\"é\"}"), None];
        assert_eq!(sent(&script, Place::GoingOn, 3), expected);
    }

    #[test]
    fn a_last_request_has_no_place_for_what_it_says_of_its_connection_itself() {
        let mut message = message("/", "n-{{id}}", "");
        message.headers.insert(0, ("Connection".to_owned(), "{{how}}".to_owned()));
        let script = Script::new(&message, Some(feed("how,id\nkeep-alive,7\n")), false).unwrap();
        let head = |place| sent(&script, place, 1)[0].clone().unwrap();
        let (going_on, last) = (head(Place::GoingOn), head(Place::Last));
        assert!(
            going_on.contains("\r\nConnection: keep-alive\r\n") && going_on.contains("\r\nX: n-7\r\n"),
            "{going_on}"
        );
        assert!(last.contains("\r\nX: n-7\r\nConnection: close\r\n") && !last.contains("keep-alive"), "{last}");
    }

    #[test]
    fn a_message_without_a_feed_is_sent_as_it_is_whatever_stands_in_it() {
        let script = Script::new(&message("/%7B{{x}}", "a", "{{b"), None, false).unwrap();
        let head = "POST /%7B{{x}} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nx: first\r\nX: a\r\n";
        let rest = "Content-Length: 3\r\n\r\n{{b";
        assert_eq!(sent(&script, Place::GoingOn, 1), [Some(format!("{head}{rest}"))]);
        assert_eq!(sent(&script, Place::Last, 1), [Some(format!("{head}Connection: close\r\n{rest}"))]);
        let framing = BodyFraming::Chunked(NonZeroUsize::new(2).unwrap());
        let script = Script::new(&Message { framing, ..message("/", "a", "abc") }, None, true).unwrap();
        let request = sent(&script, Place::GoingOn, 1)[0].clone().unwrap();
        let end = "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert!(request.ends_with(end), "{request}");
    }

    #[test]
    fn each_part_of_a_body_takes_a_row() {
        let parted = Parted {
            before: vec![b"<0>".to_vec(), b"<1>".to_vec()],
            parts: vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec()],
            behind: b"!".to_vec(),
        };
        let parted = Message { body: Some(Body::Parted(parted)), ..message("/", "x", "") };
        let ends = |script: &Script, count: usize| -> Vec<String> {
            let cut = |request: Option<String>| request.map(|text| text.split_once("\r\n\r\n").unwrap().1.to_owned());
            sent(script, Place::GoingOn, count).into_iter().filter_map(cut).collect()
        };
        let fed = Feed { end: FeedEnd::Again, ..feed("id\n0\n1\n2\n") };
        assert_eq!(ends(&Script::new(&parted, Some(fed), false).unwrap(), 3), ["<0>a<1>b!", "<0>c<1>a!", "<0>b<1>c!"]);
        assert_eq!(ends(&Script::new(&parted, None, false).unwrap(), 1), ["<0>a<1>a!"]);
    }

    #[test]
    fn what_cannot_be_filled_says_where_and_why() {
        let check = |message: Message, expected: &str| {
            assert_eq!(Script::new(&message, Some(feed("name\n\"a\nb\"\n")), false).unwrap_err(), expected);
        };
        check(message("/{{nam}}", "", ""), "the URL: the feed has no column `nam`: did you mean `name`?");
        check(
            message("/", "", "x\n{{quantity}}"),
            "the body, line 2: the feed has no column `quantity`: known are `name`",
        );
        check(message("/", "", "x\n{{"), "the body, line 2: `{{` has no `}}` behind it");
        check(message("/", "{{name}}", ""), "header `X`: the value of `name` in row 1 of the feed cannot stand there");
        check(message("/ x", "", ""), "a target is visible ASCII without #, but \"/ x\" was given");
    }
}
