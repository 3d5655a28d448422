//! The page as a parser sees it: well-formed, self-contained, small, each picture with its table.

use quick_xml::events::Event;
use tollgate_facts::fixture;
use tollgate_facts::results::RunResult;
use tollgate_page::chart::escape;
use tollgate_report::{RenderOptions, render};

/// What a page may weigh, so that it can be sent by mail.
const PAGE_BYTES_MAX: usize = 500_000;

fn page(run: &RunResult) -> String {
    render("html", run, tollgate_lab::page, &RenderOptions::default())
}

fn pages() -> [(&'static str, String); 9] {
    [
        ("encryption", page(&fixture::encryption())),
        ("encryption-afar", page(&fixture::encryption_afar())),
        ("ladder", page(&fixture::ladder())),
        ("mediation", page(&fixture::mediation())),
        ("peers", page(&fixture::beside_a_peer(&[20, 100, 1000]))),
        ("protocol", page(&fixture::protocol())),
        ("partial", page(&fixture::partial())),
        ("extreme", page(&fixture::extreme())),
        ("empty", page(&fixture::empty())),
    ]
}

#[test]
fn an_ideal_that_begins_at_several_says_at_how_many() {
    let mut run = fixture::ladder();
    assert!(page(&run).contains("the time at one work process divided by the work processes"));
    run.experiment.levels.retain(|level| *level >= 5);
    run.cells.retain(|cell| cell.level >= 5);
    assert!(page(&run).contains("the time at 5 work processes, multiplied by 5 and divided by the work processes"));
}

/// Every element with its attributes, in order; fails the test where the page is not well-formed.
fn elements(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut reader = quick_xml::Reader::from_str(page);
    let mut elements = Vec::new();
    let mut open = 0_i64;
    loop {
        let event = reader.read_event().unwrap_or_else(|error| panic!("at {}: {error}", reader.buffer_position()));
        let start = match event {
            Event::Eof => break,
            Event::Start(start) => {
                open += 1;
                start
            }
            Event::Empty(start) => start,
            Event::End(_) => {
                open -= 1;
                continue;
            }
            _ => continue,
        };
        let name = start.name().as_ref().to_owned();
        let attributes = start
            .attributes()
            .map(|attribute| {
                let attribute = attribute.expect("attributes are quoted and unique");
                let key = attribute.key.as_ref().to_owned();
                (key, attribute.value.into_owned())
            })
            .collect();
        elements.push((name, attributes));
    }
    assert_eq!(open, 0, "every element is closed");
    elements
}

fn attribute<'e>(attributes: &'e [(String, String)], name: &str) -> Option<&'e str> {
    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

#[test]
fn the_page_is_well_formed_and_its_ids_are_unique() {
    for (name, page) in pages() {
        let elements = elements(&page);
        let mut ids: Vec<&str> = elements.iter().filter_map(|(_, attributes)| attribute(attributes, "id")).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{name}");
        assert!(elements.iter().filter(|(element, _)| element == "h1").count() == 1, "{name}");
        for (_, attributes) in &elements {
            if let Some(target) = attribute(attributes, "href").and_then(|href| href.strip_prefix('#')) {
                assert!(ids.contains(&target), "{name}: #{target} leads nowhere");
            }
            for label in attribute(attributes, "aria-labelledby").into_iter().flat_map(|list| list.split(' ')) {
                assert!(ids.contains(&label), "{name}: {label}");
            }
        }
    }
}

#[test]
fn the_page_needs_no_network_and_runs_its_own_script_only() {
    for (name, page) in pages() {
        let script = page.find("<script>").unwrap();
        assert!(
            page[..script].ends_with("</main>\n") && page.matches("<script").count() == 1,
            "{name}: all is there before"
        );
        let policy = page.split("Content-Security-Policy\" content=\"").nth(1).and_then(|rest| rest.split('"').next());
        let rules: Vec<&str> = policy.unwrap().split("; ").collect();
        assert_eq!(rules[0], "default-src 'none'", "{name}");
        for (rule, of) in [(rules[1], "style-src 'sha256-"), (rules[2], "script-src 'sha256-")] {
            assert!(rule.starts_with(of) && rule.len() == of.len() + 45, "{name}: one hash: {rule}");
        }
        for (element, attributes) in elements(&page) {
            assert!(!["link", "img", "iframe", "object", "use", "image"].contains(&element.as_str()), "{name}");
            for (key, value) in &attributes {
                assert!(!key.starts_with("on") && key != "src", "{name}: {element} {key}");
                assert!(
                    key != "href" || value.starts_with('#') || value.starts_with("data:text/csv"),
                    "{name}: {value}"
                );
                assert!(!value.contains("://") || key == "title", "{name}: {value}");
            }
        }
        // The policy would not let them pass.
        assert!(!page.contains(" style=\""), "{name}");
        let style = page.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).unwrap();
        assert!(!style.contains("url(") && !style.contains("@import"), "{name}");
    }
}

#[test]
fn the_contents_lead_to_every_section_by_its_words() {
    for (name, page) in pages() {
        let elements = elements(&page);
        let sections = elements.iter().filter(|(element, _)| element == "section");
        let ids: Vec<&str> = sections.map(|(_, attributes)| attribute(attributes, "id").unwrap()).collect();
        let list = page.split("<nav").nth(1).and_then(|rest| rest.split("</nav>").next());
        let links = |list: &str| -> Vec<String> {
            list.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
        };
        assert_eq!(list.map(links).unwrap_or_default(), ids, "{name}");
    }
    let page = page(&fixture::protocol());
    for id in
        ["what-each-variant-costs", "every-figure", "doubts-about-these-figures", "over-time", "how-it-was-measured"]
    {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
}

#[test]
fn neither_doubts_nor_points_are_tab_stops_without_a_script() {
    for (name, page) in pages() {
        for (element, attributes) in elements(&page) {
            let target = attribute(&attributes, "href").unwrap_or_default();
            let expected = if target.starts_with("#doubt-") { Some("-1") } else { None };
            let is_scrolled = attribute(&attributes, "class").is_some_and(|class| class.starts_with("scroll"));
            assert!(is_scrolled || attribute(&attributes, "tabindex") == expected, "{name}: {element} {attributes:?}");
        }
    }
}

#[test]
fn every_series_says_the_values_of_its_points() {
    let page = page(&fixture::protocol());
    let series: Vec<&str> =
        page.split("<g data-series=").skip(1).filter_map(|rest| rest.split("</g>").next()).collect();
    assert!(series.len() > 20, "{}", series.len());
    for drawn in series {
        // A narrow picture has those of the wide one before it.
        let Some(texts) = drawn.split("data-points=\"").nth(1).and_then(|rest| rest.split('"').next()) else {
            continue;
        };
        let told = texts.split('|').filter(|text| !text.is_empty()).count();
        let markers = drawn.matches("class=\"dot").count() + drawn.matches("class=\"hollow").count();
        let corners =
            drawn.split(" d=\"").nth(1).map_or(0, |path| path.split('"').next().unwrap().matches(['M', 'L']).count());
        let expected = if markers > 0 { markers } else { corners };
        assert!(told == 0 || told == expected, "{told} of {expected}: {drawn}");
    }
}

#[test]
fn the_page_stays_below_half_a_megabyte() {
    for (name, page) in pages() {
        assert!(page.len() < PAGE_BYTES_MAX, "{name}: {}", page.len());
    }
}

#[test]
fn the_page_stays_small_with_many_variants_levels_and_points() {
    let mut run = fixture::protocol();
    for copy in 0..2 {
        let mut renamed = fixture::protocol();
        let rename = |name: &mut String| name.push_str(&format!("-{copy}"));
        renamed.experiment.variants.iter_mut().for_each(|variant| rename(&mut variant.name));
        renamed.cells.iter_mut().for_each(|cell| rename(&mut cell.variant));
        renamed.series.iter_mut().for_each(|series| rename(&mut series.variant));
        run.experiment.variants.extend(renamed.experiment.variants);
        run.cells.extend(renamed.cells);
        run.series.extend(renamed.series);
    }
    let page = page(&run);
    assert!(page.len() < PAGE_BYTES_MAX, "{} with {} cells", page.len(), run.cells.len());
}

#[test]
fn every_picture_says_what_it_shows_and_has_its_table_and_csv() {
    for (name, page) in pages() {
        let figures: Vec<&str> = page.split("<figure").skip(1).collect();
        assert!(figures.len() >= 6 || name != "protocol", "{name}: {}", figures.len());
        assert_eq!(
            page.matches("<svg").count(),
            figures.iter().map(|figure| figure.matches("<svg").count()).sum::<usize>()
        );
        // Of inserts the wide tables are those of the curves above them.
        for figure in figures.into_iter().filter(|figure| !figure.contains("id=\"per-record-")) {
            let figure = figure.split("</figure>").next().unwrap();
            assert!(figure.contains("<svg") && figure.contains("<title") && figure.contains("<desc"), "{name}");
            assert!(figure.contains("<details>") && figure.contains("<table>"), "{name}");
            assert!(figure.contains("href=\"data:text/csv"), "{name}");
        }
    }
}

#[test]
fn coordinates_are_numbers_within_the_picture() {
    for (name, page) in pages() {
        for (element, attributes) in elements(&page) {
            for key in ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height"] {
                let is_shape = ["line", "rect", "text", "circle", "svg"].contains(&element.as_str());
                if let Some(value) = attribute(&attributes, key).filter(|_| is_shape) {
                    let value: f64 = value.parse().unwrap_or_else(|_| panic!("{name}: {element} {key}={value}"));
                    assert!((-20.0..20_000.0).contains(&value), "{name}: {element} {key}={value}");
                }
            }
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let page = page(&fixture::extreme());
    assert!(page.matches("<script").count() == 1 && !page.contains("<b>"));
    assert!(page.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"));
    assert!(page.contains("%3Cscript%3E"), "in the address of a CSV link as well");
}

#[test]
fn the_answer_the_doubts_and_their_remedies_stand_on_the_page() {
    let run = fixture::protocol();
    let page = page(&run);
    assert!(page.contains("What does OData cost over plain REST?"));
    for doubt in &run.validity {
        assert!(page.contains(&escape(&doubt.reason)), "{}", doubt.reason);
        assert!(page.contains(&escape(&doubt.remedy)), "{}", doubt.remedy);
    }
    for part in ["stagnates", "95 % between", "Jersey, JSON", "tollgate run protocol", "loopback", "Holm"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_partial_run_says_so_before_its_figures() {
    let page = page(&fixture::partial());
    let banner = page.find("Partial result: the subject of odata-v2-json ended with signal 9").unwrap();
    assert!(banner < page.find("<table").unwrap());
}

#[test]
fn a_run_about_handshakes_far_away_shows_times_against_the_distance() {
    let page = page(&fixture::encryption_afar());
    let (_, section) = page.split_once("<h2>Against distance</h2>").unwrap();
    let (section, _) = section.split_once("</section>").unwrap();
    for way in ["TLS 1.3, P-256", "TLS 1.2, P-256"] {
        let title = format!("Time of a first request against distance: {way}");
        assert!(section.contains(&title), "{title}");
    }
    assert!(section.contains("a round trip over the line (ms)") && section.contains(">https-new<"), "{section}");
    assert_eq!(section.matches("</svg>").count(), 4, "wide and narrow of each");
    for csv in ["time-against-distance-1.csv", "time-against-distance-2.csv"] {
        assert!(section.contains(csv), "{csv}");
    }
}

#[test]
fn a_run_about_encryption_shows_distributions_messages_and_no_axis_of_names() {
    let page = page(&fixture::encryption());
    for part in [
        "What goes over the wire",
        "TLS 1.2, full handshake",
        "Response times at TLS 1.",
        "at the same rate for all",
        "median at equal rate",
        "the average over the 15 s before",
        "ServerHello,",
        "≥ ",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("Against encryption"), "names are no numbers");
    assert!(!page.contains("Against distance"), "it is about none");
}
