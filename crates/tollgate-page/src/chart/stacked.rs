//! Stacked bars: the parts of a whole, a bar for each row, all on one scale from zero; the parts are distinguished by
//! colour and named once above them.

use super::axis::{self, Plot, fitted, value_width};
use super::scale::{Scale, Spacing};
use super::svg::{Anchor, Canvas};
use super::{Size, key_class};

/// One bar.
pub struct Stack {
    /// Its name.
    pub name: String,
    /// One value for each part, none below zero.
    pub values: Vec<f64>,
    /// The whole as it is printed.
    pub text: String,
}

const BAR_HEIGHT: f64 = 14.0;
const KEY_HEIGHT: f64 = 20.0;
const TICKS: usize = 5;
/// Width of names that are beside the bars.
const NAMES_WIDTH: f64 = 190.0;

/// Draws it: names beside the bars, or above them where it is narrow.
pub fn draw(size: Size, label: &str, parts: &[&str], stacks: &[Stack]) -> Canvas {
    let (width, is_narrow) = (size.width(), size == Size::Narrow);
    let row_height = if is_narrow { 38.0 } else { 26.0 };
    let top = KEY_HEIGHT + 10.0;
    let text_room = stacks.iter().map(|stack| value_width(&stack.text)).fold(40.0, f64::max) + 12.0;
    let (left, right) = match is_narrow {
        true => (4.0, width - 8.0),
        false => (NAMES_WIDTH, width - text_room),
    };
    let plot = Plot { left, top, right, bottom: top + row_height * stacks.len().max(1) as f64 };
    let mut canvas = Canvas::new(width, plot.bottom + 42.0);
    axis::key(&mut canvas, "part", parts);
    let whole = |stack: &Stack| stack.values.iter().map(|value| value.max(0.0)).sum::<f64>();
    let ends = stacks.iter().map(whole).chain([0.0]);
    let x = Scale::over(Spacing::Linear, ends, plot.left, plot.right).rounded(TICKS);
    axis::ruled(&mut canvas, plot, &x, &axis::labelled(x.ticks(TICKS)), label);
    for (index, stack) in stacks.iter().enumerate() {
        let row_top = plot.top + index as f64 * row_height;
        let y = if is_narrow { row_top + 18.0 } else { row_top + (row_height - BAR_HEIGHT) / 2.0 };
        match is_narrow {
            true => {
                let room = width - value_width(&stack.text) - 12.0;
                canvas.text("label", Anchor::Start, (2.0, row_top + 13.0), &fitted(&stack.name, room));
                canvas.text("value", Anchor::End, (width - 2.0, row_top + 13.0), &stack.text);
            }
            false => {
                canvas.text("label", Anchor::Start, (0.0, y + 11.0), &fitted(&stack.name, NAMES_WIDTH - 8.0));
                canvas.text("value", Anchor::Start, (x.at(whole(stack)) + 6.0, y + 11.0), &stack.text);
            }
        }
        let mut from = 0.0;
        for (key, value) in stack.values.iter().enumerate() {
            let to = from + value.max(0.0);
            let (start, end) = (x.at(from), x.at(to));
            canvas.rectangle(&format!("part {}", key_class(key)), (start, y), (end - start, BAR_HEIGHT));
            from = to;
        }
    }
    if stacks.is_empty() {
        axis::nothing(&mut canvas, plot);
    }
    canvas
}
