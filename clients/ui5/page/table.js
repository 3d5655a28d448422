// A table of flights and their bookings as an application would show it, once over each model: rows come as it grows, cells show
// what they are bound to, the toolbar sorts and filters, and what is typed into a field is stored.
sap.ui.define(
  [
    "page/harness",
    "sap/ui/core/Core",
    "sap/ui/core/Element",
    "sap/ui/core/mvc/XMLView",
    "sap/ui/model/Filter",
    "sap/ui/model/FilterOperator",
    "sap/ui/model/Sorter",
    "sap/ui/model/odata/v2/ODataModel",
    "sap/ui/model/odata/v4/ODataModel",
  ],
  function (harness, Core, Element, XMLView, Filter, FilterOperator, Sorter, ODataModelV2, ODataModelV4) {
    "use strict";

    const { check, equal } = harness;
    const FLIGHT_V2 = "/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2011-06-01T00:00:00')";
    const FLIGHT_V4 = "/FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)";

    const versions = {
      V4: {
        model: () =>
          new ODataModelV4({ serviceUrl: "/odata/v4/flights/", autoExpandSelect: true, operationMode: "Server" }),
        parameters: "{$count: true}",
        flight: FLIGHT_V4,
        date: "{fldate}",
        // A field's new value goes to the service by itself.
        submit: () => {},
      },
      V2: {
        model: () =>
          new ODataModelV2({
            serviceUrl: "/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/",
            defaultBindingMode: "TwoWay",
            defaultCountMode: "Inline",
            defaultOperationMode: "Server",
          }),
        parameters: "{expand: 'FlightCarrier'}",
        flight: FLIGHT_V2,
        date: "{path: 'fldate', type: 'sap.ui.model.odata.type.DateTime', constraints: {displayFormat: 'Date'}}",
        submit: (model) => new Promise((success, error) => model.submitChanges({ success, error })),
      },
    };

    const view = (version) => `
      <mvc:View xmlns:mvc="sap.ui.core.mvc" xmlns="sap.m">
        <Table id="flights" growing="true" growingThreshold="20"
            items="{path: '/FlightCollection', parameters: ${version.parameters}, sorter: {path: 'fldate'}}">
          <columns>
            <Column><Text text="Carrier"/></Column><Column><Text text="Name"/></Column><Column><Text text="Day"/></Column>
            <Column><Text text="To"/></Column><Column><Text text="Seats"/></Column>
          </columns>
          <ColumnListItem>
            <Text text="{carrid}"/><Text text="{FlightCarrier/CARRNAME}"/><Text text="${version.date}"/>
            <Text text="{flightDetails/cityTo}"/><Text text="{SEATSMAX}"/>
          </ColumnListItem>
        </Table>
        <List id="bookings" items="{path: 'flightBookings', sorter: {path: 'bookid'}}">
          <InputListItem label="{bookid}"><Input value="{PASSNAME}"/></InputListItem>
        </List>
      </mvc:View>`;

    /** What the cells of each row say. */
    const cells = (table) => table.getItems().map((row) => row.getCells().map((cell) => cell.getText()));

    /** Waits until `holds`: what is shown changes some time after the answer. The harness says when that is too long. */
    async function until(holds) {
      while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
    }

    const tests = {};
    for (const [name, version] of Object.entries(versions)) {
      let model;
      let shown;

      tests[`${name}: a table shows its first rows and how many there are`] = async () => {
        await Core.ready();
        model = version.model();
        shown = await XMLView.create({ definition: view(version), models: model });
        shown.placeAt(document.body);
        const table = shown.byId("flights");
        await until(() => table.getItems().length === 20 && cells(table)[19][1]);
        const rows = cells(table);
        equal(rows[0][2], "Jun 1, 2011");
        for (const [carrier, name, , city, seats] of rows) {
          check(carrier !== "AA" || name === "American Airlines", `${carrier} is ${name}`);
          check(city && Number(seats) > 0, `${carrier} goes to ${city} with ${seats} seats`);
        }
        check(
          rows.some(([carrier]) => carrier === "AA"),
          "a carrier that is known is among them",
        );
        equal(table.getBinding("items").getLength(), 400);
      };

      tests[`${name}: more rows come as the table grows`] = async () => {
        const table = shown.byId("flights");
        Element.getElementById(`${table.getId()}-trigger`).firePress();
        await until(() => table.getItems().length === 40 && cells(table)[39][1]);
        const keys = new Set(cells(table).map(([carrier, , day, city]) => `${carrier} ${day} ${city}`));
        check(keys.size > 20, `${keys.size} rows differ`);
      };

      tests[`${name}: the table is filtered and sorted`] = async () => {
        const table = shown.byId("flights");
        table.getBinding("items").filter(new Filter("carrid", FilterOperator.EQ, "AA"));
        table.getBinding("items").sort(new Sorter("fldate", true));
        await until(
          () =>
            cells(table).length &&
            cells(table).every(([carrier]) => carrier === "AA") &&
            cells(table)[0][2] !== "Jun 1, 2011",
        );
        const days = cells(table).map(([, , day]) => Date.parse(day));
        equal(
          days,
          [...days].sort((a, b) => b - a),
        );
      };

      tests[`${name}: what is typed into a field is stored`] = async () => {
        const list = shown.byId("bookings");
        list.bindElement(version.flight);
        await until(() => list.getItems().length > 1 && list.getItems()[0].getContent()[0].getValue());
        const field = list.getItems()[0].getContent()[0];
        const before = field.getValue();
        for (const value of [`Typed ${name}`, before]) {
          field.setValue(value);
          await version.submit(model);
          await until(() => !model.hasPendingChanges());
          const other = version.model();
          const again = await XMLView.create({ definition: view(version), models: other });
          again.byId("bookings").bindElement(version.flight);
          again.placeAt(document.body);
          const items = () => again.byId("bookings").getItems();
          await until(() => items().length > 1 && items()[0].getContent()[0].getValue());
          equal(items()[0].getContent()[0].getValue(), value);
          again.destroy();
        }
        shown.destroy();
      };
    }
    return tests;
  },
);
