//! The airlines, airports, planes and connections between which the data set's flights run.
//!
//! Airports and airlines exist; timetables, fares and seat plans are made up, except for AA 0017, whose values are
//! those of the reference service.

/// An airline.
pub(super) struct Carrier {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) currency: &'static str,
    pub(super) home_page: &'static str,
}

/// An airport with its offset from UTC in standard time.
pub(super) struct Airport {
    pub(super) code: &'static str,
    pub(super) city: &'static str,
    pub(super) country: &'static str,
    pub(super) utc_offset_minutes: i32,
}

/// A type of plane with its seats by class.
pub(super) struct Plane {
    pub(super) name: &'static str,
    pub(super) economy: u32,
    pub(super) business: u32,
    pub(super) first: u32,
}

/// A scheduled connection.
pub(super) struct Connection {
    pub(super) carrier: &'static str,
    pub(super) number: &'static str,
    pub(super) from: &'static Airport,
    pub(super) to: &'static Airport,
    pub(super) flight_minutes: i32,
    /// Local time of departure, minutes after midnight.
    pub(super) departure_minutes: i32,
    pub(super) distance: &'static str,
    pub(super) distance_unit: &'static str,
    /// Hundredths of the carrier's currency.
    pub(super) fare_cents: u32,
    pub(super) plane: &'static Plane,
}

/// The airlines; the last four have no flights in the data set.
pub(super) const CARRIERS: [Carrier; 12] = [
    carrier("AA", "American Airlines", "USD", "http://www.aa.com"),
    carrier("AF", "Air France", "EUR", "http://www.airfrance.fr"),
    carrier("BA", "British Airways", "GBP", "http://www.britishairways.com"),
    carrier("DL", "Delta Airlines", "USD", "http://www.delta-air.com"),
    carrier("LH", "Lufthansa", "EUR", "http://www.lufthansa.com"),
    carrier("QF", "Qantas Airways", "AUD", "http://www.qantas.com.au"),
    carrier("SQ", "Singapore Airlines", "SGD", "http://www.singaporeair.com"),
    carrier("UA", "United Airlines", "USD", "http://www.ual.com"),
    carrier("AC", "Air Canada", "CAD", "http://www.aircanada.ca"),
    carrier("AZ", "Alitalia", "EUR", "http://www.alitalia.it"),
    carrier("JL", "Japan Airlines", "JPY", "http://www.jal.co.jp"),
    carrier("SK", "Scandinavian", "SEK", "http://www.flysas.com"),
];

/// The connections, 2 for each of 8 carriers.
pub(super) const CONNECTIONS: [Connection; 16] = [
    connection("AA", "0017", &JFK, &SFO, 361, 11 * 60, "2573.0000", "SMI", 42_294, &B747),
    connection("AA", "0064", &SFO, &JFK, 321, 9 * 60, "2573.0000", "SMI", 42_294, &A310),
    connection("AF", "0256", &CDG, &SIN, 775, 21 * 60 + 10, "10742.0000", "KM", 71150, &B777),
    connection("AF", "0257", &SIN, &CDG, 820, 23 * 60 + 5, "10742.0000", "KM", 69800, &B777),
    connection("BA", "0117", &LHR, &JFK, 475, 8 * 60 + 25, "5555.0000", "KM", 38920, &B747),
    connection("BA", "0178", &JFK, &LHR, 410, 18 * 60 + 30, "5555.0000", "KM", 39575, &B747),
    connection("DL", "0106", &JFK, &FRA, 435, 19 * 60 + 35, "3851.0000", "SMI", 61101, &A330),
    connection("DL", "0107", &FRA, &JFK, 505, 10 * 60 + 20, "3851.0000", "SMI", 61101, &A330),
    connection("LH", "0400", &FRA, &JFK, 504, 10 * 60 + 10, "6162.0000", "KM", 66600, &A340),
    connection("LH", "0401", &JFK, &FRA, 435, 18 * 60 + 30, "6162.0000", "KM", 66600, &A340),
    connection("QF", "0005", &SIN, &FRA, 825, 22 * 60 + 50, "10280.0000", "KM", 128540, &A380),
    connection("QF", "0006", &FRA, &SIN, 750, 20 * 60 + 55, "10280.0000", "KM", 131000, &A380),
    connection("SQ", "0001", &SFO, &SIN, 1010, 60, "8435.5000", "SMI", 118880, &B777),
    connection("SQ", "0002", &SIN, &SFO, 945, 9 * 60 + 20, "8435.5000", "SMI", 114225, &B777),
    connection("UA", "0941", &FRA, &SFO, 690, 14 * 60 + 30, "5685.0000", "SMI", 87982, &B747),
    connection("UA", "0942", &SFO, &FRA, 650, 13 * 60 + 55, "5685.0000", "SMI", 87982, &B747),
];

const CDG: Airport = airport("CDG", "PARIS", "FR", 60);
const FRA: Airport = airport("FRA", "FRANKFURT", "DE", 60);
const JFK: Airport = airport("JFK", "new york", "US", -300);
const LHR: Airport = airport("LHR", "LONDON", "GB", 0);
const SFO: Airport = airport("SFO", "SAN FRANCISCO", "US", -480);
const SIN: Airport = airport("SIN", "SINGAPORE", "SG", 480);

const A310: Plane = plane("A310-300", 280, 22, 10);
const A330: Plane = plane("A330-300", 320, 30, 20);
const A340: Plane = plane("A340-600", 330, 30, 20);
const A380: Plane = plane("A380-800", 475, 30, 20);
const B747: Plane = plane("747-400", 385, 31, 21);
const B777: Plane = plane("777-200", 310, 32, 14);

impl Connection {
    /// Local time of arrival in minutes after midnight, and the number of days after the departure.
    pub(super) fn arrival(&self) -> (i32, i32) {
        let shift_minutes = self.to.utc_offset_minutes - self.from.utc_offset_minutes;
        let minutes = self.departure_minutes + self.flight_minutes + shift_minutes;
        (minutes.rem_euclid(DAY_MINUTES), minutes.div_euclid(DAY_MINUTES))
    }
}

const DAY_MINUTES: i32 = 24 * 60;

const fn carrier(id: &'static str, name: &'static str, currency: &'static str, home_page: &'static str) -> Carrier {
    Carrier { id, name, currency, home_page }
}

const fn airport(code: &'static str, city: &'static str, country: &'static str, utc_offset_minutes: i32) -> Airport {
    Airport { code, city, country, utc_offset_minutes }
}

const fn plane(name: &'static str, economy: u32, business: u32, first: u32) -> Plane {
    Plane { name, economy, business, first }
}

#[expect(clippy::too_many_arguments, reason = "one line of the timetable above")]
const fn connection(
    carrier: &'static str,
    number: &'static str,
    from: &'static Airport,
    to: &'static Airport,
    flight_minutes: i32,
    departure_minutes: i32,
    distance: &'static str,
    distance_unit: &'static str,
    fare_cents: u32,
    plane: &'static Plane,
) -> Connection {
    Connection {
        carrier,
        number,
        from,
        to,
        flight_minutes,
        departure_minutes,
        distance,
        distance_unit,
        fare_cents,
        plane,
    }
}
