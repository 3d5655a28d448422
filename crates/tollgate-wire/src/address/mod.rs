//! The parts of a URL by themselves: literals, keys, calls of functions, percent coding, and their errors.
//!
//! It deliberately knows neither paths nor query options.

mod call;
mod error;
mod key;
mod literal;
mod percent;

pub(crate) use call::{Argument, Call, leads_to, read as read_call, shape as call_shape, value as parameter_value};
pub use error::{Fault, Place, UrlError};
pub(crate) use error::{Parsed, Problem, quoted};
pub(crate) use key::{Aliases, of_segment, parse as read_key};
pub use key::{write_address, write_key, write_literal};
pub(crate) use literal::{Literal, convert, read as read_literal, type_name};
pub(crate) use percent::{NUL, Plus, Quotes, decode, decode_path, encode};
pub use percent::{decode_segment, encode_beside, escape};
