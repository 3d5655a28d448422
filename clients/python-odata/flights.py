"""A foreign OData V4 client reads the flights, and writes records with a token.

Usage: flights.py GATEWAY

The client (python-odata) is not ours. What it deliberately does not do: check every option of OData, which the crates' own
tests do.
"""

import sys
import unittest
import uuid

import requests
from odata import ODataService
from odata.exceptions import ODataError

GATEWAY = ""
FLIGHTS = 400


def opened(path):
    session = requests.Session()
    fetched = session.get(f"{GATEWAY}{path}", headers={"X-CSRF-Token": "Fetch"}, timeout=30)
    session.headers["X-CSRF-Token"] = fetched.headers["X-CSRF-Token"]
    return ODataService(f"{GATEWAY}{path}", session=session, reflect_entities=True, quiet_progress=True)


class Flights(unittest.TestCase):
    """Each test's name is the sentence that it proves."""

    @classmethod
    def setUpClass(cls):
        cls.service = opened("/odata/v4/flights/")
        cls.flight = cls.service.entities["FlightCollection"]
        cls.carrier = cls.service.entities["CarrierCollection"]

    def test_the_list_holds_every_flight_once(self):
        keys = {(one.carrid, one.connid, str(one.fldate)) for one in self.service.query(self.flight)}
        self.assertEqual(len(keys), FLIGHTS)
        self.assertEqual(self.service.query(self.flight).count(), FLIGHTS)

    def test_a_filter_an_order_an_offset_and_a_limit_are_kept(self):
        flight = self.flight
        american = self.service.query(flight).filter(flight.carrid == "AA").filter(flight.SEATSOCC > 300)
        every = [one.PRICE for one in american.order_by(flight.PRICE.desc())]
        self.assertEqual(every, sorted(every, reverse=True))
        page = [one.PRICE for one in american.order_by(flight.PRICE.desc()).offset(2).limit(3)]
        self.assertEqual(page, every[2:5])

    def test_functions_of_texts_are_kept(self):
        name = self.carrier.CARRNAME
        for condition in (name.contains("merican"), name.startswith("American"), name == "American Airlines"):
            found = self.service.query(self.carrier).filter(condition)
            self.assertEqual([one.carrid for one in found], ["AA"], condition)

    def test_a_carrier_is_expanded(self):
        flight = self.flight
        query = self.service.query(flight).filter(flight.carrid == "AA").expand(flight.FlightCarrier).limit(1)
        self.assertEqual(query.first().FlightCarrier.CARRNAME, "American Airlines")

    def test_a_wrong_filter_is_the_clients_error(self):
        with self.assertRaises(ODataError) as raised:
            list(self.service.query(self.flight).filter("carrid eq"))
        self.assertIn("400", str(raised.exception))
        self.assertIn("column", str(raised.exception))


class Records(unittest.TestCase):
    """Each test's name is the sentence that it proves."""

    def test_a_record_is_created_changed_and_deleted(self):
        service = opened("/odata/v4/refsvc/")
        record_type = service.entities["TestRecords"]
        record = record_type()
        record.stringField = f"Zoë 'quoted' 漢字 🚀 {uuid.uuid4()}"
        record.integerField = -2147483648
        record.booleanField = True
        service.save(record)
        record.integerField = 7
        service.save(record)
        found = service.query(record_type).get(record.ID)
        self.assertEqual((found.stringField, found.integerField, found.booleanField), (record.stringField, 7, True))
        service.delete(found)
        left = service.query(record_type).filter(record_type.ID == record.ID).all()
        self.assertEqual(list(left), [])


if __name__ == "__main__":
    GATEWAY = sys.argv.pop(1).rstrip("/")
    unittest.main(verbosity=2)
