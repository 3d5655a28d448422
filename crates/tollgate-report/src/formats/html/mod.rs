//! `report.html`: a page as one file that needs no network and no other file.
//!
//! Every picture has its table and its CSV beside it. All of it can be read without its script, which sorts and copies
//! tables and names the points of charts. Its content security policy lets only this script and this style pass, by
//! their hashes. It is written as well-formed XML, so that a test can parse it.

mod contents;
mod parts;

use super::RenderOptions;
use parts::{figure, list, table, unbroken};
use std::fmt::Write;
use tollgate_page::blocks::{Block, Card, Doubt, Facts, Light, Page, Trust};
use tollgate_page::chart::{escape, key_class};
use tollgate_page::text::stopped;
use tollgate_wire::csp;

const STYLE: &str = include_str!("style.css");
/// Commented out for the script, the XML marks allow `<` and `&` in it.
const SCRIPT: &str = concat!("//<![CDATA[\n", include_str!("script.js"), "//]]>");

/// The page.
pub(crate) fn text(page: &Page, _: &RenderOptions) -> String {
    let generator = match page.version.as_str() {
        "" => String::new(),
        version => format!("<meta name=\"generator\" content=\"tollgate {}\"/>\n", escape(version)),
    };
    let answer = &page.answer;
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n{generator}\
         <meta name=\"description\" content=\"{}\"/>\n<title>{}: {}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n",
        content_security_policy(),
        escape(&answer.text),
        escape(&page.name),
        escape(&page.question)
    );
    let _ = write!(
        html,
        "<header><p class=\"eyebrow\">tollgate <span>{}</span></p><h1>{}</h1><p class=\"answer\">{}</p>",
        escape(&page.name),
        escape(&page.question),
        unbroken(&answer.text)
    );
    if let Some(Trust { light, text }) = &answer.trust {
        let class = match light {
            Light::Trusted => "trusted",
            Light::Care => "care",
            Light::Not => "distrusted",
        };
        let _ = write!(html, "<p class=\"trust {class}\">{}</p>", unbroken(text));
    }
    for text in &answer.besides {
        let _ = write!(html, "<p class=\"prose\">{}</p>", unbroken(text));
    }
    for why in &page.warnings {
        let _ = write!(html, "<p class=\"banner\" role=\"note\">{}</p>", escape(&stopped(why)));
    }
    let _ = writeln!(html, "<p class=\"meta\">{}</p></header>", escape(&page.origin));
    let ids = contents::ids(&page.sections);
    html.push_str(&contents::list(&page.sections, &ids));
    for (section, id) in page.sections.iter().zip(&ids) {
        let _ = write!(html, "<section id=\"{id}\">");
        if !section.heading.is_empty() {
            let _ = write!(html, "<h2>{}</h2>", escape(&section.heading));
        }
        section.blocks.iter().for_each(|found| html.push_str(&block(found)));
        html.push_str("</section>\n");
    }
    let _ = write!(html, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n");
    html
}

/// Limits what a browser may load and run for the page.
fn content_security_policy() -> String {
    let [style, script] = [STYLE, SCRIPT].map(csp::source);
    format!("default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; form-action 'none'")
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => format!("<p class=\"prose\">{}</p>", unbroken(text)),
        Block::Legend(texts) => {
            texts.iter().map(|text| format!("<p class=\"key\">{}</p>", escape(&stopped(text)))).collect()
        }
        Block::List(texts) => list("failures", texts),
        Block::Table(found) => table(found),
        Block::Figure(found) => figure(found),
        Block::Figures(all) => format!("<div class=\"pair\">{}</div>", all.iter().map(figure).collect::<String>()),
        Block::Cards(cards) => format!("<div class=\"cards\">{}</div>", cards.iter().map(card).collect::<String>()),
        Block::Doubts(all) => {
            format!("<ol class=\"doubts\">{}</ol>", all.iter().zip(1..).map(doubt).collect::<String>())
        }
        Block::Facts(all) => format!("<div class=\"lists\">{}</div>", all.iter().map(facts).collect::<String>()),
        Block::Command(text) => format!("<pre><code>{}</code></pre>", escape(text)),
    }
}

fn card(card: &Card) -> String {
    let figure = match &card.figure {
        Some((figure, unit)) => format!("<p class=\"ratio\">{}<span>{}</span></p>", escape(figure), escape(unit)),
        None => "<p class=\"ratio none\">no figure</p>".to_owned(),
    };
    format!(
        "<article class=\"card {}\"><h3>{}</h3><p class=\"title\">{}</p>{figure}<p class=\"interval\">{}</p>\
         <p class=\"verdict\">{}</p><dl>{}</dl></article>",
        key_class(card.key),
        escape(&card.name),
        escape(&card.title),
        escape(&card.interval),
        escape(&card.verdict),
        pairs(&card.lines)
    )
}

fn doubt((doubt, number): (&Doubt, usize)) -> String {
    format!(
        "<li id=\"doubt-{number}\"><strong class=\"{}\">{}</strong>{}<p class=\"remedy\">What helps: {}</p></li>",
        if doubt.is_refusal { "bad" } else { "warn" },
        escape(&doubt.label()),
        list("found", &doubt.findings),
        escape(&doubt.remedy)
    )
}

fn facts(facts: &Facts) -> String {
    format!("<div><h3>{}</h3><dl>{}</dl></div>", escape(&facts.heading), pairs(&facts.entries))
}

fn pairs(entries: &[(String, String)]) -> String {
    let pair =
        |(name, text): &(String, String)| format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(text));
    entries.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_style_nor_script_ends_its_element_early() {
        assert!(!STYLE.contains(['<', '&']) && !SCRIPT.contains("</") && SCRIPT.matches("]]>").count() == 1);
    }
}
