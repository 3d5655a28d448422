"""A foreign OData V2 client reads the flight service: metadata, lists, filters, counts, pages.

Usage: flights.py SERVICE_ROOT

It proves that `tollgate serve` is understood by a client that we did not write (pyodata). What it deliberately does not
do: check every option of OData, which the crates' own tests do.
"""

import sys
import unittest
from datetime import datetime, timezone

import pyodata
import requests

SERVICE_ROOT = ""
FLIGHTS = 400
PAGE = 150


class FlightService(unittest.TestCase):
    """Each test's name is the sentence that it proves."""

    @classmethod
    def setUpClass(cls):
        cls.session = requests.Session()
        cls.service = pyodata.Client(SERVICE_ROOT, cls.session)
        cls.flights = cls.service.entity_sets.FlightCollection
        cls.bookings = cls.service.entity_sets.BookingCollection

    def test_metadata_describes_the_sets_and_their_keys(self):
        schema = self.service.schema
        names = {entity_set.name for entity_set in schema.entity_sets}
        self.assertLessEqual(
            {"FlightCollection", "CarrierCollection", "BookingCollection", "TravelagencyCollection"}, names
        )
        flight = schema.entity_type("Flight")
        self.assertEqual({key.name for key in flight.key_proprties}, {"carrid", "connid", "fldate"})
        self.assertEqual(flight.proprty("PRICE").typ.name, "Edm.Decimal")

    def test_the_list_holds_every_flight_once(self):
        keys = {(flight.carrid, flight.connid, flight.fldate) for flight in self.flights.get_entities().execute()}
        self.assertEqual(len(keys), FLIGHTS)

    def test_a_flight_is_found_by_its_key(self):
        first = self.flights.get_entities().top(1).execute()[0]
        key = {"carrid": first.carrid, "connid": first.connid, "fldate": first.fldate}
        found = self.flights.get_entity(**key).execute()
        self.assertEqual((found.carrid, found.connid, found.fldate), tuple(key.values()))
        self.assertEqual(found.PRICE, first.PRICE)

    def test_the_flight_of_the_published_measurement_is_there(self):
        key = {"carrid": "AA", "connid": "0017", "fldate": datetime(2011, 6, 1, tzinfo=timezone.utc)}
        self.assertEqual(self.flights.get_entity(**key).execute().carrid, "AA")

    def test_a_filter_keeps_what_it_says(self):
        every = self.flights.get_entities().execute()
        expected = sorted(
            (flight.connid, flight.fldate) for flight in every if flight.carrid == "AA" and flight.SEATSOCC > 300
        )
        answer = self.flights.get_entities().filter("carrid eq 'AA' and SEATSOCC gt 300").execute()
        self.assertTrue(expected)
        self.assertEqual(sorted((flight.connid, flight.fldate) for flight in answer), expected)

    def test_counts_agree_with_lists(self):
        self.assertEqual(self.flights.get_entities().count().execute(), FLIGHTS)
        american = lambda: self.flights.get_entities().filter("carrid eq 'AA'")
        self.assertEqual(american().count().execute(), len(american().execute()))
        page = self.flights.get_entities().count(inline=True).top(7).execute()
        self.assertEqual((page.total_count, len(page)), (FLIGHTS, 7))

    def test_pages_are_neither_missing_nor_twice(self):
        for entity_set in (self.flights, self.bookings):
            total, seen = entity_set.get_entities().count().execute(), []
            while True:
                page = entity_set.get_entities().skip(len(seen)).top(PAGE).execute()
                seen.extend(entity.entity_key.to_key_string() for entity in page)
                if len(page) < PAGE:
                    break
            self.assertEqual(len(seen), total)
            self.assertEqual(len(set(seen)), total)

    def test_bookings_are_followed_to_the_end_by_next_links(self):
        request, seen = self.bookings.get_entities(), 0
        while True:
            page = request.execute()
            seen += len(page)
            if not page.next_url:
                break
            request = self.bookings.get_entities().next_url(page.next_url)
        self.assertEqual(seen, self.bookings.get_entities().count().execute())

    def test_an_order_is_kept(self):
        prices = [flight.PRICE for flight in self.flights.get_entities().order_by("PRICE desc").top(50).execute()]
        self.assertEqual(prices, sorted(prices, reverse=True))

    def test_a_wrong_filter_is_the_clients_error(self):
        with self.assertRaises(pyodata.exceptions.HttpError) as raised:
            self.flights.get_entities().filter("carrid eq").execute()
        self.assertEqual(raised.exception.response.status_code, 400)


if __name__ == "__main__":
    SERVICE_ROOT = sys.argv.pop()
    unittest.main(verbosity=2)
