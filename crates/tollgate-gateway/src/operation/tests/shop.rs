//! A small shop over a database that was made elsewhere: keys that the database gives, foreign keys that may be null, a
//! condition, a default, and an ETag that is the time of the last change.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tollgate_net::http1::Method;
use tollgate_wire::edm::{
    Association, AssociationEnd, Changes, EntitySet, EntityType, LeafId, Model, Multiplicity, NavigationProperty,
    Primitive, Property, PropertyKind, Provided, SetId, TypeId, Version,
};
use tollgate_wire::value::Value;

use crate::config::rules::Rules;
use crate::hosted::{Hosted, Opened};
use crate::http::answer::Answer;
use crate::http::headers::Headers;
use crate::operation::head::negotiation;
use crate::operation::{Author, ContentIds, Request, perform};
use crate::store::sqlite::{Location, SqliteDatabase};
use crate::store::{self, Connection, Mapping, Store};
use crate::work::pool::{Locking, Pool};
use crate::work::weight::Rows;

const TABLES: &str = "
    CREATE TABLE Customer (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, status TEXT DEFAULT 'none',
        referrer INTEGER REFERENCES Customer, big TEXT AS (upper(name))
    );
    CREATE TABLE Purchase (
        id TEXT PRIMARY KEY, customer INTEGER REFERENCES Customer, total TEXT CHECK (total <> '13'),
        createdAt TEXT, createdBy TEXT, modifiedAt TEXT, modifiedBy TEXT, note TEXT UNIQUE
    );
";

const CUSTOMER: SetId = SetId(0);
const PURCHASE: SetId = SetId(1);

fn model() -> Model {
    let text = Primitive::String { length_max: 0 };
    let time = Primitive::DateTimeOffset { precision: 6 };
    let property = |(name, primitive, nullable): (&str, Primitive, bool)| Property {
        name: name.into(),
        kind: PropertyKind::Primitive(primitive),
        nullable,
        annotations: Default::default(),
    };
    let entity = |name: &str, properties: &[(&'static str, Primitive, bool)]| EntityType {
        name: name.into(),
        properties: properties.iter().copied().map(property).collect(),
        key: vec![LeafId(0)],
        ..EntityType::default()
    };
    let set = |name: &str, position| EntitySet {
        name: name.into(),
        entity_type: TypeId(position),
        label: None,
        changes: Changes::ALL,
    };
    let mut customer = entity(
        "Customer",
        &[
            ("id", Primitive::Int64, false),
            ("name", text, false),
            ("status", text, true),
            ("referrer", Primitive::Int64, true),
            ("big", text, true),
        ],
    );
    customer.provided = vec![
        (LeafId(0), Provided::Database),
        (LeafId(2), Provided::Default(Value::String("new".into()))),
        (LeafId(4), Provided::Computed),
    ];
    let mut purchase = entity(
        "Purchase",
        &[
            ("id", Primitive::Guid, false),
            ("customer", Primitive::Int64, true),
            ("total", Primitive::Decimal { precision: 10, scale: 2 }, true),
            ("createdAt", time, true),
            ("createdBy", text, true),
            ("modifiedAt", time, true),
            ("modifiedBy", text, true),
            ("note", text, true),
        ],
    );
    purchase.etag = Some(LeafId(5));
    purchase.provided = vec![
        (LeafId(0), Provided::Uuid),
        (LeafId(3), Provided::CreatedAt),
        (LeafId(4), Provided::CreatedBy),
        (LeafId(5), Provided::ModifiedAt),
        (LeafId(6), Provided::ModifiedBy),
    ];
    let mut model = Model {
        namespace: "shop".into(),
        container: "shop".into(),
        entity_types: vec![customer, purchase],
        entity_sets: vec![set("Customers", 0), set("Purchases", 1)],
        ..Model::default()
    };
    model.finish();
    relate(&mut model, "CustomerPurchases", (PURCHASE, LeafId(1)), ("purchases", "customer_"));
    relate(&mut model, "Referral", (CUSTOMER, LeafId(3)), ("referred", "referrer_"));
    model
}

/// The leaf of `dependent` refers to a customer, and both ends have a name.
fn relate(model: &mut Model, name: &str, dependent: (SetId, LeafId), ends: (&str, &str)) {
    let (set, leaf) = dependent;
    let id = LeafId(0);
    let navigation = |name: &str, target, multiplicity, on, association: &str| NavigationProperty {
        name: name.into(),
        target,
        multiplicity,
        on,
        association: association.into(),
        partner: None,
    };
    let types = &mut model.entity_types;
    types[CUSTOMER.0].navigation.push(navigation(ends.0, set, Multiplicity::Many, vec![(id, leaf)], name));
    types[set.0].navigation.push(navigation(ends.1, CUSTOMER, Multiplicity::ZeroOrOne, vec![(leaf, id)], name));
    let end = |role: &str, set, multiplicity| AssociationEnd { role: role.into(), set, multiplicity };
    model.associations.push(Association {
        name: name.into(),
        ends: [end("principal", CUSTOMER, Multiplicity::ZeroOrOne), end("dependent", set, Multiplicity::Many)],
        constraint: vec![(id, leaf)],
    });
}

/// The shop, one connection to it, and a clock that only its hand moves.
pub(super) struct Shop {
    hosted: Hosted,
    pub(super) connection: Connection,
    pub(super) now: SystemTime,
    pub(super) content_ids: ContentIds,
    _folder: tempfile::TempDir,
}

/// The fields of a request.
struct Fields<'f>(&'f [(&'f str, &'f str)]);

impl Headers for Fields<'_> {
    fn value(&self, name: &str, index: usize) -> Option<&str> {
        self.0.iter().filter(|field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1).nth(index)
    }
}

/// What was answered, as text.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: String,
    pub(super) address: String,
}

impl Told {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1.as_str())
    }

    pub(super) fn expect(&self, status: u16, fragment: &str) -> &Told {
        assert!(
            self.status == status && self.body.contains(fragment),
            "expected {status} with {fragment:?}, got {self:?}"
        );
        self
    }
}

impl Shop {
    pub(super) fn open() -> Shop {
        Shop::open_with(Changes::ALL)
    }

    /// A shop whose customers can be changed only so.
    pub(super) fn open_with(customers: Changes) -> Shop {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch(TABLES).unwrap();
        let mut model = model();
        model.entity_sets[CUSTOMER.0].changes = customers;
        let database = SqliteDatabase::open(Location::File(path), Mapping::by_type_name(&model)).unwrap();
        let connection = Connection::Sqlite(database.connection().unwrap());
        let pool = Pool::new(Vec::new(), Locking::writers(), 0, Duration::ZERO);
        let rows = Rows::default();
        let opened = Opened { model, database: store::Database::Sqlite(database), pool, rows };
        let hosted = opened.hosted("shop".to_owned(), Rules::default());
        let now = UNIX_EPOCH + Duration::from_secs(1_380_110_400);
        Shop { hosted, connection, now, content_ids: ContentIds::default(), _folder: folder }
    }

    /// Does an operation of V4 in a transaction of its own.
    pub(super) fn ask(&mut self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Told {
        self.connection.begin().unwrap();
        let told = self.perform(method, path, headers, body);
        match told.status < 400 {
            true => self.connection.commit().unwrap(),
            false => self.connection.rollback(),
        }
        told
    }

    /// Does an operation of V4 inside a transaction that is open.
    pub(super) fn perform(&mut self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Told {
        let fields = Fields(headers);
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let request = Request {
            method,
            path,
            query,
            version: Version::V4,
            root: "http://localhost/shop/",
            headers: &fields,
            body: body.as_bytes(),
            content_ids: &self.content_ids,
            author: &Author::noted(&self.hosted.rules, &fields, self.now),
            page_size: 1000,
        };
        let mut answer = Answer::default();
        if let Err(fault) = perform(&self.hosted, &mut self.connection, &request, &mut answer) {
            fault.answer(negotiation::default(Version::V4, &fields), &mut answer);
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Told {
            status: answer.status,
            fields: answer.headers().map(|(name, value)| (name, text(value))).collect(),
            body: text(&answer.body),
            address: text(&answer.address),
        }
    }
}
