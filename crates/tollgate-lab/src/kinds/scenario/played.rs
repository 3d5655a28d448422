//! From the file's scenarios to [`Scenario`]s: every rule about their names, texts and expressions.
//!
//! It reads nothing but the text and the files that it names.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder};
use tollgate_net::http1::client::RequestTemplate;
use tollgate_xml::XPath;

use super::file::{AssertFile, CsrfName, FeedFile, PlayedFile, ScenarioFile, SourceFile, StatusFile, StepFile};
use crate::experiment::document::Document;
use crate::experiment::{At, Checker, ExperimentError, VariantFile};
use crate::load::answer::json;
use crate::traffic::feed::Feed;
use crate::traffic::feed::csv::Table;
use crate::traffic::feed::template::{self, Escape, Piece};
use crate::traffic::header::check_header;
use crate::traffic::scenario::{
    Assertion, BUILT_IN, CSRF_FIELD, CSRF_TOKEN, Condition, Extract, Fed, Part, Place, Played, Scenario, Source, Step,
    Text, Think, is_address,
};
use crate::traffic::statuses::Statuses;
use tollgate_facts::names::did_you_mean;

/// Most steps of a scenario: each has histograms of its own.
const STEPS_MAX: usize = 64;
/// Most variables of a scenario.
const VARIABLES_MAX: usize = 512;
/// Longest time to think in milliseconds: as long as a trial may be.
const THINK_MS_MAX: u32 = 60_000;
/// Largest size of a compiled regular expression, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Methods that write, and so send a token against forged requests along.
const WRITING: [&str; 5] = ["POST", "PUT", "PATCH", "MERGE", "DELETE"];

/// The scenario of each variant, in the order of the file.
pub(super) fn played(
    document: &Document<'_>,
    scenarios: &[ScenarioFile],
    variants: &[PlayedFile],
) -> Result<Vec<Played>, ExperimentError> {
    let players = variants.iter().zip(&document.ways).map(|(file, way)| {
        Ok(Player { variables: &file.variables, way, scenario: scenario_of(file, way, document, scenarios)? })
    });
    let players: Vec<Player<'_>> = players.collect::<Result<_, _>>()?;
    let checked = scenarios.iter().enumerate().map(|(position, file)| {
        let own: Vec<&Player<'_>> = players.iter().filter(|player| player.scenario == position).collect();
        document.checker.scenario(file, &own).map(Arc::new)
    });
    let checked: Vec<Arc<Scenario>> = checked.collect::<Result<_, _>>()?;
    let played = |player: &Player<'_>| {
        let scenario = Arc::clone(&checked[player.scenario]);
        let constants = player.variables.iter().filter_map(|(name, value)| {
            let variable = scenario.variables.iter().position(|known| known == name)?;
            Some((variable, value.as_ref().clone()))
        });
        let constants = constants.collect();
        Played { scenario, constants }
    };
    Ok(players.iter().map(played).collect())
}

/// A variant with its scenario.
struct Player<'a> {
    way: &'a VariantFile,
    variables: &'a BTreeMap<String, At<String>>,
    /// Position of its scenario.
    scenario: usize,
}

/// Position of a variant's scenario.
fn scenario_of(
    file: &PlayedFile,
    way: &VariantFile,
    document: &Document<'_>,
    scenarios: &[ScenarioFile],
) -> Result<usize, ExperimentError> {
    let checker = &document.checker;
    let names = || scenarios.iter().map(|scenario| scenario.name.as_ref().as_str());
    match (&file.scenario, scenarios.len()) {
        (_, 0) => Err(checker.fault(document.workload_span(), "there is no scenario", "add a `[[scenario]]`")),
        (None, 1) => Ok(0),
        (None, _) => {
            let first = names().next().unwrap_or_default();
            Err(checker.unsaid(way, "what it plays", &format!("add `scenario`, such as `scenario = \"{first}\"`")))
        }
        (Some(name), _) => names().position(|known| known == name.as_ref()).ok_or_else(|| {
            let message = format!("there is no scenario `{}`", name.as_ref());
            checker.fault(name.span(), &message, &did_you_mean(name.as_ref(), names()))
        }),
    }
}

impl Checker<'_> {
    fn scenario(&self, file: &ScenarioFile, players: &[&Player<'_>]) -> Result<Scenario, ExperimentError> {
        self.name(&file.name)?;
        if file.steps.is_empty() {
            let message = format!("scenario `{}` has no step", file.name.as_ref());
            return Err(self.fault(file.name.span(), &message, "add a `[[scenario.step]]`"));
        }
        let all = || file.setup.iter().chain(&file.steps).chain(&file.teardown);
        if let Some(beyond) = all().nth(STEPS_MAX) {
            return Err(self.fault(beyond.name.span(), "one step too many", &format!("at most {STEPS_MAX} may be")));
        }
        self.names("step", all().map(|step| &step.name))?;
        let mut variables: Vec<String> = BUILT_IN.map(str::to_owned).to_vec();
        let feeds = (0..).zip(&file.feeds).map(|(number, feed)| self.feed(feed, number, &mut variables));
        let feeds = feeds.collect::<Result<_, _>>()?;
        self.constants(file, players, &mut variables)?;
        let mut writer = StepWriter { checker: self, file, variables, has_token: false };
        let setup = file.setup.iter().map(|step| writer.step(step)).collect::<Result<_, _>>()?;
        let steps = file.steps.iter().map(|step| writer.step(step)).collect::<Result<_, _>>()?;
        let teardown = file.teardown.iter().map(|step| writer.step(step)).collect::<Result<_, _>>()?;
        let variables = writer.variables;
        if variables.len() > VARIABLES_MAX {
            let help = format!("at most {VARIABLES_MAX} may be");
            return Err(self.fault(file.name.span(), &format!("{} variables", variables.len()), &help));
        }
        Ok(Scenario { name: file.name.as_ref().clone(), variables, feeds, setup, steps, teardown })
    }

    /// The variables that variants set: each variant of a scenario sets all of them.
    fn constants(
        &self,
        file: &ScenarioFile,
        players: &[&Player<'_>],
        variables: &mut Vec<String>,
    ) -> Result<(), ExperimentError> {
        let Some(first) = players.first() else { return Ok(()) };
        for Player { way, variables: own, .. } in players {
            for (name, value) in *own {
                if let Some((message, help)) = refused(name, variables) {
                    return Err(self.fault(value.span(), &message, help));
                }
                if !first.variables.contains_key(name) {
                    let message = format!("`{name}` is not set by variant `{}`", first.way.name.as_ref());
                    let help = did_you_mean(name, first.variables.keys().map(String::as_str));
                    return Err(self.fault(value.span(), &message, &help));
                }
            }
            if let Some(missing) = first.variables.keys().find(|name| !own.contains_key(*name)) {
                let help = format!("all variants of scenario `{}` set the same variables", file.name.as_ref());
                let message = format!("variant `{}` does not set `{missing}`, as others do", way.name.as_ref());
                return Err(self.fault(way.name.span(), &message, &help));
            }
        }
        variables.extend(first.variables.keys().cloned());
        Ok(())
    }

    fn feed(&self, file: &FeedFile, seed: u64, variables: &mut Vec<String>) -> Result<Fed, ExperimentError> {
        let text = self.file(&file.file)?;
        let table = Table::parse(text.as_bytes()).map_err(|error| {
            let message = format!("`{}` is no table", file.file.as_ref());
            self.fault(file.file.span(), &message, &error)
        })?;
        let first = variables.len();
        for column in &table.columns {
            if let Some((message, help)) = refused(column, variables) {
                let help = if column.contains([';', '\t']) { "columns are separated by commas" } else { help };
                let message = format!("a column of `{}`: {message}", file.file.as_ref());
                return Err(self.fault(file.file.span(), &message, help));
            }
            variables.push(column.clone());
        }
        Ok(Fed { feed: Feed { table: Arc::new(table), order: file.order, end: file.end, seed }, first })
    }
}

/// Checks the steps, in the order in which users do them.
struct StepWriter<'c> {
    checker: &'c Checker<'c>,
    file: &'c ScenarioFile,
    /// Variables with a value so far.
    variables: Vec<String>,
    /// Whether an earlier step fetched a token against forged requests.
    has_token: bool,
}

impl StepWriter<'_> {
    fn step(&mut self, file: &StepFile) -> Result<Step, ExperimentError> {
        let body = self.body(file)?;
        let method = match &file.method {
            Some(method) if RequestTemplate::builder(method.as_ref(), "host").target_text("/").build().is_err() => {
                let message = format!("`{}` is not a method", method.as_ref());
                return Err(self.fault(method.span(), &message, "write it in capitals, such as `POST`"));
            }
            Some(method) => method.as_ref().clone(),
            None if body.is_some() => "POST".to_owned(),
            None => "GET".to_owned(),
        };
        let path = self.path(&file.path)?;
        let mut headers = Vec::with_capacity(file.headers.len() + 1);
        for (name, value) in &file.headers {
            if let Err(message) = check_header(name, value.as_ref()) {
                return Err(self.fault(value.span(), &message, "write it as `headers = { Name = \"value\" }`"));
            }
            headers.push((name.clone(), self.text(value.as_ref(), value.span(), Escape::Raw)?));
        }
        let is_set = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(CSRF_FIELD));
        if file.csrf == Some(CsrfName::Fetch) {
            headers.push((CSRF_FIELD.to_owned(), Text(vec![Part::Fixed("Fetch".to_owned())])));
        } else if self.has_token && !is_set && WRITING.contains(&method.as_str()) {
            let token = self.variables.iter().position(|known| known == CSRF_TOKEN);
            let token = token.expect("a token that was fetched has its variable");
            headers.push((CSRF_FIELD.to_owned(), Text(vec![Part::Value(token, Escape::Raw)])));
        }
        let statuses = match &file.status {
            None => Statuses::default(),
            Some(status) => {
                let parsed = match status.as_ref() {
                    StatusFile::One(status) => status.to_string().parse(),
                    StatusFile::Text(statuses) => statuses.parse(),
                };
                parsed.map_err(|message: String| self.fault(status.span(), &message, "such as `status = 201`"))?
            }
        };
        let think = file.think.as_ref().or(self.file.think.as_ref());
        let think = think.map(|think| self.think(think)).transpose()?;
        let assertions = file.assert.iter().map(|assertion| self.assertion(assertion)).collect::<Result<_, _>>()?;
        let mut extracts = Vec::with_capacity(file.extract.len() + 1);
        for (name, source) in &file.extract {
            // What has a value may be given another one.
            if let Some((message, help)) = refused(name, &[]) {
                return Err(self.fault(source.span(), &message, help));
            }
            let found = self.source(source.as_ref(), source.span())?;
            extracts.push(Extract { variable: self.variable(name), source: found });
        }
        if file.csrf == Some(CsrfName::Fetch) {
            let place = Place::Header(CSRF_FIELD.to_owned());
            extracts.push(Extract { variable: self.variable(CSRF_TOKEN), source: Source { place, pattern: None } });
            self.has_token = true;
        }
        Ok(Step {
            name: file.name.as_ref().clone(),
            method,
            path,
            headers,
            body,
            statuses,
            think,
            extracts,
            assertions,
        })
    }

    fn path(&self, file: &At<String>) -> Result<Text, ExperimentError> {
        let (written, span) = (file.as_ref(), file.span());
        if is_address(written.as_bytes()) {
            let help = "the host is that of the variant's `url`: write what stands behind it, with the slash in front";
            return Err(self.fault(span, &format!("`{written}` is a whole address, and no path"), help));
        }
        let path = self.text(written, span.clone(), Escape::Url)?;
        let is_text = |part: &Part| match part {
            Part::Fixed(text) => RequestTemplate::is_target_text(text.as_bytes()),
            Part::Value(..) => true,
        };
        if path.0.iter().all(is_text) {
            return Ok(path);
        }
        Err(self.fault(span, &format!("`{written}` is no path"), "write anything but visible ASCII as `%20`"))
    }

    /// The position of a variable, which has a value from here on.
    fn variable(&mut self, name: &str) -> usize {
        self.variables.iter().position(|known| known == name).unwrap_or_else(|| {
            self.variables.push(name.to_owned());
            self.variables.len() - 1
        })
    }

    fn body(&self, file: &StepFile) -> Result<Option<Text>, ExperimentError> {
        let read;
        let (text, span) = match (&file.body, &file.body_file) {
            (None, None) => return Ok(None),
            (Some(_), Some(name)) => {
                return Err(self.fault(name.span(), "`body` and `body_file` stand together", "leave one of them out"));
            }
            (Some(body), None) => (body.as_ref().as_str(), body.span()),
            (None, Some(name)) => {
                read = self.checker.file(name)?;
                (read.as_str(), name.span())
            }
        };
        let fields = file.headers.iter().map(|(name, value)| (name.as_str(), value.as_ref().as_str()));
        self.text(text, span, Escape::of_fields(fields)).map(Some)
    }

    /// Parses a text whose variables must all have values so far.
    fn text(&self, text: &str, span: Range<usize>, escape: Escape) -> Result<Text, ExperimentError> {
        let pieces = template::parse(text)
            .map_err(|error| self.fault(span.clone(), &error.message, "a variable stands as `{{name}}`"))?;
        let part = |piece: &Piece<'_>| match piece {
            Piece::Text(text) => Ok(Part::Fixed((*text).to_owned())),
            Piece::Value { column, escape: own, .. } => match self.variables.iter().position(|known| known == column) {
                Some(variable) => Ok(Part::Value(variable, own.unwrap_or(escape))),
                None => {
                    let help = did_you_mean(column, self.variables.iter().map(String::as_str));
                    Err(self.fault(span.clone(), &format!("`{{{{{column}}}}}` has no value here"), &help))
                }
            },
        };
        pieces.iter().map(part).collect::<Result<_, _>>().map(Text)
    }

    fn think(&self, think: &At<Think>) -> Result<Think, ExperimentError> {
        let ms = think.as_ref().ms;
        if ms > THINK_MS_MAX {
            let help = format!("it is from 0 to {THINK_MS_MAX}");
            return Err(self.fault(think.span(), &format!("a time to think of {ms} ms"), &help));
        }
        Ok(*think.as_ref())
    }

    fn source(&self, file: &SourceFile, span: Range<usize>) -> Result<Source, ExperimentError> {
        let place = match (&file.json, &file.xpath, &file.header) {
            (None, None, None) => Place::Body,
            (Some(pointer), None, None) => Place::Json(self.pointer(pointer, &span)?),
            (None, Some(expression), None) => {
                let prefixes = self.file.namespaces.iter().map(|(prefix, name)| (prefix.as_str(), name.as_str()));
                let prefixes: Vec<(&str, &str)> = prefixes.collect();
                let compiled = XPath::compile(expression, &prefixes).map_err(|error| {
                    let error = error.to_string();
                    let help = match error.contains("prefix `") {
                        true => "prefixes stand in the scenario's `namespaces`",
                        false => "it is XPath 1.0, such as `//order[1]/id`",
                    };
                    self.fault(span.clone(), &format!("`{expression}` is no XPath: {error}"), help)
                })?;
                Place::XPath(Arc::new(compiled))
            }
            (None, None, Some(name)) => {
                if let Err(message) = check_header(name, "") {
                    return Err(self.fault(span, &message, "name a field, such as `header = \"Location\"`"));
                }
                Place::Header(name.clone())
            }
            _ => {
                let help = "write one of `json`, `xpath` and `header`";
                return Err(self.fault(span, "a text stands at one place", help));
            }
        };
        let pattern = file.regex.as_ref().map(|pattern| self.pattern(pattern, &span)).transpose()?;
        Ok(Source { place, pattern })
    }

    /// The names and indices of a JSON pointer (RFC 6901, section 3 and 4).
    fn pointer(&self, pointer: &str, span: &Range<usize>) -> Result<Vec<String>, ExperimentError> {
        json::path(pointer).ok_or_else(|| {
            let message = format!("`{pointer}` is no JSON pointer");
            self.fault(span.clone(), &message, "it begins with a slash, such as `/value/0/id`")
        })
    }

    fn pattern(&self, pattern: &str, span: &Range<usize>) -> Result<Regex, ExperimentError> {
        let built = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build();
        built.map_err(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            self.fault(span.clone(), &format!("`{pattern}` is no regular expression"), why)
        })
    }

    fn assertion(&self, file: &At<AssertFile>) -> Result<Assertion, ExperimentError> {
        let span = file.span();
        let file = file.as_ref();
        let [json, xpath, header, regex] = [&file.json, &file.xpath, &file.header, &file.regex].map(Option::clone);
        let source = self.source(&SourceFile { json, xpath, header, regex }, span.clone())?;
        let mut conditions = Vec::new();
        if let Some(text) = &file.equals {
            conditions.push(Condition::Equals(self.text(text, span.clone(), Escape::Raw)?));
        }
        if let Some(text) = &file.contains {
            conditions.push(Condition::Contains(self.text(text, span.clone(), Escape::Raw)?));
        }
        if let Some(pattern) = &file.matches {
            conditions.push(Condition::Matches(self.pattern(pattern, &span)?));
        }
        conditions.extend(file.bytes_min.map(Condition::BytesMin));
        conditions.extend(file.bytes_max.map(Condition::BytesMax));
        if matches!(source, Source { place: Place::Body, pattern: None }) && conditions.is_empty() {
            let help = "add `json`, `xpath`, `header`, `regex`, `contains`, `bytes_min` …";
            return Err(self.fault(span, "it says nothing of the answer", help));
        }
        Ok(Assertion { source, conditions })
    }

    fn fault(&self, span: Range<usize>, message: &str, help: &str) -> ExperimentError {
        self.checker.fault(span, message, help)
    }
}

/// The reason that a name cannot be a variable's beside these, with a remedy.
fn refused(name: &str, known: &[String]) -> Option<(String, &'static str)> {
    if BUILT_IN.contains(&name) {
        return Some((format!("`{name}` is a variable of tollgate's own"), "take another name"));
    }
    if !is_variable(name) {
        return Some((format!("`{name}` is no name for a variable"), "use letters, digits, `-` and `_`"));
    }
    let is_known = known.iter().any(|known| known == name);
    is_known.then(|| (format!("there is a variable `{name}` already"), "take another name"))
}

fn is_variable(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.len() <= 64 && name.bytes().all(plain)
}
