//! Whether somebody listens at a server's place, before a link leads there: a link accepts whatever is behind it.

use std::net::SocketAddr;
use std::time::Duration;

use tollgate_net::connect;

/// How long a server may take to accept a connection.
const WITHIN: Duration = Duration::from_secs(10);

/// An address of a server at which somebody listens.
///
/// # Errors
/// Host and port, and why they cannot be reached.
pub(crate) fn reached(host: &str, port: u16) -> Result<SocketAddr, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| format!("no event loop: {error}"))?.block_on(async {
        let addresses = connect::resolve(host, port).await.map_err(|error| format!("{host}: {error}"))?;
        let (_, address, _) = connect::connect(&addresses, WITHIN)
            .await
            .map_err(|error| format!("{host}, port {port}, cannot be reached: {error}"))?;
        Ok(address)
    })
}
