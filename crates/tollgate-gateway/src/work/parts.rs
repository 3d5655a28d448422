//! Transfer of a long answer from a work process outside the loop: in parts of 128 KiB through a small bounded channel,
//! so that a slow client holds back its own statement and nothing is gathered.
//!
//! The writer waits for a slow client only for a limited time; then it pauses, so that a slow client occupies no work
//! process, thread or snapshot. Buffers are reused: a part that was sent returns to [`Buffers`], which all loops share.
//! The content of a part is not known here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::answer_room::{AnswerRoom, AnswerShare, FREE_BYTES, settle};
use crate::store::Flow;

/// Size from which a part is sent; it is longer by at most the data written since the last check.
///
/// Each part wakes the loop, which on one core interrupts the writer. Lists of 400 to 20 clients on one core, us of CPU
/// each as JSON / Atom, and the peak of memory: 64 KiB 720 / 1,170, 19 MB; 128 KiB 640 / 1,070, 26 MB; 256 KiB 570 /
/// 1,060, 30 MB; without leaving the loop 580 / 1,010, 11 MB (but see weight.rs for what that does to others).
pub(crate) const PART_BYTES: usize = 128 * 1024;

/// Parts ready for a slow client, beside the one being sent and the one being written.
const PARTS_AHEAD: usize = 1;

/// Room behind [`PART_BYTES`] for the entity that crosses it, so that the buffer does not grow.
const OVERHANG_BYTES: usize = 8 * 1024;

/// Bytes of parts that are ready or being written while one is sent: what a slow client holds beside that.
pub(crate) const BESIDE_BYTES_MAX: usize = (PARTS_AHEAD + 1) * (PART_BYTES + OVERHANG_BYTES);

/// Buffers kept for the next answer: all that 20 work processes use at once, 8.7 MB. Buffers beyond that move between
/// the threads' heaps, which then grow more.
const SPARE_BUFFERS_MAX: usize = 64;

/// Largest buffer that is kept.
const SPARE_BYTES_MAX: usize = PART_BYTES + 2 * OVERHANG_BYTES;

/// Longest wait of a writer for its client altogether before it pauses. Going on costs about as much as finding one
/// entity by its key, or sorting again if the order has no index; far less than 100 ms of a work process.
const PATIENCE: Duration = Duration::from_millis(100);

/// Bytes of all parts of answers that so many work processes write, beside those of large answers, and of spare buffers.
pub(crate) const fn bytes_max(work_processes: usize) -> usize {
    // One is written, one is ready and one is sent.
    work_processes * (PARTS_AHEAD + 2) * FREE_BYTES + SPARE_BUFFERS_MAX * SPARE_BYTES_MAX
}

/// Spare buffers for parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffers {
    spare: Arc<Mutex<Vec<Vec<u8>>>>,
    /// Whether any was taken since the last look.
    taken: Arc<AtomicBool>,
}

/// Destination of an answer: a buffer that is sent as a whole, or parts.
pub(crate) trait Output {
    /// Buffer being written.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// Called after each entity, to send the data so far. `Stop` asks to end the statement.
    fn entity_done(&mut self) -> Flow;

    /// Bytes written so far, those already sent included.
    fn written(&self) -> u64;

    /// Accounts for its memory; returns whether there is room.
    fn has_room(&mut self, room: &AnswerRoom) -> bool;
}

/// An answer in one piece, with its share of the memory for large ones.
#[derive(Debug, Default)]
pub(crate) struct Whole {
    bytes: Vec<u8>,
    share: AnswerShare,
}

/// An answer in a buffer of another owner, with its share of the memory for large ones.
#[derive(Debug)]
pub(crate) struct Lent<'b> {
    pub(crate) bytes: &'b mut Vec<u8>,
    pub(crate) share: &'b mut AnswerShare,
}

/// A part of an answer, with its share of the memory for large ones.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) bytes: Vec<u8>,
    share: AnswerShare,
}

/// The writing end, for a thread that may block and belongs to a runtime.
#[derive(Debug)]
pub(crate) struct PartWriter {
    part: Part,
    buffers: Buffers,
    /// Bytes of the parts that are sent.
    sent: u64,
    sender: mpsc::Sender<Part>,
    patience: Duration,
}

/// The reading end, for the loop. Dropping it stops the writer at its next part.
pub(crate) type PartReader = mpsc::Receiver<Part>;

/// The two ends of an answer in parts.
pub(crate) fn channel(buffers: &Buffers) -> (PartWriter, PartReader) {
    patient_channel(buffers, PATIENCE)
}

fn patient_channel(buffers: &Buffers, patience: Duration) -> (PartWriter, PartReader) {
    let (sender, receiver) = mpsc::channel(PARTS_AHEAD);
    (PartWriter { part: Part::of(buffers.take()), buffers: buffers.clone(), sent: 0, sender, patience }, receiver)
}

impl Buffers {
    /// An empty buffer with room for a part.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.taken.store(true, Ordering::Relaxed);
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| Vec::with_capacity(PART_BYTES + OVERHANG_BYTES))
    }

    /// Called a few times a second: gives a quarter of the spare ones up if none was needed since the last call.
    pub(crate) fn rest(&self) {
        if !self.taken.swap(false, Ordering::Relaxed) {
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            let left = spare.len() * 3 / 4;
            spare.truncate(left);
        }
    }

    /// Keeps a buffer for the next part.
    pub(crate) fn give_back(&self, mut buffer: Vec<u8>) {
        // One that an unusual entity made large would be kept for ever; a small one would have to grow.
        if !(PART_BYTES..=SPARE_BYTES_MAX).contains(&buffer.capacity()) {
            return;
        }
        buffer.clear();
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE_BUFFERS_MAX {
            spare.push(buffer);
        }
    }
}

impl PartWriter {
    /// Data written and not sent. Ends the writing.
    pub(crate) fn into_rest(mut self) -> Part {
        settle(&mut self.part.bytes);
        self.part
    }

    /// Sends the buffer as a part; returns whether the client took it in time.
    fn send(&mut self) -> Flow {
        let permit = match self.sender.try_reserve() {
            Ok(permit) => permit,
            Err(mpsc::error::TrySendError::Closed(())) => return Flow::Stop,
            Err(mpsc::error::TrySendError::Full(())) => {
                let since = Instant::now();
                let waited = Handle::current()
                    .block_on(async { tokio::time::timeout(self.patience, self.sender.reserve()).await });
                let Ok(Ok(permit)) = waited else { return Flow::Stop };
                self.patience = self.patience.saturating_sub(since.elapsed());
                permit
            }
        };
        self.sent += self.part.bytes.len() as u64;
        settle(&mut self.part.bytes);
        permit.send(std::mem::replace(&mut self.part, Part::of(self.buffers.take())));
        Flow::Continue
    }
}

impl Whole {
    /// Begins with these bytes.
    pub(crate) fn of(bytes: Vec<u8>) -> Whole {
        Whole { bytes, share: AnswerShare::default() }
    }

    /// The bytes, for which the caller accounts from now on.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        settle(&mut self.bytes);
        self.bytes
    }
}

impl Part {
    fn of(bytes: Vec<u8>) -> Part {
        Part { bytes, share: AnswerShare::default() }
    }
}

impl Output for Whole {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    fn entity_done(&mut self) -> Flow {
        Flow::Continue
    }

    fn written(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn has_room(&mut self, room: &AnswerRoom) -> bool {
        self.share.covers(room, &mut self.bytes)
    }
}

impl Output for Lent<'_> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes
    }

    fn entity_done(&mut self) -> Flow {
        Flow::Continue
    }

    fn written(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn has_room(&mut self, room: &AnswerRoom) -> bool {
        self.share.covers(room, self.bytes)
    }
}

impl Output for PartWriter {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.part.bytes
    }

    fn entity_done(&mut self) -> Flow {
        if self.part.bytes.len() < PART_BYTES { Flow::Continue } else { self.send() }
    }

    fn written(&self) -> u64 {
        self.sent + self.part.bytes.len() as u64
    }

    fn has_room(&mut self, room: &AnswerRoom) -> bool {
        self.part.share.covers(room, &mut self.part.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: [u8; 1024] = [b'x'; 1024];

    /// Writes KiB after KiB until it must stop, at most `count`; returns how many and the length of the rest.
    async fn write(mut writer: PartWriter, count: usize) -> (usize, usize) {
        tokio::task::spawn_blocking(move || {
            let mut written = 0;
            while written < count {
                writer.buffer().extend_from_slice(&KIB);
                written += 1;
                if writer.entity_done() == Flow::Stop {
                    break;
                }
            }
            (written, writer.into_rest().bytes.len())
        })
        .await
        .unwrap()
    }

    const PART_KIB: usize = PART_BYTES / KIB.len();

    #[tokio::test]
    async fn an_answer_is_cut_into_parts_and_its_buffers_are_used_again() {
        let buffers = Buffers::default();
        let (writer, mut reader) = patient_channel(&buffers, Duration::from_secs(3600));
        let writing = tokio::spawn(write(writer, 2 * PART_KIB + 2));
        let mut lengths = Vec::new();
        while let Some(part) = reader.recv().await {
            lengths.push(part.bytes.len());
            buffers.give_back(part.bytes);
        }
        assert_eq!((lengths, writing.await.unwrap()), (vec![PART_BYTES, PART_BYTES], (2 * PART_KIB + 2, 2 * 1024)));
        assert!((1..=4).contains(&buffers.spare.lock().unwrap().len()));
    }

    #[test]
    fn spare_buffers_go_when_nobody_needs_them() {
        let buffers = Buffers::default();
        let taken: Vec<_> = (0..4).map(|_| buffers.take()).collect();
        taken.into_iter().for_each(|buffer| buffers.give_back(buffer));
        let spare = |buffers: &Buffers| buffers.spare.lock().unwrap().len();
        buffers.rest();
        assert_eq!(spare(&buffers), 4, "they were needed a moment ago");
        for expected in [3, 2, 1, 0, 0] {
            buffers.rest();
            assert_eq!(spare(&buffers), expected);
        }
    }

    #[tokio::test]
    async fn a_reader_that_went_away_stops_the_writer() {
        let (writer, reader) = channel(&Buffers::default());
        drop(reader);
        assert_eq!(write(writer, 1000).await, (PART_KIB, PART_BYTES));
    }

    #[tokio::test]
    async fn a_reader_that_does_not_read_pauses_the_writer_with_its_part_kept() {
        let (writer, mut reader) = patient_channel(&Buffers::default(), Duration::ZERO);
        assert_eq!(write(writer, 1000).await, ((PARTS_AHEAD + 1) * PART_KIB, PART_BYTES));
        for _ in 0..PARTS_AHEAD {
            assert_eq!(reader.recv().await.map(|part| part.bytes.len()), Some(PART_BYTES));
        }
        assert!(reader.recv().await.is_none());
    }
}
