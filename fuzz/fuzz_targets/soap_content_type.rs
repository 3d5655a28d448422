//! `Content-Type` and `SOAPAction` of messages of SOAP.
#![no_main]

#[path = "../../crates/tollgate-wire/tests/it/soap.rs"]
mod soap;

libfuzzer_sys::fuzz_target!(|text: &str| soap::content_type(text));
