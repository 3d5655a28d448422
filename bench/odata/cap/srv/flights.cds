using { bench as db } from '../db/flights';

@path: '/odata/v4/flights'
service flights {
  entity FlightCollection  as projection on db.Flights;
  entity BookingCollection as projection on db.Bookings;
}
