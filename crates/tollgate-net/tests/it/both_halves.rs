//! The client against the server, over loopback.

use std::net::Ipv4Addr;
use std::sync::Arc;

use tollgate_net::clock::Clock;
use tollgate_net::http1::client::{Answers, Connector, RequestTemplate, Target};
use tollgate_net::http1::server::{Counters, Exchange, ExchangeError, Server, Service, Shutdown};
use tollgate_net::limits::Limits;
use tollgate_net::listen::ListenOptions;
use tollgate_net::tls::TlsChoice;

/// Answers with the request's target and body.
struct Echo;

impl Service for Echo {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        exchange.read_body(1 << 20).await?;
        let (request, body, response) = exchange.parts();
        response.header("Content-Type", "text/plain");
        response.body.extend_from_slice(request.target().as_bytes());
        response.body.extend_from_slice(body);
        Ok(())
    }
}

#[test]
fn the_client_gets_from_the_server_what_it_sent() {
    let server = Server::bind(&ListenOptions::new((Ipv4Addr::LOCALHOST, 0).into())).unwrap();
    let address = server.local_addr();
    let (shutdown, counters) = (Shutdown::new(), Arc::new(Counters::new(1)));
    std::thread::scope(|scope| {
        let (ending, counting) = (shutdown.clone(), counters.clone());
        scope.spawn(|| server.run(|_| Echo, Limits::default(), Clock::system(), ending, counting).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let target = Target::parse(&format!("http://{address}/a?b")).unwrap();
            let mut connection = Connector::new(TlsChoice::Verify).open(&target).await.unwrap();
            let builder = RequestTemplate::builder("POST", target.authority()).target_slot().body("xyz");
            let template = builder.build().unwrap();
            let mut request = Vec::new();
            template.render(&[target.path_and_query()], &mut request);
            for count in 1..=3 {
                let mut body = Vec::new();
                let exchanged = connection.exchange(&request, Answers::Ordinary, &mut body).await.unwrap();
                assert_eq!(String::from_utf8(body).unwrap(), "/a?bxyz");
                assert_eq!((exchanged.status, exchanged.body_bytes, exchanged.reusable), (200, 7, true));
                assert_eq!(exchanged.wire_sent_bytes, request.len() as u64);
                assert_eq!(exchanged.wire_received_bytes, exchanged.head_bytes + exchanged.body_bytes);
                assert_eq!(connection.exchanges(), count);
            }
        });
        shutdown.begin();
    });
    assert_eq!((counters.requests(), counters.responses(2), counters.connections_open()), (3, 3, 0));
}
