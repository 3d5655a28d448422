//! From text to a threshold: a grammar of one line, with the place of everything that does not fit it.
//!
//! ```text
//! threshold  = asked comparison number [unit]
//! asked      = quantity [cells] | ("toll" | "ratio" | "toll-ratio") [cells] "." figure
//! cells      = "(" (variant | level | "*") ["," level] ")"
//! comparison = "<" | "<=" | ">" | ">=" | "==" | "!="
//! ```
//! It deliberately knows no experiment: whether a variant is there is for `Threshold::check` to say.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::fmt;
use std::ops::Range;

use super::{Asked, Comparison, Selection, Threshold};
use crate::names::did_you_mean;
use crate::quantity::{ERRORS, QUANTITIES};
use crate::results::Figure;

/// Longest text of a threshold.
pub const TEXT_BYTES_MAX: usize = 200;

/// An error in the text of a threshold, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThresholdError {
    /// The whole text.
    pub text: String,
    /// The offending bytes of it.
    pub at: Range<usize>,
    /// The expected and the found text.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| text.chars().map(|c| if c.is_control() { '�' } else { c }).collect::<String>();
        let (before, at) = (self.text.get(..self.at.start), self.text.get(self.at.clone()));
        let column = before.map_or(0, |before| before.chars().count());
        let marks = "^".repeat(at.map_or(1, |at| at.chars().count()).max(1));
        write!(formatter, "{}\n  {}\n  {}{marks}", self.message, shown(&self.text), " ".repeat(column))?;
        self.help.iter().try_for_each(|help| write!(formatter, "\n  help: {help}"))
    }
}

impl std::error::Error for ThresholdError {}

type RatioOf = fn(Figure) -> Asked;

/// The words before the dot of a ratio.
const HEADS: [(&str, RatioOf); 3] = [("toll", Asked::Toll), ("ratio", Asked::Ratio), ("toll-ratio", Asked::TollRatio)];

/// Longest first, so that `<=` is not taken for `<`.
const COMPARISONS: [Comparison; 6] = [
    Comparison { sign: "<=", right: &[Less, Equal] },
    Comparison { sign: ">=", right: &[Greater, Equal] },
    Comparison { sign: "==", right: &[Equal] },
    Comparison { sign: "!=", right: &[Less, Greater] },
    Comparison { sign: "<", right: &[Less] },
    Comparison { sign: ">", right: &[Greater] },
];

/// Units of times, each in nanoseconds.
const TIMES: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
/// Units of amounts, each in bytes.
const AMOUNTS: [(&str, f64); 7] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

pub(super) fn threshold(text: &str) -> Result<Threshold, ThresholdError> {
    let mut reader = Reader { text, at: 0 };
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("a threshold has at most {TEXT_BYTES_MAX} bytes, this one {}", text.len());
        let cut = (0..=TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        return Err(ThresholdError { text: text[..cut].to_owned(), at: 0..cut, message, help: None });
    }
    let (asked, selection) = reader.asked()?;
    let comparison_at = reader.here();
    let comparison = reader.comparison()?;
    if ["==", "!="].contains(&comparison.sign) && asked != Asked::Of(ERRORS) {
        let at = comparison_at..comparison_at + 2;
        let help = "a measured figure has an interval: use `<`, `<=`, `>` or `>=`";
        return Err(reader.fault(at, "only `errors` is equal to a number", help));
    }
    let bound = reader.number()?;
    let bound = bound * reader.unit(asked)?;
    reader.skip_space();
    if reader.at < text.len() {
        let message = format!("expected the end, got `{}`", reader.rest());
        return Err(reader.fault(reader.at..text.len(), &message, "one threshold at a time: repeat the flag"));
    }
    Ok(Threshold { text: text.to_owned(), why: None, asked, selection, comparison, bound })
}

/// The help if cells are selected in another way.
const BOTH: &str = "a variant, a level, or both: `(https, 20)`";

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn asked(&mut self) -> Result<(Asked, Selection), ThresholdError> {
        let (name, at) = self.word();
        if let Some(quantity) = QUANTITIES.iter().find(|quantity| quantity.name == name) {
            return Ok((Asked::Of(*quantity), self.selection()?));
        }
        let Some(ratio_of) = named(&HEADS, name) else {
            let help = did_you_mean(name, QUANTITIES.iter().map(|quantity| quantity.name).chain(names(&HEADS)));
            return Err(match name {
                "" => self.expected("a figure", &help),
                _ => self.fault(at, &format!("there is no figure `{name}`"), &help),
            });
        };
        let selection = self.selection()?;
        if !self.take(".") {
            return Err(self.expected("`.` and a figure", &format!("such as `{name}(variant).cpu < 1.3`")));
        }
        let (figure, at) = self.word();
        let known: Vec<_> = QUANTITIES.iter().filter_map(|quantity| Some((quantity.name, quantity.figure?))).collect();
        let found = named(&known, figure).ok_or_else(|| {
            self.fault(at, &format!("there is no {name} of `{figure}`"), &did_you_mean(figure, names(&known)))
        })?;
        Ok((ratio_of(found), selection))
    }

    /// `(variant, level)`, each of them by itself, or nothing.
    fn selection(&mut self) -> Result<Selection, ThresholdError> {
        let mut selection = Selection::default();
        if !self.take("(") {
            return Ok(selection);
        }
        let opened_at = self.at - 1;
        for is_first in [true, false] {
            let (item, at) = self.item();
            if item.is_empty() {
                return Err(self.expected("a variant or a level", BOTH));
            } else if item.bytes().all(|byte| byte.is_ascii_digit()) {
                let fault = || self.fault(at.clone(), &format!("`{item}` is no level"), "a level is a whole number");
                selection.level = Some(item.parse().map_err(|_| fault())?);
                selection.level_at = at;
            } else if !is_first {
                let help = "a variant stands first, a level behind it: `(https, 20)`";
                return Err(self.fault(at, &format!("expected a level, got `{item}`"), help));
            } else if item != "*" {
                selection.variant = Some(item.to_owned());
                selection.variant_at = at;
            }
            if self.take(")") {
                return Ok(selection);
            }
            if selection.level.is_some() || !self.take(",") {
                return Err(match self.rest().is_empty() {
                    true => self.fault(opened_at..opened_at + 1, "a parenthesis is not closed", BOTH),
                    false => self.expected("`)`", BOTH),
                });
            }
        }
        Ok(selection)
    }

    fn comparison(&mut self) -> Result<Comparison, ThresholdError> {
        if let Some(comparison) = COMPARISONS.into_iter().find(|comparison| self.take(comparison.sign)) {
            return Ok(comparison);
        }
        let help = if self.rest().starts_with('=') { "did you mean `==`?" } else { "such as `p99 < 5 ms`" };
        Err(self.expected("one of <, <=, >, >=, == and !=", help))
    }

    fn number(&mut self) -> Result<f64, ThresholdError> {
        let (digits, at) = self.taken(|c| c.is_ascii_digit() || c == '.');
        digits.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
            let help = "digits, and a point before decimals: `0.5`";
            match digits {
                "" => self.expected("a number", help),
                _ => self.fault(at, &format!("`{digits}` is no number"), help),
            }
        })
    }

    /// The factor that brings the number into the figure's unit.
    fn unit(&mut self, asked: Asked) -> Result<f64, ThresholdError> {
        let (unit, at) = self.taken(|c| !c.is_whitespace());
        let (units, base): (&[(&str, f64)], f64) = match asked.unit() {
            "us" => (&TIMES, 1e3),
            "ms" => (&TIMES, 1e6),
            "bytes" => (&AMOUNTS, 1.0),
            "%" => (&[("%", 1.0)], 1.0),
            _ => (&[], 1.0),
        };
        if units.is_empty() {
            return match unit {
                "" => Ok(1.0),
                _ => Err(self.fault(at, &format!("expected no unit, got `{unit}`"), "it is a number by itself")),
            };
        }
        let size = named(units, unit).ok_or_else(|| {
            let message = match unit {
                "" => "a unit is missing".to_owned(),
                _ => format!("`{unit}` is no unit of this figure"),
            };
            let known: Vec<&str> = names(units).collect();
            self.fault(at, &message, &format!("one of {}", known.join(", ")))
        })?;
        Ok(size / base)
    }

    /// Letters, digits and hyphens.
    fn word(&mut self) -> (&'t str, Range<usize>) {
        self.taken(|c| c.is_alphanumeric() || c == '-' || c == '_')
    }

    /// The text up to a comma, a parenthesis, a comparison or white space.
    fn item(&mut self) -> (&'t str, Range<usize>) {
        self.taken(|c| !",()<>=!".contains(c) && !c.is_whitespace())
    }

    /// Takes the next characters of this kind, behind white space, with their place; that of the next character if
    /// there are none.
    fn taken(&mut self, is_part: impl Fn(char) -> bool) -> (&'t str, Range<usize>) {
        self.skip_space();
        let rest = self.rest();
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let at = if length == 0 { self.next() } else { self.at..self.at + length };
        self.at += length;
        (&rest[..length], at)
    }

    /// Whether `sign` comes next, behind white space; then it is passed over.
    fn take(&mut self, sign: &str) -> bool {
        self.skip_space();
        let is_there = self.rest().starts_with(sign);
        self.at += if is_there { sign.len() } else { 0 };
        is_there
    }

    fn skip_space(&mut self) {
        self.at = self.here();
    }

    /// The place of the next character that is no white space.
    fn here(&self) -> usize {
        self.text.len() - self.rest().trim_start().len()
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The next character; behind the end an empty place.
    fn next(&self) -> Range<usize> {
        self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8)
    }

    /// The next character, in words.
    fn got(&self) -> String {
        self.rest().chars().next().map_or_else(|| "the end".to_owned(), |next| format!("`{next}`"))
    }

    /// The error that something else comes next.
    fn expected(&self, what: &str, help: &str) -> ThresholdError {
        self.fault(self.next(), &format!("expected {what}, got {}", self.got()), help)
    }

    fn fault(&self, at: Range<usize>, message: &str, help: &str) -> ThresholdError {
        // A place behind the end is the end.
        let end = self.text.len();
        let at = at.start.min(end)..at.end.min(end);
        ThresholdError { text: self.text.to_owned(), at, message: message.to_owned(), help: Some(help.to_owned()) }
    }
}

/// The entry of a list with this name.
fn named<T: Copy>(list: &[(&str, T)], name: &str) -> Option<T> {
    list.iter().find(|(known, _)| *known == name).map(|(_, of)| *of)
}

fn names<'l, T>(list: &'l [(&'l str, T)]) -> impl Iterator<Item = &'l str> {
    list.iter().map(|(name, _)| *name)
}
