//! A figure: pictures, a sentence that explains them, and the numbers that they are drawn from.

use super::Table;
use crate::chart::lines::{self, Axis, Line, Lines};
use crate::chart::{Canvas, Size};

/// Pictures with their data.
#[derive(Debug, Default)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// A sentence that explains it.
    pub note: String,
    /// The pictures, one below the other.
    pub pictures: Vec<Picture>,
    /// The numbers behind them, one table or several; the first one is shown, too, the others are only downloads.
    pub data: Vec<Table>,
    /// A table in its place where pictures are impossible.
    pub brief: Option<Table>,
}

/// One picture as SVG.
#[derive(Debug)]
pub struct Picture {
    /// Its heading, in a figure of several pictures.
    pub heading: Option<String>,
    /// For wide screens.
    pub wide: String,
    /// For narrow ones; absent where one picture fits both.
    pub narrow: Option<String>,
}

impl Picture {
    /// A picture for wide screens of this size and one for narrow ones; `title` and `description` are for readers who
    /// cannot see it.
    pub fn drawn(id: &str, title: &str, description: &str, wide: Size, draw: impl Fn(Size) -> Canvas) -> Self {
        let svg = |screen: &str, size| draw(size).finish(&format!("{id}-{screen}"), title, description);
        Self { heading: None, wide: svg("wide", wide), narrow: Some(svg("narrow", Size::Narrow)) }
    }

    /// Lines over the seconds of a load; `label` names their values.
    pub fn over_seconds(id: &str, title: &str, label: &str, lines: Vec<Line>) -> Self {
        let chart = Lines::new(Axis::linear("seconds"), Axis::linear(label), lines);
        Self::drawn(id, title, "Over the seconds of the load.", Size::Full, |size| lines::draw(size, &chart))
    }
}

impl Figure {
    /// A figure without a picture.
    pub fn new(title: impl Into<String>, note: impl Into<String>) -> Self {
        Self { title: title.into(), note: note.into(), ..Self::default() }
    }

    /// Adds a picture with the figure's title, see [`Picture::drawn`].
    pub fn picture(mut self, id: &str, description: &str, wide: Size, draw: impl Fn(Size) -> Canvas) -> Self {
        self.pictures.push(Picture::drawn(id, &self.title, description, wide, draw));
        self
    }

    /// Adds the numbers behind it, which can be downloaded as `file`.
    pub fn data(mut self, table: Table, file: impl Into<String>) -> Self {
        let is_titled = !table.title.is_empty();
        let title = if is_titled { table.title.clone() } else { self.title.clone() };
        self.data.push(Table { title, file: Some(file.into()), ..table });
        self
    }
}
