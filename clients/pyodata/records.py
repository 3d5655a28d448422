"""A foreign OData V2 client writes records: a token, create, change, delete, and change sets that are one unit.

Usage: records.py SERVICE_ROOT

The client (pyodata) is not ours. What it deliberately does not do: check every type, which the crates' own tests do.
"""

import sys
import unittest
import uuid
from datetime import datetime, timezone

import pyodata
import requests

SERVICE_ROOT = ""


class Records(unittest.TestCase):
    """Each test's name is the sentence that it proves."""

    @classmethod
    def setUpClass(cls):
        session = requests.Session()
        fetched = session.get(SERVICE_ROOT, headers={"X-CSRF-Token": "Fetch"}, timeout=30)
        session.headers["X-CSRF-Token"] = fetched.headers["X-CSRF-Token"]
        cls.service = pyodata.Client(SERVICE_ROOT, session)
        cls.records = cls.service.entity_sets.TestRecords

    def marked(self, mark):
        return self.records.get_entities().filter(f"stringField eq '{mark}'").order_by("integerField").execute()

    def test_nothing_is_written_without_a_token(self):
        service = pyodata.Client(SERVICE_ROOT, requests.Session())
        with self.assertRaises(pyodata.exceptions.HttpError) as raised:
            service.entity_sets.TestRecords.create_entity().set(stringField="forged").execute()
        self.assertEqual(raised.exception.response.status_code, 403)

    def test_a_record_is_created_changed_and_deleted(self):
        sent = {
            "stringField": "Zoë 'quoted' \"twice\" 漢字 🚀",
            "booleanField": True,
            "integerField": -2147483648,
            "decimalField": "12345678901234.5678",
            "dateField": datetime(2024, 2, 29, tzinfo=timezone.utc),
        }
        created = self.records.create_entity().set(**sent).execute()
        for name, value in sent.items():
            self.assertEqual(str(getattr(created, name)), str(value), name)
        self.records.update_entity(created.ID).set(stringField="changed").execute()
        found = self.records.get_entity(created.ID).execute()
        self.assertEqual((found.stringField, found.integerField), ("changed", -2147483648))
        self.records.delete_entity(created.ID).execute()
        with self.assertRaises(pyodata.exceptions.HttpError) as raised:
            self.records.get_entity(created.ID).execute()
        self.assertEqual(raised.exception.response.status_code, 404)

    def test_a_change_set_is_stored_as_one(self):
        mark = str(uuid.uuid4())
        changes = self.service.create_changeset("changes")
        for number in (1, 2):
            changes.add_request(self.records.create_entity().set(stringField=mark, integerField=number))
        batch = self.service.create_batch("batch")
        batch.add_request(changes)
        batch.add_request(self.records.get_entities().top(1))
        [[first, second], read] = batch.execute()
        self.assertEqual((first.integerField, second.integerField, len(read)), (1, 2, 1))
        stored = self.marked(mark)
        self.assertEqual([record.integerField for record in stored], [1, 2])
        for record in stored:
            self.records.delete_entity(record.ID).execute()

    def test_a_change_set_with_a_fault_stores_nothing(self):
        mark = str(uuid.uuid4())
        changes = self.service.create_changeset("changes")
        changes.add_request(self.records.create_entity().set(stringField=mark, integerField=1))
        changes.add_request(self.records.create_entity().set(stringField=mark + "x" * 255))
        batch = self.service.create_batch("batch")
        batch.add_request(changes)
        with self.assertRaises(pyodata.exceptions.HttpError) as raised:
            batch.execute()
        self.assertEqual(raised.exception.response.status_code, 400)
        self.assertEqual(len(self.marked(mark)), 0)


if __name__ == "__main__":
    SERVICE_ROOT = sys.argv.pop()
    unittest.main(verbosity=2)
