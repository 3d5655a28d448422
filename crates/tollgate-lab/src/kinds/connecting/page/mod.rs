//! The cost of connections and of encryption: each level with its tolls in a closed load and at equal rate, first
//! requests, messages on the wire; for lines of several lengths the round trips of a first request.

mod afar;
mod beside;
mod pictures;
mod tables;

use tollgate_page::blocks::{Block, Depth, Page, Section, Table};
use tollgate_page::parts::method::{self, Method};
use tollgate_page::parts::{self, cards, curves, peers, tolls, watched};
use tollgate_page::words::view::View;

/// The page of a run about the ways users connect.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let run = view.run;
    let is_it = run.experiment.variants.iter().any(|variant| variant.connecting.is_some());
    if !is_it || view.rows.is_empty() {
        return None;
    }
    let (tables, mut legend) = match run.round_trips.is_empty() {
        true => (of_levels(view), tables::legend(view)),
        false => (vec![afar::slopes(view), afar::first_requests(view)], afar::legend(view)),
    };
    let negotiated = method::negotiated(run);
    if !negotiated.is_empty() {
        legend.push(format!("negotiated, as the trials' connections saw it: {negotiated}"));
    }
    let told = Some(afar::answers(run)).filter(|told| !told.is_empty()).map(Block::List);
    let blocks = told.into_iter().chain(parts::filed("encryption", tables)).chain([Block::Legend(legend)]).collect();
    let sections = vec![
        cards::section(view),
        afar::section(view),
        pictures::distributions(view),
        pictures::flows(view),
        tolls::section(view),
        peers::section(view),
        Some(Section::main("Level by level", blocks)),
    ];
    let mut after = curves::sections(view, "Distributions");
    after.push(watched::section(view));
    Some(parts::page(view, afar::claim(run), sections, Depth::Background, after, &Method::default()))
}

fn of_levels(view: &View<'_>) -> Vec<Table> {
    let beside = [beside::peaks(view.run), beside::crypto(view.run)];
    tables::of_levels(view).into_iter().chain(beside).chain(beside::published(view)).collect()
}

#[cfg(test)]
mod tests {
    use tollgate_facts::fixture;
    use tollgate_facts::results::{KernelNetwork, Negotiated, PacketHandling};

    #[test]
    fn what_connections_negotiated_and_what_the_kernel_does_with_tcp_is_said() {
        let mut run = fixture::encryption();
        let found = Negotiated {
            version: "1.2".to_owned(),
            suite: "ECDHE-ECDSA-AES128-GCM-SHA256".to_owned(),
            key: Some("p256".to_owned()),
            certificates: 1,
            group: Some("x25519".to_owned()),
            protocol: None,
            connections: 1_200,
        };
        for cell in run.cells.iter_mut().filter(|cell| cell.variant == "https-new" && cell.level == 1) {
            cell.negotiated = vec![found.clone()];
            // At equal rate the same: they are told together.
            cell.equal_rate.iter_mut().for_each(|rate| rate.negotiated = vec![found.clone()]);
        }
        let handling = PacketHandling {
            qdisc: Some("noqueue".to_owned()),
            offloads: Some(vec!["TSO".to_owned(), "GRO".to_owned()]),
        };
        run.machine.network = Some(KernelNetwork {
            congestion_control: Some("bbr".to_owned()),
            interfaces: [("lo".to_owned(), handling)].into(),
        });
        for (name, text) in crate::kinds::tests::shown_in_each(&run) {
            let has = |part: &str| assert!(text.contains(part), "{name}, {part}: {text}");
            has(
                "https-new at TLS 1.3, P-256: TLS 1.2, ECDHE-ECDSA-AES128-GCM-SHA256, key p256, 1 certificate, x25519, no ALPN",
            );
            has("(2,400 connections)");
            if name == "html" {
                has("congestion control bbr");
                has("interfaces lo: noqueue; TSO, GRO");
            }
        }
    }
}
