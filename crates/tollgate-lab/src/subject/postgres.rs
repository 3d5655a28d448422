//! A PostgreSQL server of the run, from the machine's packages: a cluster in a private folder, on a free port, with a
//! random password. It is removed with this value, or when the process that has it ends, however that happens.
//!
//! It does not connect to the server (the subject does), install it, or replace it if it is missing.

use std::fmt;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tollgate_net::listen::Reserved;

use crate::cores::Cores;
use crate::probe::process;
use crate::secret;

/// Folder of the programs of each version on Debian.
const DEBIAN: &str = "/usr/lib/postgresql";
/// Users under which it runs if this process runs as root, which PostgreSQL refuses; the first existing one is used.
const USERS: [&str; 2] = ["postgres", "nobody"];
/// The only user of the server, and its database.
const USER: &str = "tollgate";
const DATABASE: &str = "postgres";
/// Most connections that it accepts: those of a whole tuning ladder, and a few for inspection.
const CONNECTIONS_MAX: u32 = 200;
/// Bytes of its log that are quoted if it does not start.
const LOG_BYTES_MAX: u64 = 2000;

/// Shell script that starts the server, reports the outcome, waits until its input ends, stops the server and cleans
/// up. Its input ends with this process.
const KEEPER: &str = r#""$1/pg_ctl" -D "$2/data" -l "$2/log" -s -w start && echo started || echo failed
cat > /dev/null
"$1/pg_ctl" -D "$2/data" -s -m immediate stop
rm -rf "$2""#;

/// Reason why there is no server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostgresError {
    /// It is not installed.
    #[error(
        "PostgreSQL is not installed, and nothing else stands in for it: `apt-get install postgresql` installs it (initdb is \
         looked for in $PATH and below {DEBIAN})"
    )]
    Missing,
    /// It is installed but does not start; with its log.
    #[error("PostgreSQL does not start: {0}")]
    Failed(String),
}

/// A running server.
#[derive(Debug)]
pub struct Postgres {
    /// Its port: reserved until the server listens.
    reserved: Reserved,
    password: String,
    folder: TempDir,
    /// Its version, such as `15`.
    pub(crate) version: String,
    /// Stops the server and removes its folder when its input ends.
    keeper: Child,
}

/// Returns the folder with the programs of an installed PostgreSQL: one on the path, else the newest of Debian's below
/// /usr/lib/postgresql.
///
/// # Errors
/// [`PostgresError::Missing`].
pub(crate) fn programs() -> Result<PathBuf, PostgresError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = fs::read_dir(DEBIAN).map(|versions| newest_first(versions.flatten().map(|version| version.path())));
    let mut folders = std::env::split_paths(&path).chain(debian.unwrap_or_default());
    let is_whole = |folder: &PathBuf| ["initdb", "postgres", "pg_ctl"].iter().all(|name| folder.join(name).is_file());
    folders.find(is_whole).ok_or(PostgresError::Missing)
}

impl Postgres {
    /// Creates a cluster and starts it at `address` on the generator's cores, as if the subject's database were on
    /// another machine. `settings` are lines of `postgresql.conf`, name and value.
    ///
    /// # Errors
    /// A missing installation, or the server's log.
    pub fn start(address: IpAddr, settings: &[(&str, &str)], cores: &Cores) -> Result<Postgres, PostgresError> {
        let programs = programs()?;
        let password = secret::drawn().map_err(PostgresError::Failed)?;
        let user = user_for_root();
        let failed = |what: &str, error: &dyn fmt::Display| PostgresError::Failed(format!("{what}: {error}"));
        // The keeper removes it as well, which outlives a process that is killed.
        let private = Permissions::from_mode(0o700);
        let made = tempfile::Builder::new().prefix("tollgate-postgres-").permissions(private).tempdir();
        let kept = made.and_then(|folder| given_to(user, folder.path()).map(|()| folder));
        let kept = kept.map_err(|error| PostgresError::Failed(error.to_string()))?;
        let folder = kept.path();
        let password_file = folder.join("password");
        secret::write(&password_file, &password)
            .and_then(|()| given_to(user, &password_file))
            .map_err(|error| failed("its password", &error))?;
        let data = folder.join("data");
        let made = command(user, &programs.join("initdb"))
            .args(["-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "-U", USER])
            .arg(format!("--pwfile={}", password_file.display()))
            .arg("-D")
            .arg(&data)
            .output()
            .map_err(|error| failed("initdb", &error))?;
        if !made.status.success() {
            return Err(failed("initdb", &String::from_utf8_lossy(&made.stderr).trim()));
        }
        let version = fs::read_to_string(data.join("PG_VERSION")).unwrap_or_default().trim().to_owned();
        let reserved = Reserved::at(address).map_err(|error| failed(&format!("no port of {address}"), &error))?;
        let append = |file: &str, text: String| {
            let opened = OpenOptions::new().append(true).open(data.join(file));
            opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| failed(file, &error))
        };
        append("postgresql.conf", configuration(reserved.address(), folder, settings))?;
        append("pg_hba.conf", "host all all 127.0.0.0/8 scram-sha-256\n".to_owned())?;
        let mut keeper = command(user, Path::new("/bin/sh"));
        keeper.args(["-c", KEEPER, "sh"]).arg(&programs).arg(folder);
        // Of a group of its own: a terminal's interrupt is for the lab, which then ends the server itself.
        keeper.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut keeper = cores.as_generator(|| keeper.spawn()).map_err(|error| failed("sh", &error))?;
        let output = keeper.stdout.take().expect("standard output is piped");
        let server = Postgres { reserved, password, folder: kept, version, keeper };
        let mut line = String::new();
        match BufReader::new(output).read_line(&mut line) {
            Ok(_) if line.trim() == "started" => Ok(server),
            _ => Err(PostgresError::Failed(server.last_words())),
        }
    }

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.reserved.address()
    }

    /// Returns the URL of its database by way of `address`, such as that of a link to it. It contains the password.
    pub fn url_by(&self, address: SocketAddr) -> String {
        format!("postgres://{USER}:{}@{address}/{DATABASE}", self.password)
    }

    /// Returns the URL of its database. It contains the password.
    pub fn url(&self) -> String {
        self.url_by(self.address())
    }

    /// Returns the main process of the server; absent once it has ended.
    pub fn process(&self) -> Option<u32> {
        let text = fs::read_to_string(self.folder.path().join("data/postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok()
    }

    /// Returns the user and system time of all its processes, including ended ones, in microseconds; each process
    /// counts in steps of 10 ms. Absent once the server has ended.
    pub fn cpu_us(&self) -> Option<f64> {
        let server = self.process()?;
        let own = process::stat(server)?;
        let children = fs::read_to_string(format!("/proc/{server}/task/{server}/children")).ok()?;
        // One that ends between two reads is missing once.
        let living = children.split_whitespace().filter_map(|child| Some(process::stat(child.parse().ok()?)?.cpu_ns));
        Some((own.cpu_ns + own.children_ns + living.sum::<u64>()) as f64 / 1e3)
    }

    fn last_words(&self) -> String {
        let mut words = String::new();
        let log = fs::File::open(self.folder.path().join("log"));
        let read = log.and_then(|log| log.take(LOG_BYTES_MAX).read_to_string(&mut words));
        match read {
            Ok(_) if !words.trim().is_empty() => words.trim().replace('\n', " | "),
            _ => "it left no word in its log".to_owned(),
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn newest_first(versions: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let number = |path: &PathBuf| -> u32 {
        let name = path.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.parse().ok()).unwrap_or(0)
    };
    let mut versions: Vec<PathBuf> = versions.collect();
    versions.sort_by_key(|path| std::cmp::Reverse(number(path)));
    versions.into_iter().map(|version| version.join("bin")).collect()
}

fn configuration(address: SocketAddr, folder: &Path, settings: &[(&str, &str)]) -> String {
    let mut text = format!(
        "port = {}\nlisten_addresses = '{}'\nunix_socket_directories = '{}'\nmax_connections = {CONNECTIONS_MAX}\n",
        address.port(),
        address.ip(),
        folder.display()
    );
    settings.iter().for_each(|(name, value)| text.push_str(&format!("{name} = '{value}'\n")));
    text
}

fn given_to(user: Option<(u32, u32)>, path: &Path) -> io::Result<()> {
    user.map_or(Ok(()), |(user, group)| chown(path, Some(user), Some(group)))
}

/// Returns the user and group under which it runs, if this process runs as root.
fn user_for_root() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    account(&fs::read_to_string("/etc/passwd").unwrap_or_default())
}

fn account(accounts: &str) -> Option<(u32, u32)> {
    let of = |name: &&str| {
        let mut fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let fields = fields.find(|fields| fields.first() == Some(name))?;
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    };
    USERS.iter().find_map(of)
}

fn command(user: Option<(u32, u32)>, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/");
    if let Some((user, group)) = user {
        command.uid(user).gid(group);
    }
    command
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn the_newest_version_is_the_greatest_number() {
        let found = newest_first(["/p/9", "/p/15", "/p/README"].map(PathBuf::from).into_iter());
        assert_eq!(found, ["/p/15/bin", "/p/9/bin", "/p/README/bin"].map(PathBuf::from));
    }

    #[test]
    fn root_gives_the_server_to_the_first_user_that_there_is() {
        let check =
            |accounts: &str, expected: Option<(u32, u32)>| assert_eq!(account(accounts), expected, "{accounts}");
        check("root:x:0:0::/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\n", Some((65534, 65533)));
        check("nobody:x:1:2::/:/\npostgres:x:107:113::/:/bin/sh", Some((107, 113)));
        check("root:x:0:0::/root:/bin/sh\npostgres", None);
    }

    #[test]
    fn a_server_answers_at_its_address_and_leaves_nothing_behind() {
        let started = Postgres::start(LOCAL, &[], &Cores::default());
        let server = match started {
            Err(PostgresError::Missing) => return eprintln!("skipped: PostgreSQL is not installed"),
            other => other.unwrap(),
        };
        // A request for encryption is answered by one byte, S or N, before anybody says who it is.
        let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
        stream.write_all(&[0, 0, 0, 8, 4, 210, 22, 47]).unwrap();
        let mut answer = [0];
        stream.read_exact(&mut answer).unwrap();
        assert!(matches!(answer[0], b'S' | b'N'), "{answer:?}");
        let (folder, address) = (server.folder.path().to_owned(), server.address());
        assert!(server.url().starts_with("postgres://tollgate:") && !server.version.is_empty());
        assert!(server.process().is_some() && server.cpu_us().is_some());
        drop(server);
        assert!(!folder.exists() && std::net::TcpStream::connect(address).is_err());
    }

    #[test]
    fn one_that_does_not_start_is_quoted_and_cleared_up() {
        let started = Postgres::start(LOCAL, &[("shared_buffers", "many")], &Cores::default());
        match started.unwrap_err() {
            PostgresError::Missing => eprintln!("skipped: PostgreSQL is not installed"),
            PostgresError::Failed(message) => assert!(message.contains("shared_buffers"), "{message}"),
        }
    }
}
