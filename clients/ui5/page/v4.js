// What a page does with OpenUI5's model of OData V4: it binds lists and entities, reads in pages, writes in batches.
sap.ui.define(
  [
    "page/harness",
    "sap/ui/core/Messaging",
    "sap/ui/model/Filter",
    "sap/ui/model/FilterOperator",
    "sap/ui/model/Sorter",
    "sap/ui/model/odata/v4/ODataModel",
  ],
  function (harness, Messaging, Filter, FilterOperator, Sorter, ODataModel) {
    "use strict";

    const { check, equal, refused } = harness;

    const FLIGHTS = 400;

    function modelOf(service, settings) {
      return new ODataModel({
        serviceUrl: `/odata/v4/${service}/`,
        autoExpandSelect: true,
        operationMode: "Server",
        ...settings,
      });
    }

    const flights = modelOf("flights");
    const records = modelOf("refsvc", { updateGroupId: "save" });

    /** The objects of a list from `start` on, as a table would ask for them. */
    async function page(list, start, length) {
      const contexts = await list.requestContexts(start, length);
      return Promise.all(contexts.map((context) => context.requestObject()));
    }

    /** A booking that is not there before; `suffix` tells one test's from another's. */
    function booking(suffix) {
      return {
        carrid: "AA",
        connid: "0017",
        fldate: "2011-06-01",
        bookid: `9${suffix}${String(Date.now() % 100000).padStart(5, "0")}`,
        CUSTOMID: "00000042",
        PASSNAME: "Zoë O'Hara",
        ORDER_DATE: "2011-05-01",
        LUGGWEIGHT: "12.5000",
      };
    }

    function pathOf(one) {
      return `/BookingCollection(carrid='${one.carrid}',connid='${one.connid}',fldate=${one.fldate},bookid='${one.bookid}')`;
    }

    /** One entity of its own model, as another user's page would hold it. */
    function held(path, select) {
      const model = modelOf("flights");
      return model.bindContext(path, undefined, { $select: select }).getBoundContext();
    }

    return {
      "the metadata tells types, keys and annotations": async () => {
        const meta = flights.getMetaModel();
        equal(await meta.requestObject("/FlightCollection/$kind"), "EntitySet");
        equal(await meta.requestObject("/FlightCollection/$Type"), "RMTSAMPLEFLIGHT.Flight");
        equal(await meta.requestObject("/FlightCollection/fldate/$Type"), "Edm.Date");
        equal(await meta.requestObject("/FlightCollection/flightDetails/cityFrom/$MaxLength"), 20);
        equal(await meta.requestObject("/FlightCollection/FlightCarrier/$Type"), "RMTSAMPLEFLIGHT.Carrier");
        equal(meta.getMetaContext("/FlightCollection('x')/PRICE").getPath(), "/FlightCollection/PRICE");
        const type = await meta.requestUI5Type("/FlightCollection/PRICE");
        equal(type.getName(), "sap.ui.model.odata.type.Decimal");
      },

      "a list is read in pages, each flight once": async () => {
        const list = flights.bindList("/FlightCollection", null, [], [], {
          $count: true,
          $select: "carrid,connid,fldate",
        });
        const keys = new Set();
        for (let start = 0; start < FLIGHTS; start += 100) {
          for (const flight of await page(list, start, 100))
            keys.add(`${flight.carrid} ${flight.connid} ${flight.fldate}`);
        }
        equal(keys.size, FLIGHTS);
        equal(list.getLength(), FLIGHTS);
        check(list.isLengthFinal(), "the length is final");
      },

      "a filter, an order and a page go together": async () => {
        const list = flights.bindList(
          "/FlightCollection",
          null,
          [new Sorter("PRICE", true), new Sorter("fldate")],
          [
            new Filter({
              filters: [new Filter("carrid", FilterOperator.EQ, "AA"), new Filter("SEATSOCC", FilterOperator.GT, 300)],
              and: true,
            }),
          ],
          { $count: true, $select: "carrid,SEATSOCC,PRICE,fldate" },
        );
        const found = await page(list, 0, 10);
        equal(found.length, 10);
        check(
          found.every((flight) => flight.carrid === "AA" && flight.SEATSOCC > 300),
          "all are what was asked for",
        );
        const prices = found.map((flight) => Number(flight.PRICE));
        equal(
          prices,
          [...prices].sort((a, b) => b - a),
        );
        check(list.getLength() > 10, `${list.getLength()} in all`);
      },

      "every operator of a filter is understood": async () => {
        const day = "2011-06-01";
        for (const [filter, least, most] of [
          [new Filter("CARRNAME", FilterOperator.Contains, "Air"), 1, 20],
          [new Filter("CARRNAME", FilterOperator.NotContains, "Air"), 1, 20],
          [new Filter("CARRNAME", FilterOperator.StartsWith, "American"), 1, 1],
          [new Filter("CARRNAME", FilterOperator.NotStartsWith, "American"), 1, 20],
          [new Filter("CARRNAME", FilterOperator.EndsWith, "Airlines"), 1, 20],
          [new Filter("CARRNAME", FilterOperator.NotEndsWith, "Airlines"), 0, 20],
          [
            new Filter({
              path: "CARRNAME",
              operator: FilterOperator.EQ,
              value1: "AMERICAN airlines",
              caseSensitive: false,
            }),
            1,
            1,
          ],
          [new Filter("carrid", FilterOperator.BT, "A", "B"), 1, 20],
          [new Filter("carrid", FilterOperator.NB, "A", "B"), 1, 20],
          [new Filter("carrid", FilterOperator.NE, "AA"), 1, 20],
          [new Filter("carrid", FilterOperator.LE, "AA"), 1, 1],
          [new Filter("CARRNAME", FilterOperator.EQ, null), 0, 0],
          [new Filter("CARRNAME", FilterOperator.EQ, "O'Hara & Söhne + 1"), 0, 0],
          [
            new Filter(
              [new Filter("carrid", FilterOperator.EQ, "AA"), new Filter("carrid", FilterOperator.EQ, "LH")],
              false,
            ),
            1,
            2,
          ],
          [new Filter({ path: "carrierFlights", operator: FilterOperator.Any }), 1, 20],
          [
            new Filter({
              path: "carrierFlights",
              operator: FilterOperator.Any,
              variable: "flight",
              condition: new Filter(
                [
                  new Filter("flight/fldate", FilterOperator.EQ, day),
                  new Filter("flight/PRICE", FilterOperator.GT, "100"),
                ],
                true,
              ),
            }),
            1,
            20,
          ],
          [
            new Filter({
              path: "carrierFlights",
              operator: FilterOperator.All,
              variable: "flight",
              condition: new Filter("flight/PRICE", FilterOperator.LT, "0"),
            }),
            0,
            20,
          ],
        ]) {
          const list = flights.bindList("/CarrierCollection", null, [], filter, { $count: true, $select: "carrid" });
          const found = await page(list, 0, 50);
          check(
            found.length >= least && found.length <= most,
            `${filter.getPath()} ${filter.getOperator()}: ${found.length}`,
          );
          equal(list.getLength(), found.length);
        }
      },

      "what is bound is expanded and selected by itself": async () => {
        const list = flights.bindList("/FlightCollection", null, [], [new Filter("carrid", FilterOperator.EQ, "AA")]);
        // A control's property would be bound like this, in the row that the table makes.
        const [context] = await list.requestContexts(0, 1);
        equal(await context.requestProperty("FlightCarrier/CARRNAME"), "American Airlines");
        equal(await context.requestProperty("flightDetails/cityTo"), "SAN FRANCISCO");
        list.destroy();
      },

      "an expand has a filter, an order, a limit and a select of its own": async () => {
        const list = flights.bindList("/FlightCollection", null, [], [new Filter("carrid", FilterOperator.EQ, "AA")], {
          $select: "carrid,connid,fldate",
          $expand: {
            FlightCarrier: { $select: ["CARRNAME", "URL"] },
            flightBookings: {
              $select: "bookid,CLASS,PASSNAME",
              $filter: "CLASS eq 'Y'",
              $orderby: "bookid desc",
              $count: true,
            },
          },
        });
        const [flight] = await page(list, 0, 1);
        equal(flight.FlightCarrier.CARRNAME, "American Airlines");
        check(flight.flightBookings.length > 1, "there are bookings");
        check(
          flight.flightBookings.every((one) => one.CLASS === "Y"),
          "all in this class",
        );
        const numbers = flight.flightBookings.map((one) => one.bookid);
        equal(numbers, [...numbers].sort().reverse());
        equal(Number(flight["flightBookings@odata.count"]), numbers.length);
      },

      "a list below an entity is a list": async () => {
        const parent = flights.bindContext("/CarrierCollection('AA')").getBoundContext();
        const list = flights.bindList("carrierFlights", parent, [new Sorter("fldate", true)], [], {
          $count: true,
          $$ownRequest: true,
          $select: "carrid,fldate",
        });
        const found = await page(list, 0, 5);
        equal(
          found.map((flight) => flight.carrid),
          Array(5).fill("AA"),
        );
        check(list.getLength() > 5, `${list.getLength()} in all`);
      },

      "rows are grouped and added up by the service": async () => {
        const list = flights.bindList("/FlightCollection", null, [new Sorter("carrid")]);
        list.setAggregation({
          group: { carrid: {} },
          aggregate: {
            seats: { name: "SEATSOCC", with: "sum", grandTotal: true },
            dearest: { name: "PRICE", with: "max" },
            mean: { name: "SEATSMAX", with: "average" },
          },
        });
        const [total, ...rows] = await page(list, 0, 50);
        const carriers = rows.map((row) => row.carrid);
        check(carriers.length > 3, `${carriers.length} carriers`);
        equal(carriers, [...new Set(carriers)].sort());
        const sum = rows.reduce((sum, row) => sum + Number(row.seats), 0);
        equal(Number(total.seats), sum, "the grand total");
        for (const row of rows) check(Number(row.dearest) > 0 && Number(row.mean) > 0, JSON.stringify(row));
      },

      "groups open and close, each with its subtotal": async () => {
        const filter = new Filter("SEATSMAX", FilterOperator.GT, 100);
        const list = flights.bindList("/FlightCollection", null, [new Sorter("carrid"), new Sorter("connid")], filter, {
          $count: true,
        });
        list.setAggregation({
          group: { carrid: {}, connid: {} },
          groupLevels: ["carrid"],
          aggregate: { seats: { name: "SEATSOCC", with: "sum", subtotals: true } },
        });
        const contexts = await list.requestContexts(0, 50);
        const [first] = contexts;
        const carrier = first.getProperty("carrid");
        first.expand();
        await new Promise((resolve) => list.attachEventOnce("dataReceived", resolve));
        const rows = (await list.requestContexts(0, 100)).map((context) => context.getObject());
        const connections = rows.filter((row) => row.carrid === carrier && row.connid);
        check(connections.length > 0, "the group shows its connections");
        const sum = connections.reduce((sum, row) => sum + Number(row.seats), 0);
        equal(Number(rows[0].seats), sum, "the subtotal");
        first.collapse();
        equal((await list.requestContexts(0, 100)).length, contexts.length);
      },

      "a search finds": async () => {
        const list = flights.bindList("/CarrierCollection", null, [], [], { $search: "American", $select: "carrid" });
        equal(
          (await page(list, 0, 5)).map((carrier) => carrier.carrid),
          ["AA"],
        );
      },

      "one value is read and formatted by its type": async () => {
        const context = flights
          .bindContext("/FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)")
          .getBoundContext();
        equal(await context.requestProperty("PRICE", true), "422.94");
        equal(await context.requestProperty("fldate", true), "Jun 1, 2011");
        equal(await flights.bindProperty("/FlightCollection/$count").requestValue(), FLIGHTS);
      },

      "a booking is created, changed and deleted, each with a token and an ETag": async () => {
        const one = booking("1");
        const list = flights.bindList(
          "/BookingCollection",
          null,
          [],
          [new Filter("bookid", FilterOperator.EQ, one.bookid)],
          { $count: true },
        );
        equal(await page(list, 0, 10), []);
        const context = list.create(one);
        await context.created();
        equal(context.getPath(), pathOf(one));
        equal(context.getProperty("@odata.etag"), 'W/"2011-05-01"');
        equal(context.getProperty("LUGGWEIGHT"), "12.5000");

        await context.setProperty("PASSNAME", "Zoë Łukasz");
        await context.setProperty("ORDER_DATE", "2011-05-02");
        equal(context.getProperty("@odata.etag"), 'W/"2011-05-02"', "the new ETag");
        equal(await held(pathOf(one), "PASSNAME").requestProperty("PASSNAME"), "Zoë Łukasz");

        await context.delete();
        list.refresh();
        equal(await page(list, 0, 10), []);
      },

      "who changes what another has changed is told so": async () => {
        const one = booking("2");
        const list = flights.bindList(
          "/BookingCollection",
          null,
          [],
          [new Filter("bookid", FilterOperator.EQ, one.bookid)],
        );
        await list.requestContexts(0, 1);
        const context = list.create(one);
        await context.created();
        const other = held(pathOf(one), "PASSNAME,ORDER_DATE");
        equal(await other.requestProperty("ORDER_DATE"), "2011-05-01");
        await other.setProperty("ORDER_DATE", "2011-05-20");
        const error = await refused(context.setProperty("ORDER_DATE", "2011-05-10"));
        equal(error.status, 412);
        check(error.isConcurrentModification, "it is said to be a concurrent modification");
        flights.resetChanges();
        await context.requestRefresh();
        equal(context.getProperty("ORDER_DATE"), "2011-05-20");
        await context.delete();
      },

      "a booking is created below its flight": async () => {
        const one = booking("3");
        const flight = flights
          .bindContext("/FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)")
          .getBoundContext();
        const list = flights.bindList("flightBookings", flight, [], [], { $$ownRequest: true, $count: true });
        const before = await page(list, 0, 50);
        const context = list.create(one);
        await context.created();
        equal(list.getLength(), before.length + 1);
        await context.delete();
      },

      "a record of all types comes back as it was sent": async () => {
        const list = records.bindList("/TestRecords", null, [], [], { $$updateGroupId: "save" });
        const sent = {
          stringField: "Zoë 'quoted' \"twice\" 漢字 🚀",
          booleanField: true,
          integerField: -2147483648,
          integer64Field: "9223372036854775807",
          decimalField: "12345678901234.5678",
          doubleField: 1.5e-7,
          dateField: "2024-02-29",
          timeField: "23:59:59",
          dateTimeField: "2024-02-29T23:59:59Z",
          timeStampField: "2024-02-29T23:59:59.1234567Z",
        };
        const context = list.create(sent);
        check(records.hasPendingChanges("save"), "it waits for the batch");
        await Promise.all([records.submitBatch("save"), context.created()]);
        check(!records.hasPendingChanges(), "nothing waits any more");
        const path = context.getPath();
        check(/^\/TestRecords\([0-9a-f-]{36}\)$/.test(path), path);
        const found = await modelOf("refsvc").bindContext(path).requestObject();
        for (const [name, value] of Object.entries(sent)) equal(found[name], value, name);
        await Promise.all([context.delete("save"), records.submitBatch("save")]);
      },

      "changes of one batch are all stored or none": async () => {
        const mark = `all or none ${Date.now()}`;
        const marked = () =>
          records.bindList("/TestRecords", null, [], [new Filter("stringField", FilterOperator.EQ, mark)], {
            $count: true,
            $$updateGroupId: "save",
          });
        const list = marked();
        equal(await page(list, 0, 10), []);
        list.create({ stringField: mark, integerField: 1 }, true);
        const wrong = list.create({ stringField: mark, dateField: "no date" }, true);
        await records.submitBatch("save");
        check(records.hasPendingChanges("save"), "both wait for a correction");
        equal(await page(marked(), 0, 10), []);
        // As a user would: the wrong field is mended, and both are sent again.
        wrong.setProperty("dateField", "2024-01-01");
        await records.submitBatch("save");
        check(!records.hasPendingChanges("save"), "nothing waits any more");
        const stored = marked();
        equal((await page(stored, 0, 10)).length, 2);
        await Promise.all([
          ...stored.getAllCurrentContexts().map((context) => context.delete("save")),
          records.submitBatch("save"),
        ]);
        equal(await page(marked(), 0, 10), []);
      },

      "what is wrong is told at its field": async () => {
        const list = records.bindList("/TestRecords", null, [], [], { $$updateGroupId: "$auto" });
        Messaging.removeAllMessages();
        const context = list.create({ integerField: "many" }, true);
        const stored = await new Promise((resolve) => {
          list.attachEventOnce("createCompleted", (event) => resolve(event.getParameter("success")));
        });
        equal(stored, false);
        const [message] = Messaging.getMessageModel().getData();
        equal(message.getTargets(), [`${context.getPath()}/integerField`]);
        check(message.getMessage().includes("Edm.Int32"), message.getMessage());
        const created = refused(context.created());
        await context.delete();
        check((await created).canceled, "the row is given up");
      },
    };
  },
);
