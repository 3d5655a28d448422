//! `tollgate link echo`: sends received bytes back, until it is stopped.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::mpsc::channel;

use clap::Args;
use tollgate_net::link::Echo;

use crate::failure::{Exit, Failure};
use crate::signals;
use crate::values::listening;

/// Arguments of `link echo`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Address to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", value_parser = listening, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

/// Sends received bytes back until SIGTERM or SIGINT.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let (tell, told) = channel();
    signals::on_stop(move || {
        // It is received below, whatever else happens.
        let _ = tell.send(());
    })?;
    let echo = Echo::start(arguments.listen)
        .map_err(|error| Failure::failed(format_args!("cannot listen at {}: {error}", arguments.listen)))?;
    writeln!(out, "listening {}", echo.address()).and_then(|()| out.flush()).map_err(Failure::output)?;
    // The sender lives until it has sent.
    let _ = told.recv();
    Ok(Exit::Done)
}
