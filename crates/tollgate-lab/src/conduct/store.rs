//! The folder of a run: `result.json`, replaced as a whole each time, and `times.hlog`, one line more for each trial.
//!
//! Nothing is created before there is something to store, and no half-written file remains.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use super::options::RunError;
use tollgate_facts::results::RunResult;

/// Name of the result in its folder.
pub const RESULT: &str = "result.json";
/// Name of the histograms in the folder.
pub const HISTOGRAMS: &str = "times.hlog";
/// Default folder of runs.
const RUNS: &str = "runs";
/// Maximum number of runs of one experiment begun in the same second.
const SAME_SECOND_MAX: u32 = 1000;

/// A run's folder.
#[derive(Debug)]
pub(crate) struct Store {
    directory: PathBuf,
    histograms: Option<File>,
}

impl Store {
    /// Chooses the folder and makes sure that it contains no other run's result.
    pub(crate) fn choose(asked: Option<&Path>, experiment: &str, started: jiff::Timestamp) -> Result<Store, RunError> {
        let directory = match asked {
            Some(directory) if directory.join(RESULT).exists() => {
                let directory = directory.display();
                return Err(RunError::Usage(format!("{directory} already holds a result: choose another --out")));
            }
            Some(directory) if directory.is_file() => {
                return Err(RunError::Usage(format!("{} is a file, not a folder (--out)", directory.display())));
            }
            Some(directory) => directory.to_owned(),
            None => unused(experiment, started),
        };
        Ok(Store { directory, histograms: None })
    }

    /// The folder.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Replaces the result: a reader sees either the old one or the new one.
    pub(crate) fn write_result(&self, result: &RunResult) -> Result<(), String> {
        let write = || -> io::Result<()> {
            fs::create_dir_all(&self.directory)?;
            let fresh = self.directory.join(format!("{RESULT}.new"));
            let mut text = serde_json::to_vec_pretty(result)?;
            text.push(b'\n');
            let written = fs::write(&fresh, &text).and_then(|()| fs::rename(&fresh, self.directory.join(RESULT)));
            if written.is_err() {
                // What cannot be removed could not be written either; the first error says why.
                let _ = fs::remove_file(&fresh);
            }
            written
        };
        write().map_err(|error| format!("the result cannot be written to {}: {error}", self.directory.display()))
    }

    /// Adds the times of one trial, in nanoseconds, under a tag such as `rest-json@20`.
    pub(crate) fn write_times(
        &mut self,
        tag: &str,
        start: Duration,
        length: Duration,
        times: &Histogram<u64>,
    ) -> Result<(), String> {
        let line = log_line(tag, start, length, times);
        let write = |store: &mut Store| -> io::Result<()> {
            let file = match &mut store.histograms {
                Some(file) => file,
                None => {
                    fs::create_dir_all(&store.directory)?;
                    let path = store.directory.join(HISTOGRAMS);
                    let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(path)?;
                    file.write_all(HEADER.as_bytes())?;
                    store.histograms.insert(file)
                }
            };
            file.write_all(&line)
        };
        write(self).map_err(|error| format!("the times cannot be written to {}: {error}", self.directory.display()))
    }
}

/// The header of a log, as HdrHistogram's own tools read it.
const HEADER: &str = "#[Histogram log format version 1.3]\n\
    #Response times of valid answers in nanoseconds, one line for each trial, tagged variant@level;\n\
    #those of failed requests are tagged variant@level!failed\n\
    \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// A line of a log of histograms.
pub(crate) fn log_line(tag: &str, start: Duration, length: Duration, times: &Histogram<u64>) -> Vec<u8> {
    let mut line = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let tag = Tag::new(tag).expect("names of variants hold no comma and no white space");
    IntervalLogWriterBuilder::new()
        .begin_log_with(&mut line, &mut serializer)
        .and_then(|mut writer| {
            writer.write_histogram(times, start, length, Some(tag)).map_err(|error| io::Error::other(error.to_string()))
        })
        .expect("writing into memory does not fail, and the histogram's bounds are our own");
    line
}

fn unused(experiment: &str, started: jiff::Timestamp) -> PathBuf {
    let time = started.strftime("%Y%m%dT%H%M%SZ");
    let name = Path::new(RUNS).join(format!("{experiment}-{time}"));
    let further = (2..SAME_SECOND_MAX).map(|count| name.with_file_name(format!("{experiment}-{time}-{count}")));
    std::iter::once(name.clone()).chain(further).find(|path| !path.exists()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;
    use crate::load::record::recorder::times;
    use tollgate_facts::fixture;

    #[test]
    fn a_result_is_replaced_as_a_whole_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("deep/run");
        let store = Store::choose(Some(&out), "protocol", jiff::Timestamp::UNIX_EPOCH).unwrap();
        assert!(!out.exists(), "nothing is made before there is something to keep");
        let result = fixture::protocol();
        store.write_result(&result).unwrap();
        store.write_result(&result).unwrap();
        let read: RunResult = serde_json::from_str(&fs::read_to_string(out.join(RESULT)).unwrap()).unwrap();
        assert!(read.experiment == result.experiment && read.trials.len() == result.trials.len());
        assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
        let refused = Store::choose(Some(&out), "protocol", jiff::Timestamp::UNIX_EPOCH).unwrap_err();
        assert!(matches!(refused, RunError::Usage(_)));
    }

    #[test]
    fn a_run_gets_a_folder_of_its_own_by_name_and_time() {
        let store = Store::choose(None, "protocol", jiff::Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(store.directory(), Path::new("runs/protocol-19700101T000000Z"));
    }

    #[test]
    fn the_log_is_read_back_with_tag_times_and_counts() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::choose(Some(folder.path()), "x", jiff::Timestamp::UNIX_EPOCH).unwrap();
        let mut recorded = times();
        recorded.record(250_000).unwrap();
        for tag in ["rest-json@20", "rest-json@20!failed"] {
            store.write_times(tag, Duration::from_millis(1500), Duration::from_millis(100), &recorded).unwrap();
        }
        let text = fs::read(folder.path().join(HISTOGRAMS)).unwrap();
        let mut deserializer = Deserializer::new();
        let mut tags = Vec::new();
        for entry in IntervalLogIterator::new(&text) {
            if let LogEntry::Interval(interval) = entry.unwrap() {
                tags.push(interval.tag().unwrap().as_str().to_owned());
                assert_eq!(interval.start_timestamp(), Duration::from_millis(1500));
                let bytes = tollgate_wire::base64::decode(interval.encoded_histogram()).unwrap();
                let read: Histogram<u64> = deserializer.deserialize(&mut &bytes[..]).unwrap();
                assert_eq!((read.len(), read.max()), (1, recorded.max()));
            }
        }
        assert_eq!(tags, ["rest-json@20", "rest-json@20!failed"]);
    }
}
