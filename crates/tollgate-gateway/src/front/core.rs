//! One event loop: what it holds, and the chain that every request passes.
//!
//! What each part of the chain does stands in its own file; nothing here reads a header or writes a body.

use std::cell::RefCell;
use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use tollgate_net::http1::server::{Exchange, ExchangeError, Response, Service};
use tollgate_net::http1::{Fault as ProtocolFault, Method, RequestHead};
use tollgate_net::tls::server::HandshakeFailure;

use super::route::Route;
use super::shared::{Current, Shared};
use crate::auth::Local;
use crate::error::Fault;
use crate::error::format::ErrorFormat;
use crate::http::READING;
use crate::mediate::Memories;
use crate::serve::odata;
use crate::serve::proxy::Pools;
use crate::visit::Visit;
use crate::visit::memory::LoopMemory;

/// What one event loop holds.
pub(super) struct Core {
    current: Arc<Current>,
    // Of this loop alone: counting who holds it then disturbs no other core.
    held: RefCell<Rc<Held>>,
    /// Memory that its requests use again.
    memory: LoopMemory,
    /// Connections to the places of endpoints.
    pub(super) pools: Pools,
    /// What mediators write into.
    pub(super) memories: Memories,
}

/// What one event loop holds of what is in force.
struct Held {
    shared: Arc<Shared>,
    // Whose credentials were verified a moment ago.
    known: Rc<Local>,
}

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
        let caller = match shared.common.authentication.caller(&held.known, exchange).await {
            Ok(caller) => caller,
            Err(fault) => {
                let (request, response) = exchange.split();
                self.tell(&fault, request, response);
                return Ok(());
            }
        };
        let route = Route::of(shared, exchange.request());
        let visit = Visit::new(&self.memory, &shared.common, caller, route.grants(shared));
        route.serve(self, shared, &visit, exchange).await
    }

    fn refusal(&self, fault: ProtocolFault, request: Option<&RequestHead>, response: &mut Response) {
        Fault::from(fault).answer(self.error_format(request), response);
    }

    fn tick(&self, now: Instant) {
        self.pools.clean(now);
    }

    fn handshake_failed(&self, failure: HandshakeFailure, peer: SocketAddr, detail: Option<&dyn fmt::Display>) {
        let shared = &self.held().shared;
        shared.handshakes.note(&shared.common.log, failure, peer, detail);
    }
}

impl Core {
    /// What a loop begins with.
    pub(super) fn new(current: &Arc<Current>) -> Core {
        let shared = current.shared();
        Core {
            current: Arc::clone(current),
            memory: LoopMemory::default(),
            pools: Pools::new(&shared.connections),
            memories: Memories::default(),
            held: RefCell::new(Rc::new(Held::new(shared))),
        }
    }

    /// What is in force now.
    fn held(&self) -> Rc<Held> {
        let held = Rc::clone(&self.held.borrow());
        if held.shared.generation == self.current.generation() {
            return held;
        }
        let shared = self.current.shared();
        let held = Rc::new(held.under(shared));
        *self.held.borrow_mut() = Rc::clone(&held);
        self.pools.keep(|place| held.shared.proxied.has(place));
        held
    }

    /// Tells a fault to the caller before it is known whose resource is meant, and what is for the operator to the log.
    pub(super) fn tell(&self, fault: &Fault, request: &RequestHead, response: &mut Response) {
        self.held().shared.common.tell(fault, self.error_format(Some(request)), request, response);
    }

    /// In which format a caller is told what is wrong before it is known whose resource is meant.
    fn error_format(&self, request: Option<&RequestHead>) -> ErrorFormat {
        let held = self.held();
        let services = &held.shared.services;
        let mount = request.and_then(|request| services.iter().find_map(|service| service.mount_of(request.path())));
        match mount {
            Some(mount) => odata::error_format(mount, request).into(),
            None if request.is_some_and(|request| held.shared.speaks_soap(request)) => ErrorFormat::of_soap(request),
            None => ErrorFormat::of_path(request),
        }
    }
}

impl Held {
    fn new(shared: Arc<Shared>) -> Held {
        Held { known: Rc::new(shared.common.authentication.local()), shared }
    }

    /// The same loop under another configuration: whoever was verified stays so, if nothing about that is another.
    fn under(&self, shared: Arc<Shared>) -> Held {
        if Arc::ptr_eq(&self.shared.common.authentication, &shared.common.authentication) {
            return Held { known: Rc::clone(&self.known), shared };
        }
        Held::new(shared)
    }
}
