// @odata/client reads the flights, and writes records, in OData V4 and V2.
//
// Usage: node flights.mjs GATEWAY      npm install first
//
// What it deliberately does not do: change what has an ETag, since this client sends no If-Match.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test from "node:test";

import client from "@odata/client";
import fetchCookie from "fetch-cookie";

const { OData, EdmV4, ODataDateTime, RawString } = client;
globalThis.fetch = fetchCookie(fetch); // a token belongs to a cookie
const FLIGHTS = 400;
const DAY = new Date(Date.UTC(2011, 5, 1));
const gateway = process.argv[2];
if (!gateway) {
  console.error("usage: node flights.mjs GATEWAY");
  process.exit(2);
}

const versions = {
  v4: {
    flights: "/odata/v4/flights/",
    records: "/odata/v4/refsvc/",
    day: EdmV4.Date.from(DAY),
    id: (id) => RawString.from(id),
    counted: (options) => options.count(),
    // Where a list and its count stand in an answer.
    listed: (answer) => [answer.value, answer["@odata.count"]],
    single: (answer) => answer,
    long: { sent: 9007199254740991, found: 9007199254740991 },
    batch: (service, requests) => service.execBatchRequestsJson(requests),
  },
  v2: {
    flights: "/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/",
    records: "/sap/opu/odata/refsvc/",
    day: ODataDateTime.from(DAY),
    id: (id) => RawString.from(`guid'${id}'`),
    counted: (options) => options.inlinecount(true),
    listed: (answer) => [answer.d.results, Number(answer.d.__count)],
    single: (answer) => answer.d,
    long: { sent: "9223372036854775807", found: "9223372036854775807" },
    batch: (service, requests) => service.execBatchRequests(requests),
  },
};

for (const [version, { flights, records, day, id, counted, listed, single, long, batch }] of Object.entries(versions)) {
  const open = (path) => OData.New({ serviceEndpoint: gateway + path, version, processCsrfToken: true });
  const service = open(flights);
  const store = open(records);
  const key = { carrid: "AA", connid: "0017", fldate: day };

  test(`${version}: one flight is read by its key, with its carrier`, async () => {
    const flight = await service
      .getEntitySet("FlightCollection")
      .retrieve(key, OData.newOptions().expand("FlightCarrier"));
    assert.equal(Number(flight.PRICE), 422.94);
    assert.equal(flight.FlightCarrier.CARRNAME, "American Airlines");
  });

  test(`${version}: a filter, an order, a page and a count go together`, async () => {
    const filter = OData.newFilter().property("carrid").eq("AA").property("SEATSOCC").gt(300);
    const options = OData.newOptions()
      .filter(filter)
      .orderby("PRICE", "desc")
      .top(5)
      .skip(1)
      .select(["carrid", "PRICE"]);
    const [rows, count] = listed(
      await service.newRequest({ collection: "FlightCollection", params: counted(options) }),
    );
    assert.equal(rows.length, 5);
    assert.ok(count > 5, `${count} in all`);
    const prices = rows.map((flight) => Number(flight.PRICE));
    assert.deepEqual(
      prices,
      [...prices].sort((a, b) => b - a),
    );
    assert.equal(rows[0].PLANETYPE, undefined);
  });

  test(`${version}: sets are counted and searched by example`, async () => {
    const set = service.getEntitySet("FlightCollection");
    assert.equal(await set.count(), FLIGHTS);
    assert.ok((await set.count(OData.newFilter().property("fldate").eq(day))) < FLIGHTS);
    const found = await service.getEntitySet("CarrierCollection").find({ CARRNAME: "American Airlines" });
    assert.deepEqual(
      found.map((carrier) => carrier.carrid),
      ["AA"],
    );
  });

  test(`${version}: a record is created, changed and deleted`, async () => {
    const set = store.getEntitySet("TestRecords");
    const sent = { stringField: "Zoë 'quoted' 漢字 🚀", integer64Field: long.sent, booleanField: true };
    const created = await set.create(sent);
    const where = id(created.ID);
    await set.update(where, { stringField: "changed" });
    const found = await set.retrieve(where);
    assert.equal(found.stringField, "changed");
    assert.equal(found.integer64Field, long.found);
    await set.delete(where);
    await assert.rejects(set.retrieve(where), /./);
  });

  test(`${version}: a batch reads and writes`, async () => {
    const mark = `client ${randomUUID()}`;
    const entity = { stringField: mark, integerField: 7 };
    const [read, created] = await batch(store, [
      store.newBatchRequest({ collection: "TestRecords", params: OData.newOptions().top(1) }),
      store.newBatchRequest({ collection: "TestRecords", method: "POST", entity }),
    ]);
    assert.equal(Number(read.status), 200);
    assert.equal(Number(created.status), 201);
    const record = single(await created.json());
    assert.equal(record.stringField, mark);
    await store.getEntitySet("TestRecords").delete(id(record.ID));
  });

  test(`${version}: what is wrong is told`, async () => {
    await assert.rejects(
      service.getEntitySet("FlightCollection").query(OData.newOptions().filter("carrid eq")),
      /column/,
    );
    await assert.rejects(store.getEntitySet("TestRecords").create({ integerField: "many" }), /integerField/);
  });
}
