//! Made-up passengers and travel agencies.
//!
//! Some names contain letters beyond ASCII, an ampersand or an apostrophe, as real data do: every writer must handle
//! it.

/// A travel agency; numbers, streets and telephones are drawn.
pub(super) struct Agency {
    pub(super) name: &'static str,
    pub(super) city: &'static str,
    pub(super) post_code: &'static str,
    pub(super) country: &'static str,
    pub(super) region: Option<&'static str>,
    pub(super) telephone_prefix: &'static str,
    pub(super) language: &'static str,
    pub(super) currency: &'static str,
}

pub(super) const WOMEN: [&str; 16] = [
    "Agnès", "Amara", "Beate", "Chiara", "Dagny", "Eleanor", "Fatima", "Greta", "Ingrid", "Jelena", "Keiko", "Lucía",
    "Mei", "Niamh", "Priya", "Zoë",
];

pub(super) const MEN: [&str; 16] = [
    "Adam",
    "Bjørn",
    "Carlos",
    "Dmitri",
    "Ebo",
    "François",
    "Guido",
    "Håkon",
    "Ivo",
    "Jürgen",
    "Kenji",
    "Liam",
    "Mustafa",
    "Noah",
    "Ravi",
    "Tomáš",
];

pub(super) const SURNAMES: [&str; 32] = [
    "Abelmann",
    "Bäcker",
    "Barrios",
    "Čapek",
    "Delacroix",
    "Eriksson",
    "Fontaine",
    "Gonçalves",
    "Haverkamp",
    "Ibsen",
    "Jansen",
    "Kowalski",
    "Lindqvist",
    "Moreau",
    "Müller",
    "Nakamura",
    "Núñez",
    "O'Neill",
    "Ødegård",
    "Petrov",
    "Quispe",
    "Rossi",
    "Schönfeld",
    "Silva",
    "Tanaka",
    "Ullmann",
    "Vermeulen",
    "Weiß",
    "Xavier",
    "Yılmaz",
    "Zhang",
    "Zimmermann",
];

pub(super) const STREETS: [&str; 12] = [
    "Harbour Road",
    "Station Square",
    "Chestnut Avenue",
    "Rue du Moulin",
    "Lindenallee",
    "Via Garibaldi",
    "Mill Lane",
    "Calle Mayor",
    "Orchard Road",
    "Hafenstraße",
    "King's Parade",
    "Bridge Street",
];

pub(super) const AGENCIES: [Agency; 24] = [
    agency("Bell & Fox Travel", "LONDON", "EC2M 4NS", "GB", None, "020 7946", "E", "GBP"),
    agency("Blue Lagoon Tours", "SYDNEY", "2000", "AU", Some("NSW"), "02 5550", "E", "AUD"),
    agency("Bonne Route", "PARIS", "75010", "FR", None, "01 99 00", "F", "EUR"),
    agency("Canal Street Voyages", "NEW ORLEANS", "70112", "US", Some("LA"), "504-555", "E", "USD"),
    agency("Cloud Nine Journeys", "DENVER", "80202", "US", Some("CO"), "303-555", "E", "USD"),
    agency("Das Reisebüro am Dom", "KÖLN", "50667", "DE", Some("05"), "0221 555", "D", "EUR"),
    agency("Ernst & Söhne Reisen", "WIEN", "1010", "AT", None, "01 555", "D", "EUR"),
    agency("Fair Winds", "BOSTON", "02110", "US", Some("MA"), "617-555", "E", "USD"),
    agency("Fernweh", "HAMBURG", "20095", "DE", Some("02"), "040 555", "D", "EUR"),
    agency("Giro del Mondo", "ROMA", "00185", "IT", Some("RM"), "06 5550", "I", "EUR"),
    agency("Golden Gate Getaways", "SAN FRANCISCO", "94105", "US", Some("CA"), "415-555", "E", "USD"),
    agency("Himmel und Meer", "FRANKFURT", "60311", "DE", Some("06"), "069 555", "D", "EUR"),
    agency("Horizon Reizen", "AMSTERDAM", "1012 AB", "NL", None, "020 555", "N", "EUR"),
    agency("Kiwi Escapes", "AUCKLAND", "1010", "NZ", None, "09 555", "E", "AUD"),
    agency("Lion City Holidays", "SINGAPORE", "238801", "SG", None, "6555", "E", "SGD"),
    agency("Maple Leaf Trips", "TORONTO", "M5J 2N8", "CA", Some("ON"), "416-555", "E", "USD"),
    agency("Nordlys Reiser", "OSLO", "0154", "NO", None, "22 55", "O", "EUR"),
    agency("Penguin & Partners", "CAPE TOWN", "8001", "ZA", None, "021 555", "E", "USD"),
    agency("Sakura Travel Service", "TOKYO", "100-0005", "JP", None, "03-5550", "J", "USD"),
    agency("Sol y Sombra Viajes", "MADRID", "28013", "ES", None, "91 555", "S", "EUR"),
    agency("Star Alley Travel", "CHICAGO", "60611", "US", Some("IL"), "312-555", "E", "USD"),
    agency("Sunrise to Sunset", "MIAMI", "33131", "US", Some("FL"), "305-555", "E", "USD"),
    agency("The Ticket Counter", "EDINBURGH", "EH1 1YZ", "GB", None, "0131 496", "E", "GBP"),
    agency("Wanderlust Reisen", "ZÜRICH", "8001", "CH", Some("ZH"), "044 555", "D", "EUR"),
];

#[expect(clippy::too_many_arguments, reason = "one line of the list above")]
const fn agency(
    name: &'static str,
    city: &'static str,
    post_code: &'static str,
    country: &'static str,
    region: Option<&'static str>,
    telephone_prefix: &'static str,
    language: &'static str,
    currency: &'static str,
) -> Agency {
    Agency { name, city, post_code, country, region, telephone_prefix, language, currency }
}
