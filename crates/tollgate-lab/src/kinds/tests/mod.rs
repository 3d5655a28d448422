//! A page as its readers see it, for the tests of kinds.

mod files;
mod plans;

use tollgate_facts::results::RunResult;
use tollgate_report::{RenderOptions, render};

/// The text of a run in each format, without the marks of its layout: format and words.
pub(crate) fn shown_in_each(run: &RunResult) -> [(&'static str, String); 3] {
    ["terminal", "markdown", "html"].map(|name| {
        let options = RenderOptions { width: 400, ..Default::default() };
        let text = render(name, run, crate::kinds::page, &options);
        let text = match name {
            // Marks stand right behind what they mark.
            "html" => (1..100)
                .map(|number| format!("<a tabindex=\"-1\" href=\"#doubt-{number}\">"))
                .chain(["</a>", "<sup>", "</sup>"].map(str::to_owned))
                .fold(text, |text, tag| text.replace(&tag, ""))
                .split('<')
                .map(|part| part.split_once('>').map_or(part, |(_, text)| text))
                .collect::<Vec<_>>()
                .join(" "),
            _ => text.replace('\\', "").replace('|', " "),
        };
        (name, text.split_whitespace().collect::<Vec<_>>().join(" "))
    })
}
