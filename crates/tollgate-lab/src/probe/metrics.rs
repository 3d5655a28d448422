//! The `/metrics` of a subject that has them: busy work processes, requests that wait for one, and the same for
//! connections.
//!
//! Read at a low rate over a connection of its own, by the thread that conducts the run: never on the hot path.

use std::time::Duration;

use tollgate_net::http1::client::{Answers, ClientConnection, Collect, Connector, RequestTemplate, Target};

use tollgate_facts::results::Reading;

/// Time after which an answer is given up.
const PATIENCE: Duration = Duration::from_millis(200);
/// Bytes of the metrics that are read.
const METRICS_BYTES_MAX: usize = 256 * 1024;
/// Metrics that are read: name, name of the series, and unit.
const TAKEN: &[(&str, &str, &str)] = &[
    ("tollgate_work_processes_busy", "work-processes-busy", "work processes"),
    ("tollgate_work_processes_waiting", "work-processes-waiting", "requests"),
    ("tollgate_work_processes_limit", "work-processes-limit", "work processes"),
    ("tollgate_connections_open", "connections-open", "connections"),
    ("tollgate_connections_waiting", "connections-waiting", "connections"),
    ("tollgate_connections_limit", "connections-limit", "connections"),
];

/// Repeated reading of a subject's metrics.
#[derive(Debug)]
pub struct Metrics {
    runtime: tokio::runtime::Runtime,
    connector: Connector,
    target: Target,
    request: Vec<u8>,
    connection: Option<ClientConnection>,
    body: Collect,
}

impl Metrics {
    /// Creates a reader below an admin URL such as `http://127.0.0.1:4242`; `None` if that is invalid.
    pub fn new(admin_url: &str) -> Option<Metrics> {
        let target = Target::parse(&format!("{}/metrics", admin_url.trim_end_matches('/'))).ok()?;
        let template = RequestTemplate::builder("GET", target.authority()).target_text(target.path_and_query());
        let mut request = Vec::new();
        template.build().ok()?.render::<&[u8]>(&[], &mut request);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        let connector =
            Connector::new(tollgate_net::tls::TlsChoice::Verify).connect_timeout(PATIENCE).exchange_timeout(PATIENCE);
        Some(Metrics { runtime, connector, target, request, connection: None, body: Collect::up_to(METRICS_BYTES_MAX) })
    }

    /// Reads the current values; none if they do not come in time.
    pub fn sample(&mut self) -> Vec<Reading> {
        self.body.clear();
        let Metrics { runtime, connector, target, request, connection, body } = self;
        let kept = connection.take();
        let asked = runtime.block_on(async {
            let mut connection = match kept {
                Some(connection) => connection,
                None => connector.open(target).await.ok()?,
            };
            let exchanged = connection.exchange(request, Answers::Ordinary, body).await.ok()?;
            (exchanged.status == 200).then_some((connection, exchanged.reusable))
        });
        let Some((used, is_reusable)) = asked else { return Vec::new() };
        self.connection = is_reusable.then_some(used);
        parse(&String::from_utf8_lossy(&self.body.bytes))
    }
}

/// Returns the wanted metrics of an OpenMetrics text, each summed over all label sets.
fn parse(text: &str) -> Vec<Reading> {
    TAKEN
        .iter()
        .filter_map(|(metric, name, unit)| {
            let values = text.lines().filter_map(|line| {
                let rest = line.strip_prefix(metric)?;
                let value = match rest.strip_prefix('{') {
                    Some(labelled) => labelled.rsplit_once('}')?.1,
                    None => rest.strip_prefix(' ')?,
                };
                value.split_whitespace().next()?.parse::<f64>().ok()
            });
            let value = values.reduce(|sum, value| sum + value)?;
            Some(Reading { name, unit, value })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_and_waiting_are_taken_and_label_sets_added_up() {
        let text = "# TYPE tollgate_work_processes_busy gauge\n\
            tollgate_work_processes_busy{kind=\"read\"} 3 1700000000\ntollgate_work_processes_busy{kind=\"}\"} 1\n\
            tollgate_work_processes_busy_max 9\ntollgate_work_processes_waiting 2\n# EOF\n";
        let values: Vec<(&str, f64)> = parse(text).iter().map(|reading| (reading.name, reading.value)).collect();
        assert_eq!(values, [("work-processes-busy", 4.0), ("work-processes-waiting", 2.0)]);
        assert_eq!(parse("up 1\n"), []);
    }

    #[test]
    fn a_subject_that_is_not_there_has_none() {
        let nobody = tollgate_net::listen::Reserved::on_loopback().unwrap();
        assert_eq!(Metrics::new(&format!("http://{}", nobody.address())).unwrap().sample(), []);
        assert!(Metrics::new("nowhere").is_none());
    }
}
