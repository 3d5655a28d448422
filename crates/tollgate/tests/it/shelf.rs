//! A small foreign OData service. It requires a key for all requests, in a field or a cookie, the token that it issued
//! for writes, and `If-Match` for deletions. It takes no batches.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

const METADATA: &str = r#"<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Book">
    <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="title" Type="Edm.String" MaxLength="20"/><Property Name="stock" Type="Edm.Int32"/>
    <Property Name="price" Type="Edm.Decimal" Precision="9" Scale="2"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Books" EntityType="N.Book"/></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>"#;

/// The response to a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deleting {
    /// Success, if `If-Match` is sent.
    WithMatch,
    /// Forbidden.
    Never,
    /// Success, too, but the service lists no books.
    Unseen,
}

/// A running service; it ends with the test program.
pub(crate) struct Shelf {
    /// The URL of its books.
    pub(crate) url: String,
    rows: Arc<Mutex<Rows>>,
}

#[derive(Debug, Default)]
struct Rows {
    books: BTreeMap<i64, Value>,
    posted: Vec<Value>,
}

impl Shelf {
    /// Starts it with one book.
    pub(crate) fn start(key: &'static str, deleting: Deleting) -> Shelf {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/s/Books", listener.local_addr().unwrap());
        let first = Rows { books: BTreeMap::from([(1, json!({"ID": 1, "title": "Old"}))]), ..Rows::default() };
        let rows = Arc::new(Mutex::new(first));
        let shared = Arc::clone(&rows);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, rows) = (stream.unwrap(), Arc::clone(&shared));
                std::thread::spawn(move || while answer(&stream, &rows, key, deleting).is_some() {});
            }
        });
        Shelf { url, rows }
    }

    /// Number of books.
    pub(crate) fn count(&self) -> usize {
        self.rows.lock().unwrap().books.len()
    }

    /// Bodies posted so far.
    pub(crate) fn posted(&self) -> Vec<Value> {
        self.rows.lock().unwrap().posted.clone()
    }
}

/// Answers one request, unless the connection is over.
fn answer(stream: &TcpStream, rows: &Mutex<Rows>, key: &str, deleting: Deleting) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut fields = BTreeMap::new();
    loop {
        let mut field = String::new();
        reader.read_line(&mut field).ok()?;
        let Some((name, value)) = field.trim_end().split_once(": ") else { break };
        fields.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = fields.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let field = |name: &str| fields.get(name).map(String::as_str);
    let (token, cookie) = (format!("token of {key}"), format!("session={key}"));
    let has_cookie = |pair: &str| field("cookie").is_some_and(|all| all.split("; ").any(|one| one == pair));
    let may_write = field("x-csrf-token") == Some(&token) && has_cookie(&cookie);

    let Rows { books, posted } = &mut *rows.lock().unwrap();
    let below = path.strip_prefix("/s/").unwrap_or_default();
    let (status, text) = match (&*method, below) {
        _ if field("x-key") != Some(key) && !has_cookie(&format!("key={key}")) => (401, String::new()),
        ("GET", "$metadata") => (200, METADATA.to_owned()),
        ("GET", "Books/$count") => (200, books.len().to_string()),
        ("GET", "Books") if deleting == Deleting::Unseen => (200, json!({"value": []}).to_string()),
        ("GET", "Books") => (200, json!({"value": books.values().collect::<Vec<_>>()}).to_string()),
        ("POST" | "DELETE", _) if !may_write => (403, "no token".to_owned()),
        ("POST", "Books") => {
            let book: Value = serde_json::from_slice(&body).unwrap();
            posted.push(book.clone());
            match books.insert(book["ID"].as_i64().unwrap(), book) {
                None => (201, String::new()),
                Some(_) => (409, "there is such a book".to_owned()),
            }
        }
        ("DELETE", _) if deleting == Deleting::Never => (403, "books stay".to_owned()),
        ("DELETE", _) if field("if-match").is_none() => (428, "say If-Match".to_owned()),
        ("DELETE", _) => {
            let id = below.strip_prefix("Books(").and_then(|rest| rest.strip_suffix(')')).map(str::parse);
            let gone = id.and_then(Result::ok).and_then(|id: i64| books.remove(&id));
            (if gone.is_some() { 204 } else { 404 }, String::new())
        }
        _ => (404, String::new()),
    };
    let length = if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", text.len()) };
    let head = format!("HTTP/1.1 {status} -\r\nX-CSRF-Token: {token}\r\nSet-Cookie: {cookie}\r\n{length}\r\n");
    let mut stream = stream;
    stream.write_all((head + &text).as_bytes()).ok()
}
