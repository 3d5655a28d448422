//! The operator's page: one self-contained document, made of the status. Without scripts it stays as requested; with
//! them it reads `/status.json` each second and draws the last minutes.
//!
//! The panels are in `panels`. Style and script are separate files, allowed by their hashes in the content security
//! policy: no other script in the page runs.

mod cache;
mod endpoints;
mod form;
mod html;
mod panels;

use serde_json::Value;
use tollgate_wire::csp;

use self::html::Html;
use super::cached::Listing;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page's icon: a gate. It is part of the document, since the page loads nothing else.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%230067b0'/%3E%3Cpath d='M4 4v8M12 4v8M4 7h8' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E";

/// Content security policy of the page.
pub(super) fn content_security_policy() -> String {
    let (style, script) = (csp::source(STYLE), csp::source(SCRIPT));
    format!(
        "default-src 'none'; style-src '{style}'; script-src '{script}'; connect-src 'self'; img-src data:; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

/// Writes the page about `status`, whose forms contain `token` and which lists these answers of the cache.
pub(super) fn render(status: &Value, token: &str, listing: &Listing) -> String {
    let mut html = Html::new(status);
    html.raw("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>tollgate monitor</title>");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"");
    html.raw(ICON);
    html.raw("\"><style>");
    html.raw(STYLE);
    html.raw("</style></head><body>");
    panels::render(&mut html, token, listing);
    html.raw("<script>");
    html.raw(SCRIPT);
    html.raw("</script></body></html>\n");
    html.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_style_nor_script_ends_its_element_early() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</"));
    }
}
