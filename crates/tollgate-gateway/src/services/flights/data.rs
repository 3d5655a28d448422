//! The data set: 16 connections on 25 dates are 400 flights; with them carriers, bookings and travel agencies, drawn
//! from a seed.
//!
//! It uses only integers and text, so that no machine's floats can change a row.

use tollgate_wire::date::date_from_days;
use tollgate_wire::edm::{Model, Primitive, SetId};
use tollgate_wire::value::Value;

use super::network::{CARRIERS, CONNECTIONS, Connection};
use super::people::{AGENCIES, MEN, STREETS, SURNAMES, WOMEN};
use super::random::Draw;
use crate::store::StoreError;

/// Dates on which every connection flies.
const DATES: i32 = 25;

/// Days from 1970-01-01 to the first date, 2011-06-01.
const FIRST_DATE_DAYS: i32 = 15_126;

/// The dates are 38 and 39 days apart, by turns, so that 2013-09-25, the date of the reference's sample, is among them.
const TWO_DATES_APART_DAYS: i32 = 77;

/// Most bookings of one flight; some have none.
const BOOKINGS_MAX: u32 = 16;

/// Price of a seat by class, in percent of the fare.
const CLASSES: [(&str, u32); 3] = [("Y", 100), ("C", 180), ("F", 290)];

/// Currencies in which a passenger pays, with the units of the local currency that 100 of them buy, roughly.
const PAYMENT_CURRENCIES: [(&str, u32); 5] = [("USD", 100), ("EUR", 133), ("GBP", 156), ("SGD", 80), ("AUD", 97)];

/// Passes every row of the data set to `insert`, with its values in the order of the type's leaves.
pub(super) fn generate(
    model: &Model,
    seed: u64,
    mut insert: impl FnMut(SetId, &[Value]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let set = |name| model.set(name).expect("the data set belongs to this model");
    let (flights, bookings) = (set("FlightCollection"), set("BookingCollection"));
    let mut draw = Draw::seeded(seed);

    for carrier in &CARRIERS {
        let row = [
            text(carrier.id),
            text(carrier.name),
            text(carrier.currency),
            text(carrier.home_page),
            text("image/svg+xml"),
        ];
        insert(set("CarrierCollection"), &row)?;
    }
    let agency_numbers = (0..AGENCIES.len() as u32).map(|index| format!("{:08}", 55 + 7 * index)).collect::<Vec<_>>();
    for (agency, number) in AGENCIES.iter().zip(&agency_numbers) {
        let street = format!("{} {}", draw.one_of(&STREETS), draw.between(1, 199));
        let post_box = draw.chance(40).then(|| draw.between(100, 9_999).to_string());
        let telephone = format!("{} {:04}", agency.telephone_prefix, draw.below(10_000));
        let row = [
            text(number),
            text(agency.name),
            text(street),
            optional(post_box),
            text(agency.post_code),
            text(agency.city),
            text(agency.country),
            optional(agency.region),
            text(telephone),
            text(format!("http://www.example.com/agencies/{number}")),
            text(agency.language),
            text(agency.currency),
            text("text/html"),
        ];
        insert(set("TravelagencyCollection"), &row)?;
    }
    for connection in &CONNECTIONS {
        for index in 0..DATES {
            let days = FIRST_DATE_DAYS + index * TWO_DATES_APART_DAYS / 2;
            insert(flights, &flight(&mut draw, connection, days))?;
            for number in 1..=draw.between(0, BOOKINGS_MAX) {
                insert(bookings, &booking(&mut draw, connection, days, number, &agency_numbers))?;
            }
        }
    }
    Ok(())
}

fn flight(draw: &mut Draw, connection: &Connection, days: i32) -> Vec<Value> {
    let plane = connection.plane;
    let (arrival_minutes, arrival_days_later) = connection.arrival();
    let mut occupied = [plane.economy, plane.business, plane.first].map(|seats| seats * draw.between(82, 100) / 100);
    let mut paid_cents = payments(draw, connection, occupied);
    if (connection.carrier, connection.number, iso_date(days).as_str()) == ("AA", "0017", "2013-09-25") {
        occupied = [368, 31, 19];
        paid_cents = 18_728_226;
    }
    let count = |seats: u32| Value::Integer(i64::from(seats));
    vec![
        text(connection.carrier),
        text(connection.number),
        date(days),
        text(connection.from.country),
        text(connection.from.city),
        text(connection.from.code),
        text(connection.to.country),
        text(connection.to.city),
        text(connection.to.code),
        Value::Integer(i64::from(connection.flight_minutes)),
        time_of_day(connection.departure_minutes),
        time_of_day(arrival_minutes),
        Value::Decimal(connection.distance.to_owned()),
        text(connection.distance_unit),
        text(""),
        Value::Integer(i64::from(arrival_days_later)),
        cents(u64::from(connection.fare_cents)),
        text(currency_of(connection)),
        text(plane.name),
        count(plane.economy),
        count(occupied[0]),
        cents(paid_cents),
        count(plane.business),
        count(occupied[1]),
        count(plane.first),
        count(occupied[2]),
    ]
}

/// Payments of a flight's passengers: the fare by class, less a discount that differs by flight.
fn payments(draw: &mut Draw, connection: &Connection, occupied: [u32; 3]) -> u64 {
    let full_fares_percent: u64 =
        occupied.iter().zip(CLASSES).map(|(seats, (_, percent))| u64::from(seats * percent)).sum();
    let kept_per_mille = u64::from(draw.between(880, 1_000));
    u64::from(connection.fare_cents) * full_fares_percent * kept_per_mille / 100_000
}

fn booking(draw: &mut Draw, connection: &Connection, days: i32, number: u32, agency_numbers: &[String]) -> Vec<Value> {
    let flag = |set: bool| text(if set { "X" } else { "" });
    let business = draw.chance(25);
    let class = *draw.one_of(&[CLASSES[0], CLASSES[0], CLASSES[0], CLASSES[1], CLASSES[2]]);
    let discounted_percent = draw.between(85, 100);
    let local_cents = connection.fare_cents * class.1 / 100 * discounted_percent / 100;
    let (foreign_currency, units) = *draw.one_of(&PAYMENT_CURRENCIES);
    let customer = draw.between(1, 4_800);
    let smoker = draw.chance(6);
    let luggage_tenths = if draw.chance(20) { 0 } else { draw.between(40, 320) };
    let invoice = draw.chance(30);
    let ordered_days = days - draw.between(1, 330) as i32;
    let (counter, agency) = if draw.chance(35) {
        (Some(format!("{:08}", draw.between(1, 30))), None)
    } else {
        (None, Some(draw.one_of(agency_numbers).as_str()))
    };
    let cancelled = draw.chance(7);
    let reserved = draw.chance(4);
    let (given_name, form) = if draw.chance(50) { (draw.one_of(&WOMEN), "Ms.") } else { (draw.one_of(&MEN), "Mr.") };
    let passenger = format!("{given_name} {}", draw.one_of(&SURNAMES));
    let birth = date(10_500 - draw.between(0, 20_000) as i32);
    vec![
        text(connection.carrier),
        text(connection.number),
        date(days),
        text(format!("{number:08}")),
        text(format!("{customer:08}")),
        text(if business { "B" } else { "P" }),
        flag(smoker),
        text("KG"),
        Value::Decimal(format!("{}.{}000", luggage_tenths / 10, luggage_tenths % 10)),
        flag(invoice),
        text(class.0),
        thousands(local_cents * 100 / units),
        text(foreign_currency),
        thousands(local_cents),
        text(currency_of(connection)),
        date(ordered_days),
        optional(counter),
        optional(agency),
        flag(cancelled),
        flag(reserved),
        text(passenger),
        if business { Value::Null } else { text(form) },
        if business { Value::Null } else { birth },
    ]
}

fn currency_of(connection: &Connection) -> &'static str {
    let carrier = CARRIERS.iter().find(|carrier| carrier.id == connection.carrier);
    carrier.expect("every connection belongs to a listed carrier").currency
}

fn text(value: impl Into<String>) -> Value {
    Value::String(value.into())
}

fn optional(value: Option<impl Into<String>>) -> Value {
    value.map_or(Value::Null, text)
}

fn date(days: i32) -> Value {
    Value::Text(Primitive::Date, iso_date(days))
}

fn time_of_day(minutes: i32) -> Value {
    Value::Text(Primitive::TimeOfDay { precision: 0 }, format!("{:02}:{:02}:00", minutes / 60, minutes % 60))
}

fn cents(amount: u64) -> Value {
    Value::Decimal(format!("{}.{:02}", amount / 100, amount % 100))
}

/// Writes an amount in thousands: amounts of bookings are declared with 14 of 15 digits after the point.
fn thousands(cents: u32) -> Value {
    Value::Decimal(format!("{}.{:05}", cents / 100_000, cents % 100_000))
}

fn iso_date(days: i32) -> String {
    date_from_days(i64::from(days)).expect("the dates of the data set have four digits of year")
}
