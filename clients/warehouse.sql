-- A database that tollgate did not make: what a team might have, with foreign keys, views, defaults, checks, generated
-- columns and all the common types. `tollgate serve --database postgres://…` must serve it as it stands.

CREATE TYPE priority AS ENUM ('low', 'normal', 'high');
CREATE DOMAIN email AS varchar(120) CHECK (VALUE LIKE '%@%');

CREATE TABLE supplier (
    id          serial PRIMARY KEY,
    name        varchar(60) NOT NULL UNIQUE,
    contact     email,
    rating      smallint CHECK (rating BETWEEN 1 AND 5),
    since       date NOT NULL DEFAULT '2020-01-01',
    active      boolean NOT NULL DEFAULT true
);
COMMENT ON TABLE supplier IS 'Who delivers';

CREATE TABLE category (
    code        char(4) PRIMARY KEY,
    title       text NOT NULL,
    parent      char(4) REFERENCES category
);

CREATE TABLE product (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    sku         varchar(20) NOT NULL UNIQUE,
    title       text NOT NULL,
    category    char(4) NOT NULL REFERENCES category,
    supplier_id integer REFERENCES supplier,
    price       numeric(10, 2) NOT NULL,
    net_price   numeric(12, 4) GENERATED ALWAYS AS (price / 1.19) STORED,
    weight      real,
    density     double precision,
    stock       bigint NOT NULL DEFAULT 0,
    picture     bytea,
    details     jsonb,
    tags        text[],
    opens       time,
    lasts       interval,
    urgency     priority NOT NULL DEFAULT 'normal',
    created     timestamp NOT NULL DEFAULT now(),
    changed     timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE purchase (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id integer NOT NULL REFERENCES supplier,
    approver_id integer REFERENCES supplier,
    ordered     date NOT NULL,
    note        text
);

CREATE TABLE purchase_line (
    purchase    bigint NOT NULL REFERENCES purchase ON DELETE CASCADE,
    position    smallint NOT NULL,
    product_id  uuid NOT NULL REFERENCES product,
    quantity    numeric(9, 3) NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (purchase, position)
);

-- No key: it can be read, and that is told at the start.
CREATE TABLE audit_log (
    at          timestamptz NOT NULL DEFAULT now(),
    message     text
);

CREATE VIEW stock_value AS
    SELECT category, count(*) AS products, sum(price * stock) AS value FROM product GROUP BY category;

CREATE TABLE "Odd Name's" ("the key" integer PRIMARY KEY, "select" text, "1st" text);

INSERT INTO supplier (name, contact, rating, since, active) VALUES
    ('Ahmed & Söhne', 'post@ahmed.example', 5, '2011-06-01', true),
    ('O''Brien Ltd', NULL, NULL, '2019-12-31', false),
    ('東京商会', 'mail@tokyo.example', 3, '0999-01-01', true);
INSERT INTO category (code, title, parent) VALUES ('TOOL', 'Tools', NULL), ('HAMR', 'Hammers', 'TOOL'), ('SAWS', 'Saws', 'TOOL');
INSERT INTO product (id, sku, title, category, supplier_id, price, weight, density, stock, picture, details, tags, opens, lasts, urgency, created, changed)
SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'SKU-' || n, 'Product ' || n,
       CASE WHEN n % 2 = 0 THEN 'HAMR' ELSE 'SAWS' END, 1 + n % 3, n + 0.99, n / 8.0, n * 1e-3, 9007199254740993 + n,
       decode('00ff' || lpad(to_hex(n), 4, '0'), 'hex'), jsonb_build_object('n', n), ARRAY['a', 'b'], time '08:30:00' + n * interval '1 second',
       n * interval '90 minutes', 'high', timestamp '2024-02-29 12:00:00.123456', timestamptz '2024-02-29 12:00:00+02'
FROM generate_series(1, 250) AS n;
INSERT INTO purchase (supplier_id, approver_id, ordered, note) VALUES (1, 3, '2024-05-01', 'first'), (2, NULL, '2024-05-02', NULL);
INSERT INTO purchase_line SELECT 1, n, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, n * 1.5 FROM generate_series(1, 5) AS n;
INSERT INTO audit_log (message) VALUES ('made');
