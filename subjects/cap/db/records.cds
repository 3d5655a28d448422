// The record of the experiment, as `tollgate serve` has it too.
namespace tollgate.subject;

using { cuid, managed } from '@sap/cds/common';

entity TestRecords : cuid, managed {
  stringField      : String(255);
  largeStringField : LargeString;
  booleanField     : Boolean;
  integerField     : Integer;
  integer64Field   : Integer64;
  decimalField     : Decimal(18, 4);
  doubleField      : Double;
  dateField        : Date;
  timeField        : Time;
  dateTimeField    : DateTime;
  timeStampField   : Timestamp;
}
