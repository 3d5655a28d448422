//! The list of contents: the sections of a page, and the ids by which a link names them.

use tollgate_page::blocks::{Block, Section};
use tollgate_page::chart::escape;
use tollgate_page::text::slug;

/// A page with fewer sections needs no list of contents.
const SECTIONS_MIN: usize = 3;

/// An id for each section, made from its title's words: a link works as long as the title stays.
pub(super) fn ids(sections: &[Section]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::with_capacity(sections.len());
    for section in sections {
        let words = slug(title(section));
        let words = if words.is_empty() { "section".to_owned() } else { words };
        let later = (2..).map(|number| format!("{words}-{number}"));
        let id = std::iter::once(words.clone()).chain(later).find(|id| !ids.contains(id));
        ids.push(id.expect("there are more numbers than sections"));
    }
    ids
}

/// Links to the sections; empty if there are few.
pub(super) fn list(sections: &[Section], ids: &[String]) -> String {
    if sections.len() < SECTIONS_MIN {
        return String::new();
    }
    let named = sections.iter().zip(ids).filter(|(section, _)| !title(section).is_empty());
    let items: String =
        named.map(|(section, id)| format!("<li><a href=\"#{id}\">{}</a></li>", escape(title(section)))).collect();
    format!("<nav class=\"contents\" aria-label=\"Contents\"><ol>{items}</ol></nav>\n")
}

/// The heading, or that of the first figure where a section has none of its own.
fn title(section: &Section) -> &str {
    let first = section.blocks.iter().find_map(|block| match block {
        Block::Figure(figure) => Some(figure.title.as_str()),
        Block::Figures(figures) => figures.first().map(|figure| figure.title.as_str()),
        _ => None,
    });
    if section.heading.is_empty() { first.unwrap_or_default() } else { &section.heading }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_one_title_have_ids_of_their_own() {
        let section = |heading: &str| Section::main(heading, Vec::new());
        let sections = ["Response times", "Response times", "é", "<b>"].map(section);
        let ids = ids(&sections);
        assert_eq!(ids, ["response-times", "response-times-2", "section", "b"]);
        let list = list(&sections, &ids);
        assert!(
            list.contains("<a href=\"#response-times-2\">Response times</a>") && list.contains("&lt;b&gt;"),
            "{list}"
        );
        assert_eq!(super::list(&sections[..2], &ids[..2]), "");
    }
}
