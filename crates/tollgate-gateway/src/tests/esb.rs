//! `docs/esb.md` as written, over `examples/esb.toml`: its requests are sent, and its answers are expected.

use std::collections::BTreeMap;

use super::client::{Running, somebody};

const DOCUMENT: &str = include_str!("../../../../docs/esb.md");
const CONFIGURATION: &str = include_str!("../../../../examples/esb.toml");
/// Configuration file; stylesheets are beside it.
const CONFIGURATION_FILE: &str = "../../examples/esb.toml";

const QUOTES: &str = "[[service]]\nkind = \"stock-quote\"";
const ECHO: &str = "[[service]]\nkind = \"echo\"";

/// The blocks of the document: the kind of each, the text before it, and its content.
fn blocks() -> Vec<(&'static str, &'static str, &'static str)> {
    let parts: Vec<&str> = DOCUMENT.split("```").collect();
    let block = |pair: &[&'static str]| {
        let (kind, content) = pair[1].split_once('\n').unwrap();
        (kind, pair[0], content)
    };
    parts.chunks_exact(2).map(block).collect()
}

/// The files that a block writes: name and content.
fn files(block: &str) -> BTreeMap<String, String> {
    let written = block.split("cat > ").skip(1);
    let file = |text: &str| {
        let (name, rest) = text.split_once(" <<'XML'\n").unwrap();
        (name.to_owned(), rest.split("XML\n").next().unwrap().to_owned())
    };
    written.map(file).collect()
}

#[test]
fn the_walk_through_is_as_it_is_told() {
    let mut places = [QUOTES, QUOTES, ECHO].map(|service| Some(Running::start(service)));
    // Suspended for longer than it is looked at.
    let mut configuration = CONFIGURATION.replace("initial_ms = 500,", "initial_ms = 60000,");
    assert_ne!(configuration, CONFIGURATION);
    for (port, place) in [9001, 9002, 9003].into_iter().zip(&places) {
        let address = place.as_ref().unwrap().addresses.public[0].to_string();
        configuration = configuration.replace(&format!("127.0.0.1:{port}"), &address);
    }
    let bus = Running::start_file(&configuration, CONFIGURATION_FILE);
    let own = bus.addresses.public[0].to_string();
    let post = |target: &str, body: &str| bus.connect().ask_with("POST", target, &[("Content-Type", "text/xml")], body);
    let (mut written, mut asked) = (BTreeMap::new(), 0);
    for pair in blocks().windows(2) {
        let [(kind, before, commands), (shown_kind, _, shown)] = pair else { unreachable!("windows of two") };
        if before.contains("End the first of the stock quotes") {
            drop(places[0].take());
        }
        written.extend(files(commands));
        let Some(command) = commands.lines().find(|line| line.starts_with("curl ")) else { continue };
        assert_eq!((*kind, *shown_kind), ("sh", "xml"), "{command}");
        let target = command.split("http://127.0.0.1:8080").nth(1).unwrap().split(' ').next().unwrap();
        let answer = match command.split("--data-binary @").nth(1) {
            Some(rest) => post(target, &written[rest.split(' ').next().unwrap()]),
            None => bus.get(target),
        };
        let mut text = answer.text().replace(&own, "127.0.0.1:8080");
        if let Some((_, word)) = command.split_once("| grep ") {
            text = text.lines().filter(|line| line.contains(word)).map(|line| format!("{line}\n")).collect();
        }
        assert_eq!(text.trim_end(), shown.trim_end(), "{command}");
        asked += 1;
    }
    assert_eq!(asked, 5, "every command of the document");

    drop(places[1].take());
    let (first, second) = (post("/check-price", &written["check.xml"]), post("/check-price", &written["check.xml"]));
    assert_eq!((first.status, second.status), (502, 503));
    assert!(second.header("retry-after").is_some());
    for answer in [first, second] {
        assert_eq!(answer.header("content-type"), Some("text/xml; charset=utf-8"));
        assert!(answer.text().contains("<faultcode>soap:Server</faultcode>"), "{}", answer.text());
    }
}

#[tokio::test]
async fn large_messages_are_mediated_by_work_processes_and_refused_when_their_queue_is_full() {
    let backend = Running::start(ECHO);
    let configuration = format!(
        "[mediation.work_processes]\nlimit = 1\nqueue_max = 0\n\
         [[endpoint]]\nname = \"echo\"\nurls = [\"http://{}/echo\"]\n\
         [[route]]\npath = \"/large\"\nto = \"/\"\nsoap = true\n\
         request = [{{ choose = [{{ xpath = \"count(//b) > 1\", endpoint = \"echo\" }}] }}]\n",
        backend.addresses.public[0]
    );
    let bus = Running::start(&configuration);
    let body = format!("<a>{}</a>", "<b>text</b>".repeat(10_000));
    let ask = || bus.connect().ask_with("POST", "/large", &[("Content-Type", "text/xml")], &body);
    assert!(ask().text() == body);
    let work_process = bus.shared.proxied.mediating().unwrap().acquire(&somebody()).await.unwrap();
    let refused = ask();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let of_mediation = "tollgate_work_processes_refused_total{service=\"mediation\",reason=\"queue-full\"}";
    assert_eq!(bus.metric(of_mediation), 1, "nothing is refused that is not counted");
    drop(work_process);
    assert_eq!(ask().status, 200);
}
