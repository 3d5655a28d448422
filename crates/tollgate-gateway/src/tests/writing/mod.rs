//! Writing from outside, in both versions and all formats: what each request changes, and what it is answered with.

mod v2;
mod v4;
