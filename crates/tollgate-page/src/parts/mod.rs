//! Sections that the pages of several kinds of work share.
//!
//! None of them asks for the kind of the result: a kind takes the ones that fit, and passes the differences.

pub mod aggregate;
pub mod cards;
pub mod cells;
pub mod curves;
pub mod method;
pub mod models;
pub mod peers;
pub mod published;
pub mod raw;
pub mod staged;
pub mod steps;
pub mod tolls;
pub mod variance;
pub mod watched;

use crate::blocks::{Block, Depth, Page, Section, Table};
use crate::number;
use crate::words::headline::{self, Claim};
use crate::words::thresholds;
use crate::words::view::View;
use crate::words::{marked, sentence};
use method::Method;

/// Maximum number of variants in one chart: more can neither be distinguished nor fit a page of half a megabyte. The
/// tables show all.
pub const SHOWN_MAX: usize = 12;

/// The sentence after the reason for an incomplete run.
const BELOW: &str = "What was measured until then stands below";

/// The page of a run: its answer (the claim of its kind, else its tolls), the kind's sections `before` and `after` the table
/// of all cells, and the sections that end every page. A short form leaves the table out where `depth` is background.
pub fn page(
    view: &View<'_>,
    claim: Option<Claim>,
    before: Vec<Option<Section>>,
    depth: Depth,
    after: Vec<Option<Section>>,
    method: &Method,
) -> Page {
    let run = view.run;
    let thresholds = thresholds::section(&run.experiment, &run.thresholds);
    let last = [thresholds, published::section(view), variance::section(view), Some(method::section(view, method))];
    let all = before.into_iter().chain(cells::sections(view, depth)).chain(after).chain(last);
    let mut answer = headline::answer(run, claim, sentence::besides(run));
    let shared = marked::shared(view, answer.trust.as_ref().map_or("", |trust| &trust.text));
    answer.besides.splice(0..0, shared);
    Page {
        name: run.experiment.name.clone(),
        question: run.experiment.question.clone(),
        answer,
        warnings: sentence::incompleteness(run).iter().map(|why| format!("{why}. {BELOW}")).collect(),
        origin: origin(view),
        version: run.version.clone(),
        sections: all.flatten().collect(),
    }
}

/// Tables of a kind that have rows as blocks, each with a file that is named by the kind and its place.
pub fn filed(kind: &str, tables: impl IntoIterator<Item = Table>) -> impl Iterator<Item = Block> {
    let named = move |(place, table): (usize, Table)| table.file(format!("{kind}-{}.csv", place + 1));
    tables.into_iter().filter_map(Table::some).enumerate().map(named).map(Block::Table)
}

fn origin(view: &View<'_>) -> String {
    let run = view.run;
    let machine = match run.machine.cpu.as_str() {
        "" => format!("{} cores", run.machine.cores),
        cpu => format!("{} × {cpu}", run.machine.cores),
    };
    let blocks = view.rows.iter().map(|row| row.cell.rounds).max().unwrap_or(0);
    let requests: u64 = run.cells.iter().map(|cell| cell.requests).sum();
    let what = sentence::pieces(&run.experiment);
    let of_tolls = run.settings.looks.map_or_else(String::new, |looks| format!(", of tolls {}", looks.confidence()));
    let parts = [
        minute(&run.started),
        machine,
        run.machine.system.clone(),
        run.settings.network.clone(),
        format!("{blocks} blocks"),
        format!("{} {what}", number::whole(requests)),
        format!("seed {}", run.seed),
        format!("tollgate {}", run.version),
        format!(
            "intervals are 95 % over {}{of_tolls}",
            if sentence::is_over_starts(run) { "starts" } else { "blocks" }
        ),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// Date and minute of an RFC 3339 stamp.
fn minute(stamp: &str) -> String {
    stamp.get(..16).map_or_else(|| stamp.to_owned(), |minute| format!("{} UTC", minute.replace('T', " ")))
}
