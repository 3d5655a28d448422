//! Panels of the page: the process, the charts (drawn by the script), work processes, connections, limits.

use super::super::cached::Listing;
use super::form::FigureFormat;
use super::html::Html;
use super::{cache, endpoints};

/// A figure with its name.
pub(super) type Fact = (&'static str, &'static str, FigureFormat);

const SERVER: &[Fact] = &[
    ("Up", "/server/uptime_seconds", FigureFormat::Seconds),
    ("Requests", "/requests/received", FigureFormat::Count),
    ("Answered 5xx", "/requests/answered/5xx", FigureFormat::Count),
    ("CPU time", "/server/cpu_seconds", FigureFormat::Seconds),
    ("Memory", "/server/resident_bytes", FigureFormat::Bytes),
    ("Threads", "/server/threads", FigureFormat::Count),
    ("Open files", "/server/open_files", FigureFormat::Count),
    ("Process", "/server/process", FigureFormat::Number),
    ("Version", "/server/version", FigureFormat::Text),
];

const POOL: &[Fact] = &[
    ("Busy", "busy", FigureFormat::Count),
    ("Peak", "busy_peak", FigureFormat::Count),
    ("Limit", "limit", FigureFormat::Count),
    ("Waiting", "waiting", FigureFormat::Count),
    ("Waiting peak", "waiting_peak", FigureFormat::Count),
    ("Waiting limit", "waiting_max", FigureFormat::Count),
    ("Served", "admitted", FigureFormat::Count),
    ("After a wait", "queued", FigureFormat::Count),
    ("Waited", "waited_seconds", FigureFormat::Seconds),
    ("Refused: queue full", "refused/queue_full", FigureFormat::Count),
    ("Refused: too late", "refused/waited_too_long", FigureFormat::Count),
    ("Client gone", "refused/client_gone", FigureFormat::Count),
];

const LISTENER: &[Fact] = &[
    ("Connections open", "connections/open", FigureFormat::Count),
    ("Peak", "connections/open_peak", FigureFormat::Count),
    ("Limit", "connections/open_max", FigureFormat::Count),
    ("Waiting to be let in", "connections/waiting", FigureFormat::Count),
    ("Handshaking", "connections/states/handshaking", FigureFormat::Count),
    ("Idle", "connections/states/idle", FigureFormat::Count),
    ("Reading", "connections/states/reading", FigureFormat::Count),
    ("Working", "connections/states/working", FigureFormat::Count),
    ("Writing", "connections/states/writing", FigureFormat::Count),
    ("Accepted", "connections/accepted", FigureFormat::Count),
    ("Not accepted", "connections/accept_errors", FigureFormat::Count),
    ("Requests", "requests/received", FigureFormat::Count),
    ("Answered 2xx", "requests/answered/2xx", FigureFormat::Count),
    ("Answered 3xx", "requests/answered/3xx", FigureFormat::Count),
    ("Answered 4xx", "requests/answered/4xx", FigureFormat::Count),
    ("Answered 5xx", "requests/answered/5xx", FigureFormat::Count),
    ("Panics", "requests/panics", FigureFormat::Count),
    ("Received", "received_bytes", FigureFormat::Bytes),
    ("Sent", "sent_bytes", FigureFormat::Bytes),
    ("Held for unfinished requests", "held_bytes", FigureFormat::Bytes),
    ("Unsent of answers", "unsent_bytes", FigureFormat::Bytes),
];

const HANDSHAKES: &[Fact] = &[
    ("Full", "full", FigureFormat::Count),
    ("Resumed", "resumed", FigureFormat::Count),
    ("TLS 1.2", "tls_1_2", FigureFormat::Count),
    ("TLS 1.3", "tls_1_3", FigureFormat::Count),
];

const HASHING: &[Fact] = &[
    ("Busy", "busy", FigureFormat::Count),
    ("Limit", "limit", FigureFormat::Count),
    ("Waiting", "waiting", FigureFormat::Count),
    ("Waiting peak", "waiting_peak", FigureFormat::Count),
    ("Verified so far", "admitted", FigureFormat::Count),
];

/// The whole body of the page.
pub(super) fn render(html: &mut Html<'_>, token: &str, listing: &Listing) {
    header(html);
    html.raw("<main id=\"main\">");
    // Empty, and not shown, until the script draws into it.
    html.raw("<section id=\"charts\" aria-label=\"The last five minutes\" hidden></section>");
    work_processes(html);
    connections(html);
    endpoints::render(html, token);
    cache::render(html, token, listing);
    clients(html);
    limits(html);
    html.raw("</main>");
}

fn header(html: &mut Html<'_>) {
    html.raw("<a class=\"skip\" href=\"#main\">Skip to the figures</a><header><div class=\"bar\">");
    html.raw("<h1>tollgate <span>monitor</span></h1>");
    html.state("p", "/server/state").raw("<i class=\"dot\"></i><span id=\"contact\" role=\"status\">");
    html.figure("span", "", "/server/state", FigureFormat::Words);
    html.raw("</span></p><button id=\"pause\" type=\"button\" aria-pressed=\"false\" hidden>Pause</button>");
    html.raw("<nav aria-label=\"Panels\"><a href=\"#work-processes\">Work processes</a>");
    html.raw("<a href=\"#connections\">Connections</a><a href=\"#endpoints\">Endpoints</a><a href=\"#cache\">Cache</a><a href=\"#clients\">Clients</a><a href=\"#limits\">Limits</a></nav></div>");
    facts(html, "facts", "", SERVER);
    html.raw("</header>");
}

/// A list of figures with their names.
pub(super) fn facts(html: &mut Html<'_>, class: &str, below: &str, facts: &[Fact]) {
    html.raw("<dl class=\"").raw(class).raw("\">");
    for (name, at, form) in facts {
        html.raw("<div><dt>").raw(name).raw("</dt>");
        html.figure("dd", "", &format!("{below}{at}"), *form).raw("</div>");
    }
    html.raw("</dl>");
}

fn work_processes(html: &mut Html<'_>) {
    html.raw("<section id=\"work-processes\" aria-labelledby=\"work-processes-title\">");
    html.raw("<h2 id=\"work-processes-title\">Work processes</h2><div class=\"services\">");
    for service in 0..html.list("/services").len() {
        let at = format!("/services/{service}");
        let name = html.value(&format!("{at}/name")).as_str().unwrap_or_default();
        html.raw("<article><h3>").text(name).raw("</h3>");
        facts(html, "facts", &format!("{at}/pool/"), POOL);
        let board = format!("{at}/work_processes");
        let processes = html.list(&board).len();
        // What the table says, at a glance; whoever listens has the table.
        html.raw("<p class=\"strip\" aria-hidden=\"true\">");
        for process in 0..processes {
            html.state("i", &format!("{board}/{process}/state")).raw("</i>");
        }
        html.raw("</p><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Work processes of ");
        html.text(name).raw("\"><table class=\"board\"><caption>Work processes of ").text(name);
        html.raw("</caption><thead><tr><th scope=\"col\" class=\"n\">No.</th><th scope=\"col\">State</th>");
        html.raw("<th scope=\"col\">Request</th><th scope=\"col\" class=\"n\">For</th><th scope=\"col\">User</th>");
        html.raw("<th scope=\"col\" class=\"n\">Served</th></tr></thead><tbody>");
        for process in 0..processes {
            let at = format!("{board}/{process}");
            html.state("tr", &format!("{at}/state"));
            html.figure("th", "scope=\"row\" class=\"n\"", &format!("{at}/number"), FigureFormat::Count);
            html.raw("<td class=\"state\" data-label=\"State\"><i></i>");
            html.figure("span", "", &format!("{at}/state"), FigureFormat::Words).raw("</td>");
            html.raw("<td class=\"request\" data-label=\"Request\">");
            html.figure("b", "", &format!("{at}/method"), FigureFormat::Plain).raw(" ");
            html.figure("span", "", &format!("{at}/path"), FigureFormat::Plain).raw("</td>");
            html.figure("td", "class=\"n\" data-label=\"For\"", &format!("{at}/held_seconds"), FigureFormat::Seconds);
            html.figure("td", "data-label=\"User\"", &format!("{at}/user"), FigureFormat::Plain);
            html.figure("td", "class=\"n\" data-label=\"Served\"", &format!("{at}/served"), FigureFormat::Count);
            html.raw("</tr>");
        }
        html.raw("</tbody></table></div></article>");
    }
    html.raw("</div></section>");
}

fn connections(html: &mut Html<'_>) {
    html.raw("<section id=\"connections\" aria-labelledby=\"connections-title\">");
    html.raw("<h2 id=\"connections-title\">Connections</h2><div class=\"cards\">");
    for listener in 0..html.list("/listeners").len() {
        let at = format!("/listeners/{listener}");
        html.raw("<article class=\"card\"><h3>");
        html.figure("span", "", &format!("{at}/protocol"), FigureFormat::Text).raw("://");
        html.figure("span", "", &format!("{at}/address"), FigureFormat::Text).raw("</h3>");
        facts(html, "rows", &format!("{at}/"), LISTENER);
        let mut lists = vec![("Closed, by cause", "connections/closed"), ("Faults of clients", "faults")];
        if !html.value(&format!("{at}/handshakes")).is_null() {
            html.raw("<h4>Handshakes</h4>");
            facts(html, "rows", &format!("{at}/handshakes/"), HANDSHAKES);
            lists.push(("Failed handshakes, by cause", "handshakes/failed"));
        }
        for (title, list) in lists {
            html.raw("<h4>").raw(title).raw("</h4>");
            html.rows("dl", "class=\"rows counted\"", &format!("{at}/{list}"), |html| {
                html.raw("<div>").figure("dt", "", "name", FigureFormat::Words);
                html.figure("dd", "", "count", FigureFormat::Count).raw("</div>");
            });
        }
        html.raw("</article>");
    }
    authentication(html);
    html.raw("</div></section>");
}

/// Panel of authentications, if authentication is on.
fn authentication(html: &mut Html<'_>) {
    if html.value("/authentication").is_null() {
        return;
    }
    html.raw("<article class=\"card\"><h3>Signing in</h3>");
    html.rows("dl", "class=\"rows counted\"", "/authentication/outcomes", |html| {
        html.raw("<div>").figure("dt", "", "name", FigureFormat::Words);
        html.figure("dd", "", "count", FigureFormat::Count).raw("</div>");
    });
    if !html.value("/authentication/hashing").is_null() {
        html.raw("<h4>Passwords being verified</h4>");
        facts(html, "rows", "/authentication/hashing/", HASHING);
    }
    html.raw("</article>");
}

/// Panel of clients that were refused something.
fn clients(html: &mut Html<'_>) {
    html.raw("<section id=\"clients\" aria-labelledby=\"clients-title\"><h2 id=\"clients-title\">Refused clients</h2>");
    html.raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Refused clients\"><table class=\"limits\">",
    );
    html.raw("<caption>Clients that were refused something, why and how often</caption><thead><tr>");
    html.raw("<th scope=\"col\">Client</th><th scope=\"col\">Reason</th><th scope=\"col\" class=\"n\">Refusals</th>");
    html.raw("<th scope=\"col\" class=\"n\">Last one ago</th></tr></thead>");
    html.rows("tbody", "", "/clients/refused", |html| {
        html.raw("<tr>").figure("th", "scope=\"row\"", "client", FigureFormat::Text);
        html.figure("td", "data-label=\"Reason\"", "reason", FigureFormat::Words);
        html.figure("td", "class=\"n\" data-label=\"Refusals\"", "count", FigureFormat::Count);
        html.figure("td", "class=\"n\" data-label=\"Last one ago\"", "seconds_ago", FigureFormat::Seconds).raw("</tr>");
    });
    html.raw("</table></div></section>");
}

fn limits(html: &mut Html<'_>) {
    html.raw("<section id=\"limits\" aria-labelledby=\"limits-title\"><h2 id=\"limits-title\">Limits</h2>");
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Limits\"><table class=\"limits\">");
    html.raw("<caption>Limits, what is used of them, and how often each was met</caption><thead><tr>");
    html.raw("<th scope=\"col\">Limit</th><th scope=\"col\">Of</th><th scope=\"col\" class=\"n\">Value</th>");
    html.raw("<th scope=\"col\" class=\"n\">Now</th><th scope=\"col\" class=\"n\">Peak</th>");
    html.raw("<th scope=\"col\" class=\"n\">Met</th></tr></thead><tbody>");
    for limit in 0..html.list("/limits").len() {
        let at = format!("/limits/{limit}");
        let form = FigureFormat::of_unit(html.value(&format!("{at}/unit")).as_str().unwrap_or_default());
        html.raw("<tr>").figure("th", "scope=\"row\"", &format!("{at}/name"), FigureFormat::Text);
        html.figure("td", "data-label=\"Of\"", &format!("{at}/of"), FigureFormat::Text);
        for (label, member, form) in [
            ("Value", "limit", form),
            ("Now", "now", form),
            ("Peak", "peak", form),
            ("Met", "met", FigureFormat::Count),
        ] {
            let attributes = format!("class=\"n {member}\" data-label=\"{label}\"");
            html.figure("td", &attributes, &format!("{at}/{member}"), form);
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div></section>");
}
