//! The panel of the response cache: its contents and counters, the answers with most hits, and buttons to invalidate
//! them. They are plain forms, so that they work without scripts.

use super::super::cached::{INVALIDATE, Listing};
use super::form::FigureFormat;
use super::html::Html;
use super::panels::{Fact, facts};

const FIGURES: &[Fact] = &[
    ("Answers", "entries", FigureFormat::Count),
    ("Limit", "entries_max", FigureFormat::Count),
    ("Size", "bytes", FigureFormat::Bytes),
    ("Size limit", "bytes_max", FigureFormat::Bytes),
    ("Hits", "hits", FigureFormat::Count),
    ("Misses", "misses", FigureFormat::Count),
    ("Coalesced", "waits", FigureFormat::Count),
    ("Stored", "stored", FigureFormat::Count),
    ("Evicted", "evicted", FigureFormat::Count),
    ("Expired", "expired", FigureFormat::Count),
    ("Invalidated", "invalidated", FigureFormat::Count),
    ("Too large", "too_large", FigureFormat::Count),
    ("Revalidated", "validated", FigureFormat::Count),
];

/// Writes the panel.
pub(super) fn render(html: &mut Html<'_>, token: &str, listing: &Listing) {
    html.raw("<section id=\"cache\" aria-labelledby=\"cache-title\"><h2 id=\"cache-title\">Cache</h2>");
    facts(html, "facts", "/cache/", FIGURES);
    html.raw(
        "<div class=\"tools\"><form role=\"search\" action=\"/#cache\"><label for=\"find\">Keys that contain</label>",
    );
    html.raw("<input id=\"find\" type=\"search\" name=\"find\" value=\"");
    if let Listing::Holding(text) = listing {
        html.text(text);
    }
    html.raw("\"><button>Find</button></form>");
    form(html, token).raw("<label for=\"prefix\">Paths that begin with</label>");
    html.raw("<input id=\"prefix\" name=\"prefix\" required placeholder=\"/odata/v4/flights/\">");
    html.raw("<button>Invalidate</button></form>");
    form(html, token).raw("<button name=\"all\" value=\"yes\">Invalidate all</button></form></div>");
    form(html, token);
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Answers that are kept\">");
    html.raw(
        "<table class=\"entries\"><caption>Answers that are kept, those asked for most first</caption><thead><tr>",
    );
    html.raw("<th scope=\"col\">Key</th><th scope=\"col\" class=\"n\">Size</th><th scope=\"col\" class=\"n\">Age</th>");
    html.raw("<th scope=\"col\" class=\"n\">Lifetime</th><th scope=\"col\" class=\"n\">Hits</th>");
    html.raw("<th scope=\"col\">Action</th></tr></thead>");
    html.rows("tbody", "", "/cache/listed", |html| {
        html.raw("<tr>").figure("th", "scope=\"row\"", "key", FigureFormat::Text);
        html.figure("td", "class=\"n\" data-label=\"Size\"", "bytes", FigureFormat::Bytes);
        html.figure("td", "class=\"n\" data-label=\"Age\"", "age_seconds", FigureFormat::Seconds);
        html.figure("td", "class=\"n\" data-label=\"Lifetime\"", "lifetime_seconds", FigureFormat::Seconds);
        html.figure("td", "class=\"n\" data-label=\"Hits\"", "hits", FigureFormat::Count);
        html.raw("<td data-label=\"Action\">").button("name=\"one\"", "key", "Invalidate").raw("</td></tr>");
    });
    html.raw("</table></div><p class=\"none\">No answers are kept that were looked for.</p></form></section>");
}

/// Writes the beginning of a form for invalidating answers.
fn form<'h, 's>(html: &'h mut Html<'s>, token: &str) -> &'h mut Html<'s> {
    html.raw("<form method=\"post\" action=\"").raw(INVALIDATE);
    html.raw("\"><input type=\"hidden\" name=\"token\" value=\"").text(token).raw("\">")
}
