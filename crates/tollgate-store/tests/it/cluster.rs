//! A PostgreSQL server of the tests' own: created in a folder of its own, on a free port of this machine, and removed
//! with the test process, however that ends.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tollgate_net::listen::Reserved;

/// Users to run the server as if the tests run as root, since it refuses to run as root.
const USERS: [&str; 2] = ["postgres", "nobody"];

/// The password of the server's one user, with all characters that a URL must encode.
const PASSWORD: &str = "pass:word/with@all?of%it";

/// A server.
pub(crate) struct Cluster {
    /// Keeps the port reserved, so that the server can always start on it.
    reserved: Reserved,
    folder: PathBuf,
    binaries: PathBuf,
    user: Option<(u32, u32)>,
    /// Stops the server when its input ends.
    watcher: Child,
}

/// The server of this process, started on first use; `None` if PostgreSQL is not installed.
pub(crate) fn cluster() -> Option<&'static Cluster> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    CLUSTER.get_or_init(|| Some(Cluster::start(&binaries()?))).as_ref()
}

/// The folder of `initdb`: on the path, or where Debian puts the newest version.
fn binaries() -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let mut installed: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.filter_map(|version| Some(version.ok()?.path().join("bin"))).collect())
        .unwrap_or_default();
    let version = |bin: &PathBuf| bin.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    installed.sort_by_key(version);
    on_path
        .unwrap_or_default()
        .into_iter()
        .chain(installed.into_iter().rev())
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

/// The user and group to run as, if it must not be this process's.
fn user() -> Option<(u32, u32)> {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap();
    if uid.split_whitespace().nth(1) != Some("0") {
        return None;
    }
    let accounts = fs::read_to_string("/etc/passwd").unwrap();
    let of = |user: &&str| {
        let fields: Vec<_> = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>()).collect();
        let account = fields.into_iter().find(|fields| fields[0] == *user)?;
        Some((account[2].parse().unwrap(), account[3].parse().unwrap()))
    };
    USERS.iter().find_map(of)
}

impl Cluster {
    /// Another server; `None` if PostgreSQL is not installed.
    pub(crate) fn another() -> Option<Cluster> {
        Some(Cluster::start(&binaries()?))
    }

    fn start(binaries: &Path) -> Cluster {
        let user = user();
        let folder = tempfile::Builder::new().prefix("tollgate-postgres-").tempdir().unwrap().keep();
        let reserved = Reserved::on_loopback().unwrap();
        let port = reserved.address().port();
        let password = folder.join("password");
        fs::write(&password, PASSWORD).unwrap();
        for path in [&folder, &password] {
            user.map_or(Ok(()), |(user, group)| chown(path, Some(user), Some(group))).unwrap();
        }
        // Another order of texts than by code points, so that nothing relies on the database's own.
        let made = command(user, &binaries.join("initdb"))
            .arg("-D")
            .arg(folder.join("data"))
            .args(["-U", "tollgate", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8"])
            .args(["--locale-provider=icu", "--icu-locale=en-US"])
            .arg(format!("--pwfile={}", password.display()))
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let settings = format!(
            "port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{}'\nmax_connections = 1000\n\
             shared_buffers = 16MB\nmax_locks_per_transaction = 256\n",
            folder.display()
        );
        let mut configuration = fs::OpenOptions::new().append(true).open(folder.join("data/postgresql.conf")).unwrap();
        configuration.write_all(settings.as_bytes()).unwrap();
        // It waits until its input ends, which is when this process does, and then clears up.
        let mut watcher = command(user, Path::new("/bin/sh"))
            .arg("-c")
            .arg(
                "\"$1/pg_ctl\" -D \"$2/data\" -l \"$2/log\" -s -w start && echo started; cat > /dev/null; \
                  \"$1/pg_ctl\" -D \"$2/data\" -s -m immediate stop; rm -rf \"$2\"",
            )
            .args([Path::new("sh"), binaries, &folder])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = watcher.stdout.take().unwrap();
        let cluster = Cluster { reserved, folder, binaries: binaries.to_owned(), user, watcher };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        let log = || fs::read_to_string(cluster.folder.join("log")).unwrap_or_default();
        assert_eq!(line.trim(), "started", "{}", log());
        cluster
    }

    fn port(&self) -> u16 {
        self.reserved.address().port()
    }

    /// A URL with these options.
    pub(crate) fn url(&self, options: &str) -> String {
        let encoded: String = PASSWORD.bytes().map(|byte| format!("%{byte:02x}")).collect();
        format!("postgres://tollgate:{encoded}@127.0.0.1:{}/postgres?{options}", self.port())
    }

    /// A URL over the server's Unix socket.
    pub(crate) fn socket_url(&self, options: &str) -> String {
        format!("{}&host={}", self.url(options), self.folder.display())
    }

    /// A schema that no other test uses.
    pub(crate) fn new_schema(&self) -> String {
        static SCHEMAS: AtomicU32 = AtomicU32::new(0);
        let schema = format!("w{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
        self.run(&format!("CREATE SCHEMA {schema}"));
        schema
    }

    /// Runs SQL with a connection independent of the store's.
    pub(crate) fn run(&self, sql: &str) {
        self.client().batch_execute(sql).unwrap();
    }

    pub(crate) fn client(&self) -> postgres::Client {
        let mut config = postgres::Client::configure();
        config.host_path(&self.folder).port(self.port()).user("tollgate").password(PASSWORD).dbname("postgres");
        config.connect(postgres::NoTls).unwrap()
    }

    /// Ends the server as a crash would, and starts it again; returns when it is up.
    pub(crate) fn crash_and_restart(&self) {
        let restarted = command(self.user, &self.binaries.join("pg_ctl"))
            .arg("-D")
            .arg(self.folder.join("data"))
            .arg("-l")
            .arg(self.folder.join("log"))
            .args(["-s", "-w", "-m", "immediate", "restart"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(restarted.success());
    }
}

/// Stops the server: the shared one when the process ends, any other when it is no longer used.
impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.watcher.stdin.take());
        let _ = self.watcher.wait();
    }
}

fn command(user: Option<(u32, u32)>, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/");
    if let Some((user, group)) = user {
        command.uid(user).gid(group);
    }
    command
}
