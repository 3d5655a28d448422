// The same records by OData, and by two calls for many of them at once.
using { tollgate.subject as db } from '../db/records';

@path: '/odata/v4/refsvc'
service refsvc {
  entity TestRecords as projection on db.TestRecords;
}

@protocol: 'rest'
@path: '/rest/mass-change'
service MassChange {
  @open type Anything {};

  action insertAll(insEntity: String, insArray: many Anything) returns Integer;
  action deleteAllRecs() returns Integer;
}
