// Flights and their bookings with the names that the flight service has; rows come from data/, which the script writes.
namespace bench;

entity Flights {
  key carrid     : String(3);
  key connid     : String(4);
  key fldate     : Date;
      PRICE      : Decimal(15, 2);
      CURRENCY   : String(5);
      PLANETYPE  : String(10);
      SEATSMAX   : Integer;
      SEATSOCC   : Integer;
      PAYMENTSUM : Decimal(17, 2);
      flightBookings : Association to many Bookings
        on flightBookings.carrid = carrid and flightBookings.connid = connid and flightBookings.fldate = fldate;
}

entity Bookings {
  key carrid    : String(3);
  key connid    : String(4);
  key fldate    : Date;
  key bookid    : String(8);
      CUSTOMID  : String(8);
      CUSTTYPE  : String(1);
      PASSNAME  : String(25);
}
