//! The panels of the configuration, of endpoints and of routes: the places in use, their answers, and a button to reset
//! a suspended one. It is a plain form, so that it works without scripts.

use super::super::endpoints::RESET;
use super::form::FigureFormat;
use super::html::Html;
use super::panels::{Fact, facts};

const CONFIGURATION: &[Fact] = &[
    ("Generation", "generation", FigureFormat::Number),
    ("Read", "read", FigureFormat::Text),
    ("Refused since", "refused", FigureFormat::Text),
    ("Why", "error", FigureFormat::Text),
];

/// A column: its title, the figure in a row, and its format.
type Column = (&'static str, &'static str, FigureFormat);

const PLACES: &[Column] = &[
    ("Suspended for", "suspended_ms", FigureFormat::Milliseconds),
    ("In flight", "in_flight", FigureFormat::Count),
    ("Limit", "in_flight_max", FigureFormat::Count),
    ("2xx", "answered_2xx", FigureFormat::Count),
    ("3xx", "answered_3xx", FigureFormat::Count),
    ("4xx", "answered_4xx", FigureFormat::Count),
    ("5xx", "answered_5xx", FigureFormat::Count),
    ("Failed", "failed", FigureFormat::Count),
    ("Suspensions", "suspensions", FigureFormat::Count),
    ("Open", "connections_open", FigureFormat::Count),
    ("Idle", "connections_idle", FigureFormat::Count),
];

const ROUTES: &[Column] = &[
    ("2xx", "answered_2xx", FigureFormat::Count),
    ("3xx", "answered_3xx", FigureFormat::Count),
    ("4xx", "answered_4xx", FigureFormat::Count),
    ("5xx", "answered_5xx", FigureFormat::Count),
];

/// Writes the panels.
pub(super) fn render(html: &mut Html<'_>, token: &str) {
    html.raw("<section id=\"endpoints\" aria-labelledby=\"endpoints-title\"><h2 id=\"endpoints-title\">Endpoints</h2>");
    html.raw("<form method=\"post\" action=\"").raw(RESET);
    html.raw("\"><input type=\"hidden\" name=\"token\" value=\"").text(token).raw("\">");
    table_begins(html, "Places of endpoints", &["Endpoint", "URL", "State"], PLACES);
    html.raw("<th scope=\"col\">Action</th></tr></thead>");
    html.rows("tbody", "", "/endpoints", |html| {
        html.state("tr", "state").figure("th", "scope=\"row\"", "endpoint", FigureFormat::Text);
        html.figure("td", "class=\"request\" data-label=\"URL\"", "url", FigureFormat::Text);
        html.raw("<td class=\"state\" data-label=\"State\"><i></i>")
            .figure("span", "", "state", FigureFormat::Words)
            .raw("</td>");
        columns(html, PLACES);
        html.raw("<td data-label=\"Action\">").button("name=\"place\"", "key", "Reset").raw("</td></tr>");
    });
    html.raw("</table></div><p class=\"none\">No endpoints are configured.</p></form>");
    table_begins(html, "Routes", &["Route", "Host", "Methods", "Endpoint"], ROUTES);
    html.raw("</tr></thead>");
    html.rows("tbody", "", "/routes", |html| {
        html.raw("<tr>").figure("th", "scope=\"row\"", "path", FigureFormat::Text);
        for (label, at) in [("Host", "host"), ("Methods", "methods"), ("Endpoint", "endpoint")] {
            html.figure("td", &format!("data-label=\"{label}\""), at, FigureFormat::Text);
        }
        columns(html, ROUTES);
        html.raw("</tr>");
    });
    html.raw("</table></div><p class=\"none\">No routes are configured.</p>");
    html.raw("<h3>Configuration</h3>");
    facts(html, "facts", "/configuration/", CONFIGURATION);
    html.raw("</section>");
}

/// Writes the beginning of a table, up to the columns of its own.
fn table_begins(html: &mut Html<'_>, caption: &str, texts: &[&str], columns: &[Column]) {
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"").raw(caption);
    html.raw("\"><table class=\"entries\"><caption>").raw(caption).raw("</caption><thead><tr>");
    for text in texts {
        html.raw("<th scope=\"col\">").raw(text).raw("</th>");
    }
    for (title, ..) in columns {
        html.raw("<th scope=\"col\" class=\"n\">").raw(title).raw("</th>");
    }
}

fn columns(html: &mut Html<'_>, columns: &[Column]) {
    for (title, at, form) in columns {
        html.figure("td", &format!("class=\"n\" data-label=\"{title}\""), at, *form);
    }
}
