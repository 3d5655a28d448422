//! The modes in which records are inserted, by name: `sequential`, `parallel-10`, `batch-100`, `custom-rest`.
//!
//! It does not render requests (see [`crate::load`]).

use std::fmt;
use std::str::FromStr;

/// Maximum number of connections of `parallel-N`: above it the ports of one address run out.
pub const CONNECTIONS_MAX: u32 = 10_000;
/// Most records in one request of a batch.
pub const BATCH_RECORDS_MAX: u32 = 20_000;

/// The way in which records are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// One request for each record, over several connections; with one connection it is called `sequential`.
    Single {
        /// Connections.
        connections: u32,
    },
    /// Batches of records, one after another.
    Batch {
        /// The format of a batch.
        form: BatchForm,
        /// Records in each; the last one has the remainder.
        records: u32,
    },
    /// All records in one array to the subject's own REST endpoint.
    CustomRest,
}

/// The format of a batch, each with its name in modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, derive_more::Display)]
#[display(rename_all = "kebab-case")]
pub enum BatchForm {
    /// JSON, each request separately.
    #[display("batch")]
    Json,
    /// JSON, all requests in one atomic group.
    Changeset,
    /// Multipart, each request separately.
    Multipart,
}

impl Mode {
    /// Maximum number of concurrent connections.
    pub fn connections(self) -> u32 {
        match self {
            Mode::Single { connections } => connections,
            Mode::Batch { .. } | Mode::CustomRest => 1,
        }
    }

    /// A mode's title, in a few words.
    pub(crate) fn title(self) -> String {
        match self {
            Mode::Single { connections: 1 } => "one request a record, one after another".to_owned(),
            Mode::Single { connections } => format!("one request a record, over {connections} connections"),
            Mode::Batch { form, records } => match form {
                BatchForm::Json => format!("JSON batches of {records} independent requests"),
                BatchForm::Changeset => format!("JSON batches of one change set of {records}"),
                BatchForm::Multipart => format!("multipart batches of {records} independent requests"),
            },
            Mode::CustomRest => "all records in one array to a REST endpoint".to_owned(),
        }
    }

    /// Connections that a transfer of this many records uses: never more than records.
    pub fn connections_for(self, records: u64) -> u64 {
        u64::from(self.connections()).min(records)
    }

    /// The number of times that a transfer of this many records waits for a response before it can go on.
    pub fn waits(self, records: u64) -> u64 {
        records.div_ceil(self.records_per_request(records)).div_ceil(self.connections_for(records).max(1))
    }

    /// Records in one request of a transfer of `records`.
    pub fn records_per_request(self, records: u64) -> u64 {
        match self {
            Mode::Single { .. } => 1,
            Mode::Batch { records, .. } => u64::from(records),
            Mode::CustomRest => records.max(1),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::Single { connections: 1 } => formatter.write_str("sequential"),
            Mode::Single { connections } => write!(formatter, "parallel-{connections}"),
            Mode::Batch { form, records } => write!(formatter, "{form}-{records}"),
            Mode::CustomRest => formatter.write_str("custom-rest"),
        }
    }
}

impl BatchForm {
    const ALL: [BatchForm; 3] = [BatchForm::Json, BatchForm::Changeset, BatchForm::Multipart];
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Mode, String> {
        match text {
            "sequential" => return Ok(Mode::Single { connections: 1 }),
            "custom-rest" => return Ok(Mode::CustomRest),
            _ => {}
        }
        let unknown = || {
            format!(
                "`{text}` is no mode: expected sequential, parallel-N, batch-N, changeset-N, multipart-N or custom-rest"
            )
        };
        let (name, count) = text.rsplit_once('-').ok_or_else(unknown)?;
        let count: u32 = count.parse().map_err(|_| unknown())?;
        let bounded = |most: u32| match (1..=most).contains(&count) {
            true => Ok(count),
            false => Err(format!("`{text}`: the number is from 1 to {most}")),
        };
        if name == "parallel" {
            return Ok(Mode::Single { connections: bounded(CONNECTIONS_MAX)? });
        }
        let form = BatchForm::ALL.into_iter().find(|form| form.to_string() == name).ok_or_else(unknown)?;
        Ok(Mode::Batch { form, records: bounded(BATCH_RECORDS_MAX)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_read_from_the_name_that_it_shows() {
        for name in ["sequential", "parallel-10", "batch-100", "changeset-1", "multipart-20000", "custom-rest"] {
            assert_eq!(name.parse::<Mode>().unwrap().to_string(), name);
        }
        assert_eq!("parallel-1".parse::<Mode>().unwrap(), Mode::Single { connections: 1 });
    }

    #[test]
    fn a_transfer_waits_for_its_requests_one_after_another_on_each_connection() {
        let check = |mode: &str, records: u64, expected: u64| {
            assert_eq!(mode.parse::<Mode>().unwrap().waits(records), expected, "{mode} of {records}");
        };
        check("sequential", 100, 100);
        check("parallel-10", 100, 10);
        check("parallel-500", 100, 1);
        check("batch-50", 120, 3);
        check("custom-rest", 20_000, 1);
    }

    #[test]
    fn what_is_no_mode_is_refused() {
        for name in ["", "batch", "batch-", "batch-x", "batch-0", "parallel-10001", "multipart-20001", "stream-5"] {
            let message = name.parse::<Mode>().unwrap_err();
            assert!(message.contains(name) && message.contains("N") | message.contains("from 1 to"), "{message}");
        }
    }
}
