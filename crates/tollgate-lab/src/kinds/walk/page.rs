//! Page of a walk over entities, of single requests, and of users who play through steps: the cost of each variant over
//! its baseline, level by level.

use tollgate_facts::results;
use tollgate_page::blocks::{Block, Cell, Depth, Page, Section, Table, TableRow};
use tollgate_page::number;
use tollgate_page::parts::method::Method;
use tollgate_page::parts::{self, cards, curves, peers, tolls, watched};
use tollgate_page::words::sentence;
use tollgate_page::words::view::{self, View};

/// The page; it exists for every result.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let before = vec![cards::section(view), tolls::section(view), peers::section(view)];
    let mut after = curves::sections(view, "Response times");
    after.extend([list_and_entities(view), watched::section(view)]);
    Some(parts::page(view, None, before, Depth::Main, after, &Method::default()))
}

/// Most rows; with more cells only those of one level are shown.
const ROWS_MAX: usize = 12;

/// Mean times and sizes of the list and of an entity, apart; absent of a run without lists.
fn list_and_entities(view: &View<'_>) -> Option<Section> {
    let head = ["variant", "at", "list ms", "list size", "entity ms", "entity size"];
    let mut table = Table::new("", head);
    let only = (view.rows.len() > ROWS_MAX).then(|| view::answer_level(view.run)).flatten();
    let is_shown = |cell: &results::Cell| cell.list_time_ms.is_some() && only.is_none_or(|level| cell.level == level);
    for row in view.rows.iter().filter(|row| is_shown(row.cell)).take(ROWS_MAX) {
        let size = |bytes: Option<f64>| number::or_nothing(bytes.map(number::bytes));
        let cells = [
            Cell::marked(row.cell.variant.clone(), row.marks.clone()),
            sentence::level(&view.run.experiment, row.cell.level).into(),
            number::optional(row.cell.list_time_ms).into(),
            size(row.cell.list_bytes).into(),
            number::optional(row.cell.detail_time_ms).into(),
            size(row.cell.detail_bytes).into(),
        ];
        table.push(TableRow { tone: row.tone(), ..cells.to_vec().into() });
    }
    let legend = "mean response times and mean bodies of valid answers; a list's pages are added up";
    let blocks = vec![Block::Table(table.some()?), Block::Legend(vec![legend.to_owned()])];
    Some(Section::background("The list and its entities", blocks))
}
