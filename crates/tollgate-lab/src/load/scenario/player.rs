//! One user of a scenario: its variables and cookies, how they go into requests, and what answers leave there.
//!
//! Values are written into buffers that the user keeps, so that a request costs no memory once they have grown. What it
//! deliberately does not do: decide when to ask.

use std::cell::RefCell;
use std::io::Write;
use std::ops::Range;
use std::time::SystemTime;

use tollgate_net::http1::client::{Collect, Discard, RequestTemplate, ResponseHead, Target};

use super::cookies::Cookies;
use super::find::find;
use super::program::{HeadPart, Program, Ready};
use crate::load::answer::content::contains;
use crate::load::answer::failure::{ErrorClass, Failure};
use crate::load::record::recorder::Recorder;
use crate::load::user::{Answer, Asking, User};
use crate::secret;
use crate::traffic::scenario::{Condition, Part, Text};

/// Bytes of an answer that are searched.
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Characters of a text that is shown in a failure.
const SHOWN_MAX: usize = 80;

/// A user's own.
#[derive(Default)]
pub(super) struct Player {
    /// Values of all variables.
    values: Vec<Vec<u8>>,
    cookies: Cookies,
    request: Vec<u8>,
    /// Escaped values of a request, one behind the other, and where each stands.
    escaped: Vec<u8>,
    spans: Vec<Range<usize>>,
    body: Collect,
    /// Values of the fields that the step looks at, in its order.
    fields: Vec<Option<Vec<u8>>>,
    found: Vec<u8>,
}

impl Player {
    /// A user at its beginning.
    pub(super) fn new(program: &Program) -> Player {
        let mut values = vec![Vec::new(); program.played.scenario.variables.len()];
        for (variable, value) in &program.played.constants {
            values[*variable] = value.clone().into_bytes();
        }
        Player { values, body: Collect::up_to(BODY_BYTES_MAX), ..Player::default() }
    }

    /// Gives a variable a number.
    pub(super) fn set_number(&mut self, variable: usize, number: u64) {
        let value = &mut self.values[variable];
        value.clear();
        write!(value, "{number}").expect("memory takes it");
    }

    /// Gives a variable a value.
    pub(super) fn set(&mut self, variable: usize, text: &[u8]) {
        self.values[variable].clear();
        self.values[variable].extend_from_slice(text);
    }

    /// Asks what a step says, judges the answer and takes out of it what later steps need. A failure says which step it is
    /// of, what was asked, and what was wanted.
    pub(super) async fn play(
        &mut self,
        ready: &Ready,
        user: &mut User,
        asking: &Asking,
        recorder: &RefCell<Recorder>,
    ) -> Result<Answer, Failure> {
        let played = self.try_to_play(ready, user, asking, recorder).await;
        played.map_err(|failure| {
            let asked = self.asked();
            let text = match failure.class {
                ErrorClass::Status(_) => format!("{asked} {}, {} was wanted", failure.text, ready.step.statuses),
                _ if asked.is_empty() => failure.text,
                _ => format!("{asked}: {}", failure.text),
            };
            Failure { text: format!("step `{}`: {text}", ready.step.name), ..failure }
        })
    }

    /// Method and target of the last request, without secrets; empty where it could not be written.
    fn asked(&self) -> String {
        let line = self.request.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let Some((method, target)) = line.strip_suffix(" HTTP/1.1").and_then(|line| line.split_once(' ')) else {
            return String::new();
        };
        // A secret is known by its place in a URL.
        let hidden = secret::hide(&format!("://{target}"));
        format!("{method} {}", cut(hidden.trim_start_matches("://")))
    }

    async fn try_to_play(
        &mut self,
        ready: &Ready,
        user: &mut User,
        asking: &Asking,
        recorder: &RefCell<Recorder>,
    ) -> Result<Answer, Failure> {
        self.render(ready, &asking.target.target)?;
        self.body.clear();
        let (cookies, fields) = (&mut self.cookies, &mut self.fields);
        let on_head = |head: &ResponseHead| {
            let value = |name: &String| head.header(name).map(|text| text.as_bytes().to_vec());
            fields.clear();
            fields.extend(ready.fields.iter().map(value));
            for (name, value) in head.headers() {
                if name.eq_ignore_ascii_case("set-cookie") {
                    cookies.keep(value, SystemTime::now());
                }
            }
        };
        let (request, manner) = (&self.request, ready.manner());
        let answer = match ready.reads_body {
            true => user.ask_as(asking, request, &mut self.body, recorder, manner, on_head).await?,
            false => user.ask_as(asking, request, &mut Discard, recorder, manner, on_head).await?,
        };
        if self.body.is_cut() {
            return Err(Failure::content(format!("more than {BODY_BYTES_MAX} bytes came, which are not searched")));
        }
        self.judge(ready)?;
        self.extract(ready)?;
        Ok(answer)
    }

    fn render(&mut self, ready: &Ready, target: &Target) -> Result<(), Failure> {
        self.request.clear();
        self.escaped.clear();
        self.spans.clear();
        // The folder's own place, if there is one.
        self.spans.extend(ready.folder.iter().map(|_| 0..0));
        for slot in &ready.slots {
            let span = self.escape(|values, out| slot.escape.write(&values[slot.variable], out));
            let text = &self.escaped[span];
            let (fits, place) = match slot.part {
                HeadPart::Target => (RequestTemplate::is_target_text(text), "path"),
                HeadPart::Field => (RequestTemplate::is_field_text(text), "header"),
            };
            if !fits {
                let text = format!("a value cannot stand in the {place}: {}", quoted(text));
                return Err(Failure::new(ErrorClass::Extraction, text));
            }
        }
        if let Some(folder) = &ready.folder {
            self.lead(folder, target, &ready.step.path)?;
        }
        let mut template = &ready.plain;
        if !self.cookies.text().is_empty() {
            template = &ready.with_cookies;
            let start = self.escaped.len();
            self.escaped.extend_from_slice(self.cookies.text());
            self.spans.push(start..self.escaped.len());
        }
        let head = self.spans.len();
        let parts = ready.step.body.as_ref().map_or(&[][..], |body| &body.0);
        for part in parts {
            if let Part::Value(variable, escape) = part {
                self.escape(|values, out| escape.write(&values[*variable], out));
            }
        }
        let escaped = &self.escaped;
        let (head, rest) = self.spans.split_at(head);
        let mut rest = rest.iter();
        let body = parts.iter().map(move |part| match part {
            Part::Fixed(text) => text.as_bytes(),
            Part::Value(..) => rest.next().map_or(&[][..], |span| &escaped[span.clone()]),
        });
        template.render_with(head.iter().map(|span| &escaped[span.clone()]), body, &mut self.request);
        Ok(())
    }

    /// Puts one more escaped value behind the others, and says where.
    fn escape(&mut self, write: impl FnOnce(&[Vec<u8>], &mut Vec<u8>)) -> Range<usize> {
        let start = self.escaped.len();
        write(&self.values, &mut self.escaped);
        self.spans.push(start..self.escaped.len());
        start..self.escaped.len()
    }

    /// What stands in front of a path that begins with a value: nothing where a slash does, else the folder. Of an address
    /// on the host that is asked the path is taken.
    fn lead(&mut self, folder: &str, target: &Target, path: &Text) -> Result<(), Failure> {
        let first = &mut self.spans[1];
        let value = &self.escaped[first.clone()];
        if is_address(value) {
            let Some(start) = path_of_address(value, target) else {
                let text = format!(
                    "{} leads to another host than the variant's url: take the path out of it by `regex`",
                    quoted(value)
                );
                return Err(Failure::new(ErrorClass::Extraction, text));
            };
            first.start += start;
        }
        let mut values = self.spans[1..].iter();
        let front = path.0.iter().find_map(|part| match part {
            Part::Fixed(text) => text.bytes().next(),
            Part::Value(..) => values.next().and_then(|span| self.escaped[span.clone()].first().copied()),
        });
        if front != Some(b'/') {
            let start = self.escaped.len();
            self.escaped.extend_from_slice(folder.as_bytes());
            self.spans[0] = start..self.escaped.len();
        }
        Ok(())
    }

    fn judge(&mut self, ready: &Ready) -> Result<(), Failure> {
        let failed = |text: String| Failure::new(ErrorClass::Assertion, text);
        for assertion in &ready.step.assertions {
            let source = &assertion.source;
            self.found.clear();
            if !find(source, &self.body.bytes, (&ready.fields, &self.fields), &mut self.found).map_err(failed)? {
                return Err(failed(format!("{source} is not there")));
            }
            for condition in &assertion.conditions {
                let found = &self.found;
                if let Condition::Equals(text) | Condition::Contains(text) = condition {
                    write_text(text, &self.values, &mut self.escaped);
                }
                let (holds, wanted) = match condition {
                    Condition::Equals(_) => (*found == self.escaped, "is not what it should equal"),
                    Condition::Contains(_) => (contains(found, &self.escaped), "does not contain what it should"),
                    Condition::Matches(pattern) => (pattern.is_match(found), "does not match"),
                    Condition::BytesMin(bytes) => (found.len() as u64 >= *bytes, "has less than"),
                    Condition::BytesMax(bytes) => (found.len() as u64 <= *bytes, "has more than"),
                };
                if !holds {
                    let what = match condition {
                        Condition::Equals(_) | Condition::Contains(_) => quoted(&self.escaped),
                        Condition::Matches(pattern) => format!("`{}`", pattern.as_str()),
                        Condition::BytesMin(bytes) | Condition::BytesMax(bytes) => format!("{bytes} bytes"),
                    };
                    return Err(failed(format!("{source} {wanted} {what}: {}", quoted(found))));
                }
            }
        }
        Ok(())
    }

    fn extract(&mut self, ready: &Ready) -> Result<(), Failure> {
        let failed = |text: String| Failure::new(ErrorClass::Extraction, text);
        for extract in &ready.step.extracts {
            let value = &mut self.values[extract.variable];
            value.clear();
            if !find(&extract.source, &self.body.bytes, (&ready.fields, &self.fields), value).map_err(failed)? {
                return Err(failed(format!("{} is not there", extract.source)));
            }
        }
        Ok(())
    }
}

fn is_address(value: &[u8]) -> bool {
    let begins = |scheme: &[u8]| value.get(..scheme.len()).is_some_and(|front| front.eq_ignore_ascii_case(scheme));
    begins(b"http://") || begins(b"https://")
}

/// Where in an address its path begins; absent where it is none on the target's host.
fn path_of_address(address: &[u8], target: &Target) -> Option<usize> {
    let text = std::str::from_utf8(address).ok()?;
    let named = Target::parse(text).ok()?;
    let is_own = named.scheme() == target.scheme()
        && named.port() == target.port()
        && named.host().eq_ignore_ascii_case(target.host());
    let authority = text.find("://")? + "://".len();
    is_own.then(|| text[authority..].find('/').map_or(text.len(), |path| authority + path))
}

fn write_text(text: &Text, values: &[Vec<u8>], out: &mut Vec<u8>) {
    out.clear();
    for part in &text.0 {
        match part {
            Part::Fixed(text) => out.extend_from_slice(text.as_bytes()),
            Part::Value(variable, escape) => escape.write(&values[*variable], out),
        }
    }
}

fn quoted(text: &[u8]) -> String {
    format!("{:?}", cut(&String::from_utf8_lossy(text)))
}

/// As much of a text as is shown.
fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(SHOWN_MAX).map_or(text.len(), |(end, _)| end);
    &text[..end]
}
