//! TLS for the `postgres` crate's connections, by the same library and on the same terms as everywhere else here.
//!
//! It only adds the traits that the crate requires.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tollgate_net::tls::{Over, Upgrade};

/// Makes connectors for any host.
#[derive(Debug, Clone)]
pub(super) struct Encrypted(pub(super) Upgrade);

/// Opens TLS to one host.
pub(super) struct Connector {
    upgrade: Upgrade,
    host: String,
}

/// A connection under TLS.
pub(super) struct EncryptedStream(Over<Socket>);

impl MakeTlsConnect<Socket> for Encrypted {
    type Stream = EncryptedStream;
    type TlsConnect = Connector;
    type Error = Infallible;

    fn make_tls_connect(&mut self, host: &str) -> Result<Connector, Infallible> {
        Ok(Connector { upgrade: self.0.clone(), host: host.to_owned() })
    }
}

impl TlsConnect<Socket> for Connector {
    type Stream = EncryptedStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { self.upgrade.open(self.host, socket).await.map(EncryptedStream) })
    }
}

impl TlsStream for EncryptedStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for EncryptedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
