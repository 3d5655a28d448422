//! Check that a server accepts connections, before a link leads there: a link accepts them whatever is behind it.

use std::net::SocketAddr;
use std::time::Duration;

use tollgate_net::connect;

/// Time within which a server must accept a connection.
const WITHIN: Duration = Duration::from_secs(10);

/// Returns an address at which a server listens.
///
/// # Errors
/// Host and port, and the reason why they cannot be reached.
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
