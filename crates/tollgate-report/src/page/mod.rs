//! A page as blocks: what is said of a result, built once and rendered by every format.
//!
//! A block says by its own nature what a renderer can do with it. A format that cannot show one leaves it out: a figure on a
//! terminal is its brief table or nothing, and what is folded away stands only where it can be unfolded. It deliberately
//! knows neither a measurement nor a format.

mod figure;
mod table;
mod text;

pub(crate) use figure::{Figure, Picture};
pub(crate) use table::{Cell, Column, Table, TableRow, Tone};
pub(crate) use text::{capitalized, one_line, stopped};

/// Everything that is said of a result.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Short name of what was done.
    pub(crate) name: String,
    /// The question that it answers.
    pub(crate) question: String,
    /// The answer, a sentence each.
    pub(crate) answer: Vec<String>,
    /// Why not everything that was planned is here.
    pub(crate) warnings: Vec<String>,
    /// Where, when and how much, in a line.
    pub(crate) origin: String,
    /// The version that wrote the result.
    pub(crate) version: String,
    /// Its parts in their order.
    pub(crate) sections: Vec<Section>,
}

/// Blocks about one thing.
#[derive(Debug)]
pub(crate) struct Section {
    /// What they are about.
    pub(crate) heading: String,
    /// Whether a short form has it.
    pub(crate) depth: Depth,
    /// The blocks in their order.
    pub(crate) blocks: Vec<Block>,
}

/// Whether a section answers or explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// It stands in every form.
    Main,
    /// How it was found and what else was seen: a form to be read at a glance leaves it out.
    Background,
}

/// A part of a section.
#[derive(Debug)]
pub(crate) enum Block {
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
    /// What the numbers behind names and figures stand for.
    Doubts(Vec<Doubt>),
    /// Lists of names and values.
    Facts(Vec<Facts>),
    /// What can be typed.
    Command(String),
}

/// One thing and its most important figure.
#[derive(Debug, Default)]
pub(crate) struct Card {
    /// Index of its colour.
    pub(crate) key: usize,
    /// Its short name.
    pub(crate) name: String,
    /// What it is, in a few words.
    pub(crate) title: String,
    /// The figure and its unit; absent where none may be claimed.
    pub(crate) figure: Option<(String, String)>,
    /// Where the figure lies.
    pub(crate) interval: String,
    /// What it is of.
    pub(crate) verdict: String,
    /// Further figures with their names.
    pub(crate) lines: Vec<(String, String)>,
    /// All of it as a sentence; absent where it says nothing beyond the tables.
    pub(crate) sentence: Option<String>,
}

/// What one rule found.
#[derive(Debug)]
pub(crate) struct Doubt {
    /// Its number, from 1, by which cells name it.
    pub(crate) number: usize,
    /// Whether what it names must not be read.
    pub(crate) is_refusal: bool,
    /// Name of the rule.
    pub(crate) rule: String,
    /// What was found, cell by cell.
    pub(crate) findings: Vec<String>,
    /// What helps.
    pub(crate) remedy: String,
}

impl Doubt {
    /// The rule and what follows, as a heading.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", if self.is_refusal { "refused" } else { "marked" }, self.rule)
    }
}

/// Names and values under a heading.
#[derive(Debug)]
pub(crate) struct Facts {
    /// What they are about.
    pub(crate) heading: String,
    /// The names with their values.
    pub(crate) entries: Vec<(String, String)>,
}

impl Section {
    /// A section that stands in every form.
    pub(crate) fn main(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { heading: heading.into(), depth: Depth::Main, blocks }
    }

    /// A section that stands only where there is room to explain.
    pub(crate) fn background(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { heading: heading.into(), depth: Depth::Background, blocks }
    }

    /// Nothing instead of a section without blocks.
    pub(crate) fn some(self) -> Option<Self> {
        Some(self).filter(|section| !section.blocks.is_empty())
    }
}
