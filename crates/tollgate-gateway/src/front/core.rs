//! One event loop: its state, and error answers before the route is known.
//!
//! Requests are processed in `chain`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use tollgate_net::http1::RequestHead;
use tollgate_net::http1::server::Response;

use super::shared::{Current, Shared};
use crate::auth::Local;
use crate::error::Fault;
use crate::error::format::ErrorFormat;
use crate::mediate::Memories;
use crate::serve::odata;
use crate::serve::proxy::Pools;
use crate::visit::memory::LoopMemory;

/// State of one event loop.
pub(super) struct Core {
    current: Arc<Current>,
    // Of this loop alone: counting who holds it then disturbs no other core.
    held: RefCell<Rc<Held>>,
    /// Reused memory of its requests.
    pub(super) memory: LoopMemory,
    /// Connections to the places of endpoints.
    pub(super) pools: Pools,
    /// Buffers of mediators.
    pub(super) memories: Memories,
}

/// One event loop's view of the active configuration.
pub(super) struct Held {
    pub(super) shared: Arc<Shared>,
    // Whose credentials were verified a moment ago.
    pub(super) known: Rc<Local>,
}

impl Core {
    /// Creates the state of a loop.
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

    /// Gives memory back that nobody needs any more. Called a few times a second.
    pub(super) fn rest(&self) {
        self.held().shared.common.buffers.rest();
    }

    /// The active configuration.
    pub(super) fn held(&self) -> Rc<Held> {
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

    /// Answers a fault to the caller before the route is known, and logs the part for the operator.
    pub(super) fn tell(&self, fault: &Fault, request: &RequestHead, response: &mut Response) {
        self.held().shared.common.tell(fault, self.error_format(Some(request)), request, response);
    }

    /// Error format for a caller before the route is known.
    pub(super) fn error_format(&self, request: Option<&RequestHead>) -> ErrorFormat {
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

    /// The same loop under another configuration: verified credentials stay so if authentication is unchanged.
    fn under(&self, shared: Arc<Shared>) -> Held {
        if Arc::ptr_eq(&self.shared.common.authentication, &shared.common.authentication) {
            return Held { known: Rc::clone(&self.known), shared };
        }
        Held::new(shared)
    }
}
