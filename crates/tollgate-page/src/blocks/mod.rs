//! A page as blocks: the description of a result, built once and rendered by every format.
//!
//! The type of a block says how it can be rendered. A format that cannot show one leaves it out: a figure on a terminal
//! is its brief table or nothing, and folded text appears only where it can be unfolded. This knows neither a
//! measurement nor a format.

mod figure;
mod table;

pub use figure::{Figure, Picture};
pub use table::{Cell, Column, ColumnOf, Table, TableRow, Tone};

/// The whole description of a result.
#[derive(Debug, Default)]
pub struct Page {
    /// Short name of the run or load.
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// The answer.
    pub answer: Answer,
    /// Reasons for missing parts of the plan.
    pub warnings: Vec<String>,
    /// Place, time and amount of the measurement, in a line.
    pub origin: String,
    /// The version that wrote the result.
    pub version: String,
    /// Its parts in their order.
    pub sections: Vec<Section>,
}

/// The answer to the question.
#[derive(Debug, Default)]
pub struct Answer {
    /// For readers of nothing else.
    pub text: String,
    /// Its trustworthiness; absent where it cannot be judged.
    pub trust: Option<Trust>,
    /// Further facts to know before the figures, a sentence each.
    pub besides: Vec<String>,
}

/// The trustworthiness of an answer.
#[derive(Debug)]
pub struct Trust {
    /// At a glance.
    pub light: Light,
    /// In words: its precision, or the strongest doubt and its remedy.
    pub text: String,
}

/// A traffic light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Light {
    /// Nothing speaks against it.
    Trusted,
    /// A finding may have changed it.
    Care,
    /// Not trustworthy.
    Not,
}

impl Answer {
    /// An answer without a judgement of trust.
    pub fn of(text: String) -> Answer {
        Answer { text, ..Answer::default() }
    }

    /// All of it, a sentence or two each.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        [&self.text].into_iter().chain(self.trust.iter().map(|trust| &trust.text)).chain(&self.besides)
    }
}

/// Blocks about one thing.
#[derive(Debug)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// Whether short formats include it.
    pub depth: Depth,
    /// The blocks in their order.
    pub blocks: Vec<Block>,
}

/// Whether a section answers or explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Included in every format.
    Main,
    /// Method and side observations: left out of short formats.
    Background,
}

/// A part of a section.
#[derive(Debug)]
pub enum Block {
    /// Prose.
    Text(String),
    /// Meanings of signs and columns, a sentence without its full stop each.
    Legend(Vec<String>),
    /// Sentences of one kind.
    List(Vec<String>),
    /// Rows and columns.
    Table(Table),
    /// Pictures with their data.
    Figure(Figure),
    /// Figures beside each other where there is room.
    Figures(Vec<Figure>),
    /// One for each variant.
    Cards(Vec<Card>),
    /// The doubts behind the numbers at names and figures; the first is 1.
    Doubts(Vec<Doubt>),
    /// Lists of names and values: the method, left out of short forms.
    Facts(Vec<Facts>),
    /// The command that repeats the measurement; left out there, too.
    Command(String),
}

/// One thing and its most important figure.
#[derive(Debug, Default)]
pub struct Card {
    /// Index of its colour.
    pub key: usize,
    /// Its short name.
    pub name: String,
    /// Its description, in a few words.
    pub title: String,
    /// The figure and its unit; absent without a valid claim.
    pub figure: Option<(String, String)>,
    /// The interval of the figure.
    pub interval: String,
    /// The quantity of the figure.
    pub verdict: String,
    /// Further figures with their names.
    pub lines: Vec<(String, String)>,
    /// All of it as a sentence; absent where it adds nothing to the tables.
    pub sentence: Option<String>,
}

/// The findings of one rule.
#[derive(Debug)]
pub struct Doubt {
    /// Whether the figures concerned are refused.
    pub is_refusal: bool,
    /// Name of the rule.
    pub rule: String,
    /// The findings, cell by cell.
    pub findings: Vec<String>,
    /// The remedy.
    pub remedy: String,
}

impl Doubt {
    /// The verdict and the rule, as a heading.
    pub fn label(&self) -> String {
        format!("{} {}", if self.is_refusal { "refused" } else { "marked" }, self.rule)
    }
}

/// Names and values under a heading.
#[derive(Debug)]
pub struct Facts {
    /// Their heading.
    pub heading: String,
    /// The names with their values.
    pub entries: Vec<(String, String)>,
}

impl Section {
    /// A section included in every format.
    pub fn main(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { heading: heading.into(), depth: Depth::Main, blocks }
    }

    /// A section included only where there is room to explain.
    pub fn background(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { heading: heading.into(), depth: Depth::Background, blocks }
    }

    /// Returns the section, or nothing if it has no blocks.
    pub fn some(self) -> Option<Self> {
        Some(self).filter(|section| !section.blocks.is_empty())
    }
}
