//! Checks the content of an answer: its length, a text in it, an XML element in it.
//!
//! The element is found by an XML reader, so prefixes do not matter; an answer that is identical to the last right one
//! needs no search. It does not compare an answer with a list (see [`super::read`]).

use std::cell::RefCell;
use std::collections::BTreeMap;

use tollgate_net::http1::client::BodySink;
use tollgate_xml::pull::{Event, PullReader};

use super::checks::{AnswerKind, Checks};
use super::failure::{ErrorClass, Failure};
use super::{Verdict, odata_batch, soap};
use crate::traffic::request::{Element, RequestShape};

/// Bytes of an answer in which something is looked for.
const SEARCHED_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of an answer in which nothing is looked for that are kept for the words of a failure.
const WORDS_BYTES_MAX: usize = 1024;
/// Bytes of the answer to a batch, which is read whole.
const BATCH_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The answer that was last found to have its element, for all users of a worker.
#[derive(Debug, Default)]
pub(crate) struct LastRight(RefCell<Vec<u8>>);

/// Looks at an answer while it arrives.
pub(crate) struct Search<'a> {
    shape: &'a RequestShape,
    checks: &'a Checks,
    known: &'a LastRight,
    kept: &'a mut Vec<u8>,
    came_bytes: u64,
    is_found: bool,
}

impl<'a> Search<'a> {
    /// Creates a search of one answer for what the target's shape and checks expect, if anything. The searched bytes
    /// are kept in `kept`.
    pub(crate) fn new(
        shape: &'a RequestShape,
        checks: &'a Checks,
        known: &'a LastRight,
        kept: &'a mut Vec<u8>,
    ) -> Search<'a> {
        kept.clear();
        Search { shape, checks, known, kept, came_bytes: 0, is_found: false }
    }

    /// Returns what is known of an answer that was not refused. Its length proves nothing: a page of errors may be as
    /// long as the expected answer, or as the first one, which may be a page of errors.
    pub(crate) fn verdict(&self) -> Verdict {
        let is_read = match self.checks.kind {
            AnswerKind::Plain => false,
            // An operation without a result has an empty answer.
            AnswerKind::Soap => !self.kept.is_empty(),
            AnswerKind::Batch { .. } => true,
        };
        let is_asked = self.shape.contains.is_some() || self.shape.element.is_some() || !self.checks.json.is_empty();
        let looks = is_asked || is_read;
        if looks { Verdict::Right } else { Verdict::Unknown }
    }

    /// Judges the whole answer. If it failed for another reason, only a SOAP fault in it is looked for. The answers in
    /// a batch are counted in `parts`, by status.
    ///
    /// # Errors
    /// What came instead.
    pub(crate) fn judge(&self, failed: Option<ErrorClass>, parts: &mut BTreeMap<u16, u64>) -> Result<(), Failure> {
        if let Some(class) = failed {
            let is_soap = self.checks.kind == AnswerKind::Soap && matches!(class, ErrorClass::Status(_));
            return if is_soap { soap::refuse_fault(self.kept) } else { Ok(()) };
        }
        if let Some(first) = &self.checks.length {
            let (came, known) = (self.came_bytes, *first.get_or_init(|| self.came_bytes));
            if came != known {
                let text = format!("the answer has {came} bytes, the first one had {known}");
                return Err(Failure::new(ErrorClass::Length, text));
            }
        }
        if let Some(bytes) = self.shape.answer_bytes.filter(|bytes| *bytes != self.came_bytes) {
            return Err(Failure::content(format!("the answer has {} bytes instead of {bytes}", self.came_bytes)));
        }
        if let Some(wanted) = self.still_wanted() {
            return Err(Failure::content(format!("the answer does not contain `{wanted}`")));
        }
        if let AnswerKind::Batch { form, requests } = self.checks.kind {
            if self.came_bytes != self.kept.len() as u64 {
                return Err(Failure::content(format!("the answer to a batch has more than {BATCH_BYTES_MAX} bytes")));
            }
            return odata_batch::judge(form, self.kept, requests, &self.checks.statuses, parts);
        }
        let element = self.shape.element.as_ref();
        if element.is_none() && self.checks.json.is_empty() && self.checks.kind == AnswerKind::Plain {
            return Ok(());
        }
        if !self.kept.is_empty() && *self.known.0.borrow() == *self.kept {
            return Ok(());
        }
        if self.checks.kind == AnswerKind::Soap {
            soap::judge(self.kept)?;
        }
        if let Some(element) = element {
            has(self.kept, element).map_err(Failure::content)?;
        }
        if !self.checks.json.is_empty() && self.came_bytes != self.kept.len() as u64 {
            let text = format!("the answer has {} bytes: JSON values are looked for in 1 MiB at most", self.came_bytes);
            return Err(Failure::content(text));
        }
        self.checks.json.iter().try_for_each(|value| value.check(self.kept)).map_err(Failure::content)?;
        self.known.0.borrow_mut().clone_from(self.kept);
        Ok(())
    }

    /// Returns the kept beginning of the answer: its first bytes, if nothing is searched for.
    pub(crate) fn begin(&self) -> &[u8] {
        self.kept
    }

    /// Returns the expected text that has not been found yet.
    fn still_wanted(&self) -> Option<&'a str> {
        self.shape.contains.as_deref().filter(|_| !self.is_found)
    }
}

impl BodySink for Search<'_> {
    fn part(&mut self, bytes: &[u8]) {
        // Behind a part that found no room nothing is kept: what stands there would be glued to what came before it.
        let is_cut = self.came_bytes != self.kept.len() as u64;
        self.came_bytes += bytes.len() as u64;
        let (keeps, bytes_max) = match self.checks.kind {
            AnswerKind::Plain => (self.shape.element.is_some() || !self.checks.json.is_empty(), SEARCHED_BYTES_MAX),
            AnswerKind::Soap => (true, SEARCHED_BYTES_MAX),
            AnswerKind::Batch { .. } => (true, BATCH_BYTES_MAX),
        };
        let wanted = self.still_wanted();
        if !keeps && wanted.is_none() {
            // Nothing is looked for; a failed answer is told in its own words.
            let room = WORDS_BYTES_MAX.saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&bytes[..bytes.len().min(if is_cut { 0 } else { room })]);
            return;
        }
        if is_cut || self.kept.len() + bytes.len() > bytes_max {
            return;
        }
        // What is in the first part already need not be kept.
        self.is_found |= !keeps && self.kept.is_empty() && wanted.is_some_and(|text| contains(bytes, text.as_bytes()));
        if self.is_found && !keeps {
            return;
        }
        self.kept.extend_from_slice(bytes);
        self.is_found |= wanted.is_some_and(|text| contains(self.kept, text.as_bytes()));
    }
}

pub(crate) fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    wanted.is_empty() || bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Returns an answer up to its first byte that is not UTF-8.
pub(crate) fn readable(document: &[u8]) -> &str {
    document.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// Passes the events of a document to `each` until it has found something. A truncated answer is searched as far as it
/// came.
///
/// # Errors
/// The place where the document is not XML.
pub(crate) fn find_in<'d, T>(
    document: &'d [u8],
    mut each: impl FnMut(&PullReader<'d>, Event<'d>) -> Option<T>,
) -> Result<Option<T>, String> {
    let text = readable(document);
    let mut reader = PullReader::new(text, usize::MAX).passing_document_type();
    // A character may be cut off as well.
    let is_utf8 = || std::str::from_utf8(document).err().is_none_or(|error| error.error_len().is_none());
    loop {
        let event = match reader.event() {
            Ok(Some(event)) => event,
            Ok(None) => return Ok(None),
            Err((at, _)) if at == text.len() && is_utf8() => return Ok(None),
            Err((at, _)) if at == text.len() => return Err("the answer is no XML: it is not UTF-8".to_owned()),
            Err((at, what)) => return Err(format!("the answer is no XML: {what} (at byte {at})")),
        };
        if let Some(found) = each(&reader, event) {
            return Ok(Some(found));
        }
    }
}

/// Checks that a document has an element with its text.
///
/// # Errors
/// The text or elements that it has instead.
fn has(document: &[u8], Element { path, namespace, text }: &Element) -> Result<(), String> {
    // How many of the elements that are open now are those of the path, from the outermost one on; and what stands in the
    // last of them.
    let (mut fitting, mut content, mut came) = (0_usize, None::<String>, None);
    let found = find_in(document, |reader, event| {
        match event {
            Event::Begin(tag) => {
                if fitting + 1 == reader.depth() && path.get(fitting).is_some_and(|wanted| wanted == tag.name()) {
                    fitting += 1;
                    let is_last = fitting == path.len();
                    content = (is_last && reader.namespace().is_some_and(|of| of == *namespace)).then(String::new);
                }
            }
            Event::End => {
                if reader.depth() + 1 == path.len()
                    && let Some(content) = content.take()
                {
                    if content.trim() == text {
                        return Some(());
                    }
                    came = Some(content);
                }
                fitting = fitting.min(reader.depth());
            }
            Event::Text(part) => {
                if let Some(content) = &mut content {
                    content.push_str(&part);
                }
            }
        }
        None
    })?;
    let path = path.join("/");
    match (found, came) {
        (Some(()), _) => Ok(()),
        (None, Some(came)) => Err(format!("the answer has `{}` in {path} instead of `{text}`", came.trim())),
        (None, None) => Err(format!("the answer has no element {path} of {namespace}")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn shape(contains: Option<&str>) -> RequestShape {
        RequestShape { method: "POST".to_owned(), contains: contains.map(str::to_owned), ..RequestShape::default() }
    }

    fn judged(shape: &RequestShape, parts: &[&str]) -> Result<(), String> {
        let (known, checks, mut kept) = (LastRight::default(), Checks::default(), Vec::new());
        let mut search = Search::new(shape, &checks, &known, &mut kept);
        parts.iter().for_each(|part| search.part(part.as_bytes()));
        let first = search.judge(None, &mut BTreeMap::new());
        assert_eq!(search.judge(None, &mut BTreeMap::new()), first, "the same answer again is judged alike");
        first.map_err(|failure| failure.text)
    }

    #[test]
    fn a_text_is_found_across_parts() {
        let check = |parts: &[&str], expected: bool| {
            let shape = shape(Some("flight"));
            assert_eq!(judged(&shape, parts).is_ok(), expected, "{parts:?}");
        };
        check(&["a flight"], true);
        check(&["a fli", "ght"], true);
        check(&["a fli", "t"], false);
        check(&[], false);
    }

    #[test]
    fn an_answer_of_another_length_is_wrong() {
        let shape = RequestShape { answer_bytes: Some(4), ..shape(None) };
        assert_eq!(judged(&shape, &["ab", "cd"]), Ok(()));
        assert_eq!(judged(&shape, &["abc"]).unwrap_err(), "the answer has 3 bytes instead of 4");
    }

    #[test]
    fn every_length_is_held_against_the_first() {
        let (shape, known) = (shape(None), LastRight::default());
        let checks = Checks { length: Some(Arc::default()), ..Checks::default() };
        let check = |checks: &Checks, body: &str, expected: Result<(), &str>| {
            let mut kept = Vec::new();
            let mut search = Search::new(&shape, checks, &known, &mut kept);
            search.part(body.as_bytes());
            let judged = search.judge(None, &mut BTreeMap::new()).map_err(|failure| failure.text);
            assert_eq!(judged, expected.map_err(str::to_owned), "{body}");
        };
        check(&checks, "abcde", Ok(()));
        check(&checks.clone(), "edcba", Ok(()));
        check(&checks, "abcd", Err("the answer has 4 bytes, the first one had 5"));
    }

    #[test]
    fn an_answer_of_which_its_length_alone_is_known_is_not_checked() {
        let check = |contains: Option<&str>, kind: AnswerKind, body: &str, expected: Result<Verdict, &str>| {
            let shape = RequestShape { answer_bytes: Some(body.len() as u64), ..shape(contains) };
            let (known, checks) =
                (LastRight::default(), Checks { kind, length: Some(Arc::default()), ..Checks::default() });
            let mut kept = Vec::new();
            let mut search = Search::new(&shape, &checks, &known, &mut kept);
            search.part(body.as_bytes());
            let judged = search.judge(None, &mut BTreeMap::new()).map(|()| search.verdict());
            assert_eq!(judged.map_err(|failure| failure.class.to_string()), expected.map_err(str::to_owned), "{body}");
        };
        let down = "<html>We are down for maintenance</html>";
        check(None, AnswerKind::Plain, down, Ok(Verdict::Unknown));
        check(Some("down"), AnswerKind::Plain, down, Ok(Verdict::Right));
        check(None, AnswerKind::Soap, down, Err("content"));
        check(None, AnswerKind::Soap, "", Ok(Verdict::Unknown));
        let envelope = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body/></e:Envelope>";
        check(None, AnswerKind::Soap, envelope, Ok(Verdict::Right));
    }

    #[test]
    fn an_answer_that_is_too_long_is_looked_at_up_to_there() {
        let begin = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><a>Fault ";
        let shape = shape(None);
        let (known, checks) = (LastRight::default(), Checks { kind: AnswerKind::Soap, ..Checks::default() });
        for fill in ["x", "é"] {
            let mut kept = Vec::new();
            let mut search = Search::new(&shape, &checks, &known, &mut kept);
            let room = SEARCHED_BYTES_MAX - begin.len() - 10;
            let mut filled = fill.repeat(room / fill.len()).into_bytes();
            // Also in the middle of a character.
            filled.pop();
            [begin.as_bytes(), &filled, &[b'y'; 100], b"</b>"].iter().for_each(|part| search.part(part));
            assert_eq!(search.judge(None, &mut BTreeMap::new()), Ok(()), "{fill}");
        }
    }

    #[test]
    fn an_element_is_found_by_its_path_and_namespace_whatever_the_prefixes_are() {
        let path = ["e", "b", "s"].map(str::to_owned).to_vec();
        let element = Element { path, namespace: "urn:q".to_owned(), text: "IBM".to_owned() };
        let shape = RequestShape { element: Some(element), ..shape(None) };
        let check = |document: &str, expected: Result<(), &str>| {
            assert_eq!(judged(&shape, &[document]), expected.map_err(str::to_owned), "{document}");
        };
        check("<e><b><s xmlns='urn:q'>IBM</s></b></e>", Ok(()));
        check("<x:e xmlns:x='u' xmlns:q='urn:q'><x:a/><x:b><x:o>1</x:o><q:s> IBM </q:s></x:b></x:e>", Ok(()));
        check("<e><b><s xmlns='urn:q'>SUN</s></b></e>", Err("the answer has `SUN` in e/b/s instead of `IBM`"));
        let none = Err("the answer has no element e/b/s of urn:q");
        check("<e><b><s>IBM</s></b></e>", none);
        check("<e><s xmlns='urn:q'>IBM</s></e>", none);
        check("<e><o><b><s xmlns='urn:q'>IBM</s></b></o></e>", none);
        check("<e xmlns='urn:q'><b/><o><s>IBM</s></o></e>", none);
        check("", none);
        assert!(judged(&shape, &["<e><b></e>"]).unwrap_err().starts_with("the answer is no XML"));
    }
}
