//! Forwarded requests, over real sockets: messages to backends and clients, and failures of either.

mod ambiguous;
mod backend;
mod blame;
mod cached;
mod encrypted;
mod failing;
mod hostile;
mod kept;
mod lasting;
mod passing;

use std::time::SystemTime;

use tollgate_net::clock::ManualClock;

use self::backend::Backend;
use super::client::Running;

/// A gateway with one endpoint of these backends, and a route to it.
fn before(backends: &[&Backend], endpoint: &str, route: &str) -> Running {
    Running::start(&config(backends, endpoint, route))
}

/// The same with a clock that is moved by hand.
fn before_by_hand(backends: &[&Backend], endpoint: &str, route: &str) -> (Running, ManualClock) {
    Running::start_by_hand(&config(backends, endpoint, route), SystemTime::UNIX_EPOCH)
}

fn config(backends: &[&Backend], endpoint: &str, route: &str) -> String {
    let urls: Vec<String> = backends.iter().map(|backend| format!("\"http://{}\"", backend.address)).collect();
    format!(
        "[[endpoint]]\nname = \"backend\"\nurls = [{}]\n{endpoint}\n\
         [[route]]\npath = \"/passed\"\nendpoint = \"backend\"\n{route}\n",
        urls.join(", ")
    )
}
