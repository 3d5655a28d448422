// What a page does with OpenUI5's model of OData V2: it reads into its cache, binds lists to it, and sends changes in batches.
sap.ui.define(
  [
    "page/harness",
    "sap/ui/model/Filter",
    "sap/ui/model/FilterOperator",
    "sap/ui/model/Sorter",
    "sap/ui/model/odata/v2/ODataModel",
  ],
  function (harness, Filter, FilterOperator, Sorter, ODataModel) {
    "use strict";

    const { check, equal, refused } = harness;
    const FLIGHTS = 400;
    const DAY = new Date(Date.UTC(2011, 5, 1));

    async function modelOf(path, settings) {
      const model = new ODataModel({ serviceUrl: `/sap/opu/odata/${path}/`, defaultCountMode: "Inline", ...settings });
      await model.metadataLoaded(true);
      return model;
    }

    const flights = modelOf("iwfnd/RMTSAMPLEFLIGHT");
    const records = modelOf("refsvc", { defaultUpdateMethod: "MERGE" });

    /** What `read`, `create`, `update` or `remove` of a model answers. */
    function asked(model, method, positional, parameters) {
      return new Promise((resolve, reject) => {
        const success = (data, response) => resolve({ data, response });
        model[method](...[positional].flat(), { ...parameters, success, error: reject });
      });
    }

    function submitted(model, parameters) {
      return new Promise((resolve, reject) => model.submitChanges({ ...parameters, success: resolve, error: reject }));
    }

    /** The rows of a list from `start` on, as a table would ask for them: at first there may be none, then the list changes. */
    function page(list, start, length) {
      return new Promise((resolve) => {
        const rows = () => list.getContexts(start, length).map((context) => context.getObject());
        const changed = () => {
          const found = rows();
          if (list.isLengthFinal() && found.length === Math.max(0, Math.min(length, list.getLength() - start))) {
            list.detachChange(changed);
            resolve(found);
          }
        };
        list.attachChange(changed);
        list.attachRefresh(() => rows());
        list.initialize();
        changed();
      });
    }

    async function listOf(path, sorters, filters, parameters) {
      const model = await flights;
      return model.bindList(path, undefined, sorters, filters, { operationMode: "Server", ...parameters });
    }

    function booking(suffix) {
      return {
        carrid: "AA",
        connid: "0017",
        fldate: DAY,
        bookid: `8${suffix}${String(Date.now() % 100000).padStart(5, "0")}`,
        CUSTOMID: "00000042",
        PASSNAME: "Zoë O'Hara",
        ORDER_DATE: new Date(Date.UTC(2011, 4, 1)),
        LUGGWEIGHT: "12.5000",
      };
    }

    return {
      "the metadata tells types, keys and annotations": async () => {
        const meta = (await flights).getServiceMetadata();
        const schema = meta.dataServices.schema[0];
        const flight = schema.entityType.find((type) => type.name === "Flight");
        equal(
          flight.key.propertyRef.map((one) => one.name),
          ["carrid", "connid", "fldate"],
        );
        const model = (await flights).getMetaModel();
        await model.loaded();
        const type = model.getODataEntityType("RMTSAMPLEFLIGHT.Flight");
        const property = model.getODataProperty(type, "carrid");
        check(property["sap:label"], "it has a label");
        equal(model.getODataEntitySet("FlightCollection").entityType, "RMTSAMPLEFLIGHT.Flight");
      },

      "a list is read in pages, each flight once": async () => {
        const list = await listOf("/FlightCollection", [], [], { select: "carrid,connid,fldate" });
        const keys = new Set();
        for (let start = 0; start < FLIGHTS; start += 100) {
          for (const flight of await page(list, start, 100))
            keys.add(`${flight.carrid} ${flight.connid} ${flight.fldate.toISOString()}`);
        }
        equal(keys.size, FLIGHTS);
        equal(list.getLength(), FLIGHTS);
      },

      "a list is counted by a request of its own": async () => {
        const list = await listOf("/FlightCollection", [], [new Filter("carrid", FilterOperator.EQ, "AA")], {
          countMode: "Request",
        });
        const found = await page(list, 0, 5);
        equal(found.length, 5);
        check(list.getLength() > 5 && list.getLength() < FLIGHTS, `${list.getLength()} in all`);
      },

      "a filter, an order and a page go together": async () => {
        const list = await listOf(
          "/FlightCollection",
          [new Sorter("PRICE", true), new Sorter("fldate")],
          [
            new Filter(
              [new Filter("carrid", FilterOperator.EQ, "AA"), new Filter("SEATSOCC", FilterOperator.GT, 300)],
              true,
            ),
          ],
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
      },

      "every operator of a filter is understood": async () => {
        for (const [set, filter, least, most] of [
          ["Carrier", new Filter("CARRNAME", FilterOperator.Contains, "Air"), 1, 20],
          ["Carrier", new Filter("CARRNAME", FilterOperator.NotContains, "Air"), 1, 20],
          ["Carrier", new Filter("CARRNAME", FilterOperator.StartsWith, "American"), 1, 1],
          ["Carrier", new Filter("CARRNAME", FilterOperator.NotStartsWith, "American"), 1, 20],
          ["Carrier", new Filter("CARRNAME", FilterOperator.EndsWith, "Airlines"), 1, 20],
          ["Carrier", new Filter("CARRNAME", FilterOperator.NotEndsWith, "Airlines"), 0, 20],
          [
            "Carrier",
            new Filter({
              path: "CARRNAME",
              operator: FilterOperator.EQ,
              value1: "AMERICAN airlines",
              caseSensitive: false,
            }),
            1,
            1,
          ],
          ["Carrier", new Filter("carrid", FilterOperator.BT, "A", "B"), 1, 20],
          ["Carrier", new Filter("carrid", FilterOperator.NB, "A", "B"), 1, 20],
          ["Carrier", new Filter("carrid", FilterOperator.NE, "AA"), 1, 20],
          ["Carrier", new Filter("carrid", FilterOperator.LE, "AA"), 1, 1],
          ["Carrier", new Filter("CARRNAME", FilterOperator.EQ, null), 0, 0],
          ["Carrier", new Filter("CARRNAME", FilterOperator.EQ, "O'Hara & Söhne + 1"), 0, 0],
          [
            "Carrier",
            new Filter(
              [new Filter("carrid", FilterOperator.EQ, "AA"), new Filter("carrid", FilterOperator.EQ, "LH")],
              false,
            ),
            1,
            2,
          ],
          ["Flight", new Filter("fldate", FilterOperator.EQ, DAY), 1, 20],
          ["Flight", new Filter("PRICE", FilterOperator.GT, "422.93"), 1, FLIGHTS],
          ["Flight", new Filter("flightDetails/cityTo", FilterOperator.EQ, "SAN FRANCISCO"), 1, FLIGHTS],
          ["Flight", new Filter("FlightCarrier/CARRNAME", FilterOperator.EQ, "American Airlines"), 1, FLIGHTS],
        ]) {
          const list = await listOf(`/${set}Collection`, [], [filter]);
          const found = await page(list, 0, FLIGHTS);
          check(
            found.length >= least && found.length <= most,
            `${filter.getPath()} ${filter.getOperator()}: ${found.length}`,
          );
        }
      },

      "an expand and a select go together": async () => {
        const list = await listOf("/FlightCollection", [], [new Filter("carrid", FilterOperator.EQ, "AA")], {
          expand: "FlightCarrier,flightBookings",
          select: "carrid,fldate,FlightCarrier/CARRNAME,flightBookings/bookid",
        });
        await page(list, 0, 1);
        const [context] = list.getContexts(0, 1);
        equal(context.getProperty("FlightCarrier/CARRNAME"), "American Airlines");
        check(context.getProperty("flightBookings").length > 1, "there are bookings");
      },

      "a list below an entity is a list": async () => {
        const model = await flights;
        const { data } = await asked(model, "read", "/CarrierCollection('AA')/carrierFlights", {
          urlParameters: { $top: "5", $inlinecount: "allpages" },
          sorters: [new Sorter("fldate", true)],
        });
        equal(
          data.results.map((flight) => flight.carrid),
          Array(5).fill("AA"),
        );
        check(Number(data.__count) > 5, `${data.__count} in all`);
      },

      "values come as the types that the metadata tells": async () => {
        const { data } = await asked(
          await flights,
          "read",
          "/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2011-06-01T00:00:00')",
        );
        equal(data.fldate.toISOString(), "2011-06-01T00:00:00.000Z");
        equal(data.PRICE, "422.94");
        equal(data.SEATSMAX, 385);
        equal(data.flightDetails.departureTime, { ms: 11 * 3600000, __edmType: "Edm.Time" });
      },

      "a booking is created, changed and deleted, each with a token and an ETag": async () => {
        const model = await flights;
        const one = booking("1");
        const { data, response } = await asked(model, "create", ["/BookingCollection", one]);
        equal(String(response.statusCode), "201");
        check(model.getSecurityToken(), "a token was fetched");
        equal(data.PASSNAME, one.PASSNAME);
        equal(data.LUGGWEIGHT, one.LUGGWEIGHT);
        const path = `/${model.createKey("BookingCollection", data)}`;
        await asked(model, "read", path);
        equal(model.getProperty(`${path}/ORDER_DATE`).toISOString(), one.ORDER_DATE.toISOString());
        const before = model.getETag(path);
        check(before, "it has an ETag");
        model.setProperty(`${path}/PASSNAME`, "Zoë Łukasz");
        model.setProperty(`${path}/ORDER_DATE`, new Date(Date.UTC(2011, 4, 2)));
        check(model.hasPendingChanges(), "the changes wait");
        await submitted(model);
        check(!model.hasPendingChanges(), "the changes are stored");
        check(model.getETag(path) !== before, "the ETag is another one");
        equal((await asked(model, "read", path)).data.PASSNAME, "Zoë Łukasz");
        await asked(model, "remove", path);
        equal(String((await refused(asked(model, "read", path))).statusCode), "404");
      },

      "who changes what another has changed is told so": async () => {
        const [model, other] = [await modelOf("iwfnd/RMTSAMPLEFLIGHT"), await modelOf("iwfnd/RMTSAMPLEFLIGHT")];
        const { data } = await asked(model, "create", ["/BookingCollection", booking("2")]);
        const path = `/${model.createKey("BookingCollection", data)}`;
        await Promise.all([asked(model, "read", path), asked(other, "read", path)]);
        await asked(other, "update", [path, { ORDER_DATE: new Date(Date.UTC(2011, 4, 20)) }]);
        const error = await refused(asked(model, "update", [path, { ORDER_DATE: new Date(Date.UTC(2011, 4, 10)) }]));
        equal(String(error.statusCode), "412");
        check(JSON.parse(error.responseText).error.message.value, "the reason is told");
        await asked(other, "remove", path);
      },

      "a record of all types comes back as it was sent": async () => {
        const model = await records;
        const sent = {
          stringField: "Zoë 'quoted' \"twice\" 漢字 🚀",
          booleanField: true,
          integerField: -2147483648,
          integer64Field: "9223372036854775807",
          decimalField: "12345678901234.5678",
          doubleField: "1.5e-7",
          dateField: new Date(Date.UTC(2024, 1, 29)),
          timeField: { ms: 86399000, __edmType: "Edm.Time" },
          dateTimeField: new Date(Date.UTC(2024, 1, 29, 23, 59, 59)),
        };
        const { data } = await asked(model, "create", ["/TestRecords", sent]);
        const path = `/${model.createKey("TestRecords", data)}`;
        const found = (await asked(await modelOf("refsvc"), "read", path)).data;
        for (const [name, value] of Object.entries(sent)) {
          if (name === "doubleField") equal(Number(found[name]), Number(value), name);
          else equal(found[name], value, name);
        }
        await asked(model, "remove", path);
      },

      "rows that a table adds are stored together or not at all": async () => {
        const model = await records;
        const mark = `all or none ${Date.now()}`;
        const marked = async () =>
          (
            await asked(model, "read", "/TestRecords", {
              filters: [new Filter("stringField", FilterOperator.EQ, mark)],
            })
          ).data.results;
        model.setDeferredGroups(["rows"]);
        const row = (properties) =>
          model.createEntry("/TestRecords", {
            groupId: "rows",
            changeSetId: "rows",
            properties: { stringField: mark, ...properties },
          });
        const [, wrong] = [row({ integerField: 1 }), row({ integerField: "many" })];
        const answer = await submitted(model, { groupId: "rows" });
        check(
          answer.__batchResponses.some((one) => one.response?.statusCode === "400"),
          JSON.stringify(answer).slice(0, 300),
        );
        equal(await marked(), []);
        model.setProperty("integerField", 2, wrong);
        await submitted(model, { groupId: "rows" });
        const stored = await marked();
        equal(stored.map((one) => one.integerField).sort(), [1, 2]);
        for (const one of stored)
          model.remove(`/${model.createKey("TestRecords", one)}`, { groupId: "rows", changeSetId: "rows" });
        await submitted(model, { groupId: "rows" });
        equal(await marked(), []);
      },

      "a model without batches does the same": async () => {
        const model = await modelOf("refsvc", { useBatch: false });
        const { data } = await asked(model, "create", ["/TestRecords", { stringField: "alone" }]);
        const path = `/${model.createKey("TestRecords", data)}`;
        await asked(model, "update", [path, { stringField: "changed" }]);
        equal((await asked(model, "read", path)).data.stringField, "changed");
        await asked(model, "remove", path);
      },

      "what is wrong is told with its reason": async () => {
        const error = await refused(asked(await records, "create", ["/TestRecords", { integerField: "many" }]));
        equal(String(error.statusCode), "400");
        check(JSON.parse(error.responseText).error.message.value.includes("integerField"), error.responseText);
      },
    };
  },
);
