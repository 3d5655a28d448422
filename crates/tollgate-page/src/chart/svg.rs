//! Writing SVG: shapes with classes, coordinates with one decimal, every text escaped.

use super::Size;
use super::palette::{Standing, key_class, outline};
use std::fmt::Write;

/// The anchor of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture in the making.
pub struct Canvas {
    width: f64,
    height: f64,
    body: String,
    /// The names of points' values, horizontal and vertical, where points show their values.
    labels: Option<(String, String)>,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::with_capacity(4096), labels: None }
    }

    /// Names the values of points, horizontal and vertical.
    pub(super) fn label_values(&mut self, x: &str, y: &str) {
        self.labels = Some((x.to_owned(), y.to_owned()));
    }

    /// One series, drawn by `draw`. A page can hide it, and show the values of its points: the horizontal and vertical
    /// texts of each, in drawing order. A narrow picture has none: the wide one before it has them, and a page is
    /// limited to half a megabyte.
    pub(super) fn series(
        &mut self,
        place: usize,
        name: &str,
        points: &[(String, String)],
        draw: impl FnOnce(&mut Self),
    ) {
        let plain = |text: &str| escape(text).replace(['|', ';'], ",");
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{};{}", plain(x), plain(y))).collect();
        match self.width <= Size::Narrow.width() {
            true => self.push(format_args!("<g data-series=\"{place}\">")),
            false => {
                let (name, points) = (escape(name), points.join("|"));
                self.push(format_args!("<g data-series=\"{place}\" data-name=\"{name}\" data-points=\"{points}\">"));
            }
        }
        draw(self);
        self.push(format_args!("</g>"));
    }

    /// The label of the series at this place.
    pub(super) fn label(&mut self, place: usize, draw: impl FnOnce(&mut Self)) {
        self.push(format_args!("<g data-label=\"{place}\">"));
        draw(self);
        self.push(format_args!("</g>"));
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(coordinate);
        self.push(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    /// A line through these points; one point is a dot (with round line ends).
    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        match points {
            [] => {}
            [_] => self.shape(class, points, "h0"),
            _ => self.shape(class, points, ""),
        }
    }

    /// A closed area.
    pub(super) fn area(&mut self, class: &str, outline: &[(f64, f64)]) {
        if outline.len() > 2 {
            self.shape(class, outline, "Z");
        }
    }

    fn shape(&mut self, class: &str, points: &[(f64, f64)], end: &str) {
        let commands = std::iter::once('M').chain(std::iter::repeat('L'));
        let place = |(command, (x, y)): (char, &(f64, f64))| format!("{command}{} {}", coordinate(*x), coordinate(*y));
        let data: String = commands.zip(points).map(place).collect();
        self.push(format_args!("<path class=\"{class}\" d=\"{data}{end}\"/>"));
    }

    pub(super) fn rectangle(&mut self, class: &str, corner: (f64, f64), size: (f64, f64)) {
        let [x, y, width, height] = [corner.0, corner.1, size.0.max(0.0), size.1.max(0.0)].map(coordinate);
        self.push(format_args!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"));
    }

    pub(super) fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let [x, y] = [at.0, at.1].map(coordinate);
        self.push(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{}</text>", escape(text)));
    }

    /// The marker of a key, whose shape distinguishes it without colour.
    pub(super) fn marker(&mut self, standing: Standing, key: usize, at: (f64, f64)) {
        let fill = if standing == Standing::Hollow { "hollow" } else { "dot" };
        let (class, [x, y]) = (key_class(key), [at.0, at.1].map(coordinate));
        match outline(key) {
            None => self.push(format_args!("<circle class=\"{fill} {class}\" cx=\"{x}\" cy=\"{y}\" r=\"3.6\"/>")),
            Some(data) => self
                .push(format_args!("<path class=\"{fill} {class}\" transform=\"translate({x} {y})\" d=\"{data}\"/>")),
        }
    }

    /// The whole picture: `id` is unique on the page, `title` and `description` are for readers who do not see it.
    pub fn finish(self, id: &str, title: &str, description: &str) -> String {
        let (width, height) = (coordinate(self.width), coordinate(self.height));
        let id = escape(id);
        let labels = self.labels.map_or_else(String::new, |(x, y)| {
            format!(" data-x-label=\"{}\" data-y-label=\"{}\"", escape(&x), escape(&y))
        });
        format!(
            "<svg class=\"chart\"{labels} viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\"><title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>\
             {}</svg>",
            escape(title),
            escape(description),
            self.body
        )
    }

    fn push(&mut self, shape: std::fmt::Arguments<'_>) {
        self.body.write_fmt(shape).expect("a String takes any text");
    }
}

/// Text safe in HTML and SVG, in content and in quoted attributes; characters that XML forbids are left out.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            // Marks that turn the direction of writing could make a name read as something else.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c => safe.push(c),
        }
    }
    safe
}

/// One decimal is a tenth of a pixel; a value that is not finite becomes 0 instead of breaking the picture.
fn coordinate(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}
