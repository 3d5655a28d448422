//! Messages between two sides as arrows from top to bottom, each with its name, its bytes, and its time.
//!
//! Rows are equally far apart whatever the time between them, which is shown beside them: most messages follow each
//! other in a fraction of the total time.

use super::axis::{CHARACTER_WIDTH, TEXT_HEIGHT};
use super::svg::{Anchor, Canvas};
use crate::text::broken;

/// One message.
pub struct Arrow {
    /// The sender.
    pub from: Side,
    /// Its name, with its bytes.
    pub text: String,
    /// The time of sending or arrival.
    pub time: String,
}

/// The sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one on the left.
    Left,
    /// The one on the right.
    Right,
}

/// Width of the picture: three fit beside each other on a page, one on a telephone.
const WIDTH: f64 = 340.0;
/// Places of the sides; the times are left of the left one.
const SIDES: (f64, f64) = (66.0, 334.0);
const HEAD_HEIGHT: f64 = 34.0;
/// Height between the text of a row and that of the next, without its lines.
const ROW_HEIGHT: f64 = 16.0;

/// Draws it; `sides` names the left and the right one.
pub fn draw(sides: (&str, &str), arrows: &[Arrow]) -> Canvas {
    let fits = ((SIDES.1 - SIDES.0 - 16.0) / CHARACTER_WIDTH) as usize;
    let lines: Vec<Vec<String>> = arrows.iter().map(|arrow| broken(&arrow.text, fits, "", "")).collect();
    let height = |lines: &Vec<String>| lines.len() as f64 * TEXT_HEIGHT + ROW_HEIGHT;
    let bottom = HEAD_HEIGHT + lines.iter().map(height).sum::<f64>() + 10.0;
    let mut canvas = Canvas::new(WIDTH, bottom);
    canvas.text("panel", Anchor::Start, (SIDES.0 - 18.0, 14.0), sides.0);
    canvas.text("panel", Anchor::End, (SIDES.1 + 4.0, 14.0), sides.1);
    for side in [SIDES.0, SIDES.1] {
        canvas.line("side", (side, HEAD_HEIGHT - 12.0), (side, bottom));
    }
    let mut y = HEAD_HEIGHT;
    for (arrow, lines) in arrows.iter().zip(&lines) {
        for (index, line) in lines.iter().enumerate() {
            let at = ((SIDES.0 + SIDES.1) / 2.0, y + index as f64 * TEXT_HEIGHT);
            canvas.text("label", Anchor::Middle, at, line);
        }
        y += height(lines);
        let at = y - ROW_HEIGHT - TEXT_HEIGHT + 6.0;
        let (from, to, back, class) = match arrow.from {
            Side::Left => (SIDES.0, SIDES.1, -7.0, "k1"),
            Side::Right => (SIDES.1, SIDES.0, 7.0, "k2"),
        };
        canvas.line(&format!("message {class}"), (from, at), (to + back, at));
        canvas.area(&format!("head {class}"), &[(to, at), (to + back, at - 3.5), (to + back, at + 3.5)]);
        canvas.text("tick", Anchor::End, (SIDES.0 - 8.0, at + 4.0), &arrow.time);
    }
    canvas
}
