//! A network namespace of our own with one TUN device in it: what one end of the line is.
//!
//! Only a file descriptor keeps it: it has no name under /run and goes with its last holder. It deliberately moves no
//! packets.

use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use super::netlink::Netlink;
use super::{DEVICE, MTU_BYTES};

/// Packets that the kernel keeps until the line reads them: beyond them it drops. 16 MB, and a quarter of a second of
/// what the line can read.
const KERNEL_PACKETS_MAX: u32 = 10_000;

/// The loopback address of a namespace and how much lies on its loopback interface: not all of 127.0.0.0/8, since the
/// two ends have addresses in it.
const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
const LOOPBACK_PREFIX_FIRST: u8 = 8;
const LOOPBACK_PREFIX: u8 = 16;

/// `TUNSETIFF` of linux/if_tun.h.
const SET_INTERFACE: Opcode = opcode::write::<i32>(b'T', 202);
/// `IFF_TUN | IFF_NO_PI`: packets of IP without anything before them, and no offloads, so that one read is one packet
/// as on a wire.
const PLAIN_PACKETS: u16 = 0x0001 | 0x1000;

/// A way into a network namespace. It keeps the namespace alive.
#[derive(Clone, Debug)]
pub struct Door {
    namespace: Arc<OwnedFd>,
}

impl Door {
    /// The namespace that the calling thread is in, for coming back.
    ///
    /// # Errors
    /// /proc cannot be read.
    pub fn here() -> io::Result<Door> {
        let namespace = open("/proc/thread-self/ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Door { namespace: Arc::new(namespace) })
    }

    /// Moves the calling thread into the namespace, for good: sockets that it makes, threads that it starts and child
    /// processes are there from now on. Sockets that it has already stay where they are.
    ///
    /// # Errors
    /// The system's error; without CAP_SYS_ADMIN, [`ErrorKind::PermissionDenied`].
    pub fn enter(&self) -> io::Result<()> {
        Ok(move_into_link_name_space(self.namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
    }

    /// Does `work` on a thread inside the namespace and waits for it: a listener or a connection that it makes works
    /// everywhere afterwards, and a child process stays there.
    ///
    /// # Errors
    /// As [`Door::enter`], or when there is no thread to be had.
    ///
    /// # Panics
    /// When `work` does.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        std::thread::scope(|scope| {
            let inside = std::thread::Builder::new().name("within".to_owned()).spawn_scoped(scope, || {
                self.enter()?;
                Ok(work())
            })?;
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Runs a program inside the namespace until it ends, and passes its number to `started` once it runs. If this
    /// process is killed, the kernel sends the program SIGTERM.
    ///
    /// # Errors
    /// As [`Door::enter`], or when the program cannot be started.
    pub fn run(&self, command: &mut Command, started: impl FnOnce(u32) + Send) -> io::Result<ExitStatus> {
        end_with_this_thread(command);
        self.within(|| {
            let mut child = command.spawn()?;
            started(child.id());
            child.wait()
        })?
    }

    /// The file that other programs can enter it by while this process has it, such as `nsenter --net=FILE`.
    #[must_use]
    pub fn file(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.namespace.as_raw_fd())
    }
}

/// A new namespace whose end of the line has the address `own` and leads to `peer`, and the descriptor by which its
/// packets come and go.
pub(super) fn make(own: Ipv4Addr, peer: Ipv4Addr) -> io::Result<(Door, OwnedFd)> {
    // A thread of its own, since whoever unshares has left where it was.
    let maker = std::thread::Builder::new().name("namespace".to_owned()).spawn(move || make_here(own, peer))?;
    maker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn make_here(own: Ipv4Addr, peer: Ipv4Addr) -> io::Result<(Door, OwnedFd)> {
    unshare_network().map_err(|error| explained(error, "a network namespace of its own"))?;
    let door = Door::here()?;
    let device = open_device().map_err(|error| explained(error, "a TUN device"))?;
    set_up(own, peer).map_err(|error| explained(error, "addresses for its TUN device"))?;
    Ok((door, device))
}

/// Even who is killed leaves no program behind.
#[allow(unsafe_code, reason = "std has no other way to ask the kernel for it between fork and exec")]
fn end_with_this_thread(command: &mut Command) {
    // Between fork and exec only one system call is made, which neither allocates nor locks.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?));
    }
}

/// Leaves the network namespace for a new one.
fn unshare_network() -> io::Result<()> {
    // Unsafe is only the unsharing of the table of descriptors, which is not asked for.
    #[allow(unsafe_code, reason = "unshare(2) has no safe wrapper; this thread's network alone is unshared")]
    let unshared = unsafe { unshare_unsafe(UnshareFlags::NEWNET) };
    Ok(unshared?)
}

/// A TUN device in the namespace of the calling thread; it goes with the descriptor.
fn open_device() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let device = open("/dev/net/tun", flags, Mode::empty()).map_err(|error| match error {
        // The file is there, and the module of the kernel is not.
        Errno::NODEV | Errno::NXIO => io::Error::new(ErrorKind::Unsupported, "the kernel has none"),
        error => error.into(),
    })?;
    let mut request = InterfaceRequest { name: [0; 16], flags: PLAIN_PACKETS, rest: [0; 22] };
    request.name[..DEVICE.len()].copy_from_slice(DEVICE.as_bytes());
    // The kernel reads and writes one `struct ifreq`, whose size this request has.
    #[allow(unsafe_code, reason = "TUNSETIFF has no safe wrapper")]
    unsafe {
        ioctl(&device, Updater::<SET_INTERFACE, InterfaceRequest>::new(&mut request))?;
    }
    Ok(device)
}

fn set_up(own: Ipv4Addr, peer: Ipv4Addr) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    let loopback = netlink.index_of("lo")?;
    netlink.loopback_up(loopback)?;
    netlink.delete_address(loopback, LOOPBACK, LOOPBACK_PREFIX_FIRST)?;
    netlink.add_address(loopback, LOOPBACK, LOOPBACK, LOOPBACK_PREFIX)?;
    let device = netlink.index_of(DEVICE)?;
    netlink.device_up(device, MTU_BYTES as u32, KERNEL_PACKETS_MAX)?;
    netlink.add_address(device, own, peer, 32)?;
    // Else a connection would begin with what an earlier one has learnt of the way. Where /proc/sys cannot be written,
    // it does.
    let _ = std::fs::write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1");
    Ok(())
}

/// Says what was tried, and what is missing.
fn explained(error: io::Error, what: &str) -> io::Error {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            let message = format!("needs {what}, which only root can make (CAP_SYS_ADMIN and CAP_NET_ADMIN)");
            io::Error::new(ErrorKind::PermissionDenied, message)
        }
        ErrorKind::NotFound => {
            io::Error::new(ErrorKind::Unsupported, format!("needs {what}, but this machine has no /dev/net/tun"))
        }
        kind => io::Error::new(kind, format!("needs {what}: {error}")),
    }
}

/// `struct ifreq` of linux/if.h, as TUNSETIFF reads it.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

const _: () = assert!(size_of::<InterfaceRequest>() == size_of::<libc::ifreq>(), "the kernel reads a struct ifreq");
