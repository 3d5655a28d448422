//! The chain that every request passes, in its order: method, route, limits of its client, caller, rules, cache, handler.
//!
//! Each part of the chain is in its own file; nothing here reads a header or writes a body.

use std::fmt;
use std::net::SocketAddr;
use std::time::Instant;

use tollgate_net::http1::server::{Exchange, ExchangeError, Response, Service};
use tollgate_net::http1::{Fault as ProtocolFault, Method, RequestHead};
use tollgate_net::tls::server::HandshakeFailure;

use super::core::Core;
use super::route::Route;
use crate::base::client::Client;
use crate::clients::{ClientIdentity, Reason};
use crate::error::Fault;
use crate::http::READING;
use crate::visit::Visit;

impl Service for Core {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        // The engine has checked the framing, the target and the host by now.
        let request = exchange.request();
        let path = request.path();
        if request.method() == Method::Other {
            // Names are case-sensitive (RFC 9110, section 9.1): `get` is no GET, and nothing here has such a method.
            let fault = Fault::not_implemented(&format!("method {}", request.method_text()));
            let (request, response) = exchange.split();
            self.tell(&fault, request, response);
            return Ok(());
        }
        if path == "*" {
            // The engine lets the asterisk through for OPTIONS only: the gateway as a whole is meant (section 9.3.7).
            let response = exchange.respond();
            response.status = 204;
            response.header("allow", READING);
            return Ok(());
        }
        // Who asks, before anything is said of what there is. What they may do is asked by each protocol for what a
        // request reaches: see operation/reach.rs.
        let held = self.held();
        let shared = &held.shared;
        let clients = &shared.common.clients;
        let route = Route::of(shared, exchange.request());
        let address = clients.address(exchange.request(), exchange.peer().ip());
        let entered = clients.enter(ClientIdentity::Address, &Client::at(address), address, route.root());
        let passed = match entered {
            Ok(passage) => {
                let caller = shared.common.authentication.caller(&held.known, exchange, address).await;
                caller.map(|caller| (caller, passage)).inspect_err(|fault| clients.note_caller(address, fault))
            }
            Err(fault) => Err(fault),
        };
        let entered = passed.and_then(|(caller, mut passage)| {
            let visit = Visit::new(&self.memory, &shared.common, (caller, address), route.grants(shared));
            passage.extend(clients.enter(ClientIdentity::User, &visit.client, address, route.root())?);
            Ok((visit, passage))
        });
        match entered {
            // The passage is held until the request is answered.
            Ok((visit, _passage)) => route.serve(self, shared, &visit, exchange).await,
            Err(fault) => {
                let (request, response) = exchange.split();
                self.tell(&fault, request, response);
                Ok(())
            }
        }
    }

    fn refusal(&self, fault: ProtocolFault, request: Option<&RequestHead>, response: &mut Response) {
        Fault::from(fault).answer(self.error_format(request), response);
    }

    fn tick(&self, now: Instant) {
        self.pools.clean(now);
        self.rest();
    }

    fn client_refused(&self, peer: SocketAddr) {
        self.held().shared.common.clients.note(&Client::at(peer.ip()), Reason::Connections);
    }

    fn handshake_failed(&self, failure: HandshakeFailure, peer: SocketAddr, detail: Option<&dyn fmt::Display>) {
        let shared = &self.held().shared;
        shared.handshakes.note(&shared.common.log, failure, peer, detail);
    }
}
