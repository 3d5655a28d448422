//! A page as blocks: what is said of a result, built once and rendered by every format.
//!
//! A block says by its own nature what a renderer can do with it. A format that cannot show one leaves it out: a figure on a
//! terminal is its brief table or nothing, and what is folded away stands only where it can be unfolded. It deliberately
//! knows neither a measurement nor a format.

mod figure;
mod table;

pub use figure::{Figure, Picture};
pub use table::{Cell, Column, ColumnOf, Table, TableRow, Tone};

/// Everything that is said of a result.
#[derive(Debug, Default)]
pub struct Page {
    /// Short name of what was done.
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// The answer.
    pub answer: Answer,
    /// Why not everything that was planned is here.
    pub warnings: Vec<String>,
    /// Where, when and how much, in a line.
    pub origin: String,
    /// The version that wrote the result.
    pub version: String,
    /// Its parts in their order.
    pub sections: Vec<Section>,
}

/// The answer to the question.
#[derive(Debug, Default)]
pub struct Answer {
    /// For who reads nothing else.
    pub text: String,
    /// Whether it can be trusted; absent where nobody can tell.
    pub trust: Option<Trust>,
    /// What else is to be known before the figures, a sentence each.
    pub besides: Vec<String>,
}

/// How far an answer can be trusted.
#[derive(Debug)]
pub struct Trust {
    /// In one look.
    pub light: Light,
    /// In words: how exact it is, or what weighs most against it, and what helps.
    pub text: String,
}

/// A traffic light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Light {
    /// Nothing was found against it.
    Trusted,
    /// Something was found that may have changed it.
    Care,
    /// It must not be relied on.
    Not,
}

impl Answer {
    /// An answer that says all by itself.
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
    /// What they are about.
    pub heading: String,
    /// Whether a short form has it.
    pub depth: Depth,
    /// The blocks in their order.
    pub blocks: Vec<Block>,
}

/// Whether a section answers or explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// It stands in every form.
    Main,
    /// How it was found and what else was seen: a form to be read at a glance leaves it out.
    Background,
}

/// A part of a section.
#[derive(Debug)]
pub enum Block {
    /// Prose.
    Text(String),
    /// What signs and columns mean, a sentence without its full stop each.
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
    /// What the numbers behind names and figures stand for; the first is 1.
    Doubts(Vec<Doubt>),
    /// Lists of names and values: how it was found, which short forms leave out.
    Facts(Vec<Facts>),
    /// What can be typed to find it again, which they leave out, too.
    Command(String),
}

/// One thing and its most important figure.
#[derive(Debug, Default)]
pub struct Card {
    /// Index of its colour.
    pub key: usize,
    /// Its short name.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// The figure and its unit; absent where none may be claimed.
    pub figure: Option<(String, String)>,
    /// Where the figure lies.
    pub interval: String,
    /// What it is of.
    pub verdict: String,
    /// Further figures with their names.
    pub lines: Vec<(String, String)>,
    /// All of it as a sentence; absent where it says nothing beyond the tables.
    pub sentence: Option<String>,
}

/// What one rule found.
#[derive(Debug)]
pub struct Doubt {
    /// Whether what it names must not be read.
    pub is_refusal: bool,
    /// Name of the rule.
    pub rule: String,
    /// What was found, cell by cell.
    pub findings: Vec<String>,
    /// What helps.
    pub remedy: String,
}

impl Doubt {
    /// The rule and what follows, as a heading.
    pub fn label(&self) -> String {
        format!("{} {}", if self.is_refusal { "refused" } else { "marked" }, self.rule)
    }
}

/// Names and values under a heading.
#[derive(Debug)]
pub struct Facts {
    /// What they are about.
    pub heading: String,
    /// The names with their values.
    pub entries: Vec<(String, String)>,
}

impl Section {
    /// A section that stands in every form.
    pub fn main(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { heading: heading.into(), depth: Depth::Main, blocks }
    }

    /// A section that stands only where there is room to explain.
    pub fn background(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { heading: heading.into(), depth: Depth::Background, blocks }
    }

    /// Nothing instead of a section without blocks.
    pub fn some(self) -> Option<Self> {
        Some(self).filter(|section| !section.blocks.is_empty())
    }
}
