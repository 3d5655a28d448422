//! `tollgate cert`: a development authority, and certificates for a server or a client, as files in PEM.
//!
//! Making keys and certificates is not here. Existing files are kept: an authority is used again, and no key is
//! overwritten unless requested.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::{Args, ValueEnum, value_parser};
use tollgate_net::tls::authority::{Authority, INTERMEDIATES_MAX, Issued, KeyKind, Validity};

use crate::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  tollgate cert --out certificates           an authority, and a certificate for localhost and 127.0.0.1
  tollgate cert --out certificates --key rsa-4096 --chain 3 --name gateway.example
  tollgate cert --out certificates --client alice@example.org

Files: ca.pem and ca.key (an authority that is there already is used again), then server.pem (the certificate, its intermediates behind it) and server.key, or client-NAME.pem and client-NAME.key. Keys can be read by their owner only. It is for development: clients must be told to trust ca.pem, and nobody else should.";

/// Arguments of `cert`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder for the files; it is made where it is not there
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,

    /// The kind of key, of a new authority too; RSA-4096 takes seconds
    #[arg(long, value_name = "KIND", default_value = "p256")]
    key: Kind,

    /// How many certificates a server shows: its own, and intermediates between it and the authority
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u8).range(1..=i64::from(INTERMEDIATES_MAX) + 1))]
    chain: u8,

    /// A name or an address that the server is reached by, given as often as it has names [default: localhost,
    /// 127.0.0.1]
    #[arg(long, value_name = "NAME", conflicts_with = "client")]
    name: Vec<String>,

    /// Make a client's certificate instead: the name, a mail address or a URI
    #[arg(long, value_name = "NAME", conflicts_with = "chain")]
    client: Option<String>,

    /// Days that the certificate is valid; an authority is valid for ten years
    #[arg(long, value_name = "N", default_value_t = 365, value_parser = value_parser!(u32).range(1..=36_500))]
    days: u32,

    /// Overwrite the certificate and the key that are there; never the authority
    #[arg(long)]
    force: bool,
}

/// A kind of key on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// ECDSA over NIST P-256
    P256,
    /// RSA of 2,048 bits
    #[value(name = "rsa-2048")]
    Rsa2048,
    /// RSA of 4,096 bits
    #[value(name = "rsa-4096")]
    Rsa4096,
}

/// The permitted readers of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Secrecy {
    Public,
    Secret,
}

/// Largest file of an authority that is read.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Makes the requested files, and prints their names.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let kind = match arguments.key {
        Kind::P256 => KeyKind::P256,
        Kind::Rsa2048 => KeyKind::Rsa2048,
        Kind::Rsa4096 => KeyKind::Rsa4096,
    };
    let stem = match &arguments.client {
        None => "server".to_owned(),
        Some(name) => format!("client-{}", file_name(name)),
    };
    let certificate = arguments.out.join(format!("{stem}.pem"));
    let key = arguments.out.join(format!("{stem}.key"));
    if !arguments.force
        && let Some(there) = [&certificate, &key].into_iter().find(|file| file.exists())
    {
        return Err(Failure::failed(format_args!("{} is there already", there.display()))
            .hint("another folder with --out, or --force to overwrite it"));
    }
    fs::create_dir_all(&arguments.out).map_err(|error| refused(&arguments.out, "made", &error))?;
    let authority = authority(arguments, kind, out)?;
    let validity = Validity::days(SystemTime::now(), arguments.days);
    let issued = match &arguments.client {
        Some(name) => authority.client(kind, name, validity),
        None if arguments.name.is_empty() => {
            let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
            authority.server(kind, &names, arguments.chain - 1, validity)
        }
        None => authority.server(kind, &arguments.name, arguments.chain - 1, validity),
    };
    let Issued { certificate: certificate_pem, key: key_pem } = issued.map_err(Failure::usage)?;
    // The key first: a certificate without its key is of no use to anybody.
    write(&key, &key_pem, Secrecy::Secret, out)?;
    write(&certificate, &certificate_pem, Secrecy::Public, out)?;
    Ok(Exit::Done)
}

/// The authority in the folder, made if there is none.
fn authority(arguments: &Arguments, kind: KeyKind, out: &mut dyn Write) -> Result<Authority, Failure> {
    let (certificate, key) = (arguments.out.join("ca.pem"), arguments.out.join("ca.key"));
    match (certificate.exists(), key.exists()) {
        (true, true) => Authority::from_pem(&read(&certificate)?, &read(&key)?)
            .map_err(|error| Failure::failed(format_args!("{}: {error}", certificate.display()))),
        (false, false) => {
            let made = Authority::new(kind, SystemTime::now()).map_err(Failure::failed)?;
            write(&key, made.key(), Secrecy::Secret, out)?;
            write(&certificate, made.certificate(), Secrecy::Public, out)?;
            Ok(made)
        }
        (true, false) => Err(Failure::failed(format_args!(
            "{} is there without its key: nothing can be issued by it",
            certificate.display()
        ))),
        (false, true) => Err(Failure::failed(format_args!("{} is there without its certificate", key.display()))),
    }
}

/// A name as a file's: any character but a letter, digit, dot, underscore, dash or at sign becomes a dash.
fn file_name(name: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || ".-_@".contains(character);
    name.chars().map(|character| if plain(character) { character } else { '-' }).collect()
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
    read.map_err(|error| refused(path, "read", &error))?;
    Ok(text)
}

/// Writes a file beside its place and moves it there, so that nobody sees half of it, or a key that others may read.
fn write(path: &Path, text: &str, secrecy: Secrecy, out: &mut dyn Write) -> Result<(), Failure> {
    let told = |error| refused(path, "written", &error);
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let mode = match secrecy {
        Secrecy::Public => 0o644,
        Secrecy::Secret => 0o600,
    };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside).map_err(told)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| fs::rename(&beside, path)) {
        // Half a file is nobody's.
        let _ = fs::remove_file(&beside);
        return Err(told(error));
    }
    writeln!(out, "{}", path.display()).map_err(Failure::output)
}

fn refused(path: &Path, what: &str, error: &io::Error) -> Failure {
    Failure::failed(format_args!("{} cannot be {what}: {error}", path.display()))
}
