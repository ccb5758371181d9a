//! The connection to the bench, which drives this process.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The bench, as this process sees it.
pub struct Driver(TcpStream);

impl Driver {
    /// Connects, and tells the port at which work is taken.
    ///
    /// # Errors
    ///
    /// If nobody listens there, or the connection ends.
    pub async fn connect(address: SocketAddr, port: u16) -> io::Result<Self> {
        let mut connection = TcpStream::connect(address).await?;
        connection.set_nodelay(true)?;
        connection.write_u16(port).await?;
        Ok(Self(connection))
    }

    /// Waits until the work is done that is sent meanwhile, and says whether there is more.
    ///
    /// # Errors
    ///
    /// If the connection breaks.
    pub async fn work_is_done(&mut self) -> io::Result<bool> {
        Ok(self.0.read(&mut [0]).await? > 0)
    }

    /// Asks for more work, and waits until it is done.
    ///
    /// # Errors
    ///
    /// If the connection breaks.
    pub async fn ask_for_work(&mut self) -> io::Result<bool> {
        self.0.write_u8(0).await?;
        self.work_is_done().await
    }
}
