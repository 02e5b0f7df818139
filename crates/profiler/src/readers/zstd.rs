//! A zstd-compressed stream.
//!
//! Responsible for: decompressing frame after frame, up to the first damage; all decompressed bytes of a
//! truncated frame precede the error. The error reports the bytes read and lost, not the message of the
//! library.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, Read};

/// Minimum number of bytes decompressed at a time, in addition to the window that frames refer back to.
const AHEAD: usize = 1 << 20;

/// The decompressed bytes of a stream.
pub(super) struct Unpacked<R> {
    source: Counted<R>,
    decoder: FrameDecoder,
    /// Error to return after all decompressed bytes.
    broken: Option<io::Error>,
    /// Number of returned bytes.
    given: u64,
    ended: bool,
}

/// A source that counts its bytes.
struct Counted<R> {
    source: R,
    count: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.count += count as u64;
        Ok(count)
    }
}

impl<R: Read> Unpacked<R> {
    /// Creates a reader for a stream that begins like zstd.
    pub(super) fn new(source: R) -> Self {
        let source = Counted { source, count: 0 };
        Self { source, decoder: FrameDecoder::new(), broken: None, given: 0, ended: false }
    }

    /// Begins the next frame, if there is one.
    fn begin(&mut self) -> Result<(), String> {
        loop {
            let mut first = [0];
            match self.source.read(&mut first) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(());
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.to_string()),
            }
            match self.decoder.reset(first.as_slice().chain(&mut self.source)) {
                Ok(()) => return Ok(()),
                // A frame without content.
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    match io::copy(&mut (&mut self.source).take(length), &mut io::sink()) {
                        Ok(passed) if passed == length => {}
                        _ => return Err("the data ends too early".to_owned()),
                    }
                }
                Err(FrameDecoderError::WindowSizeTooBig { requested }) => {
                    return Err(format!(
                        "it was compressed with a window of {requested} bytes, above the limit"
                    ));
                }
                Err(FrameDecoderError::DictNotProvided { .. }) => {
                    return Err("it was compressed with a dictionary that is not in the file".to_owned());
                }
                Err(_) => return Err("the following data is not a zstd frame".to_owned()),
            }
        }
    }

    /// Decompresses until `wanted` bytes are available, or to the end or the damage.
    fn fill(&mut self, wanted: usize) {
        while self.broken.is_none() && !self.ended && self.decoder.can_collect() < wanted {
            let done = if self.decoder.is_finished() {
                // The last bytes of a frame are read before the next one begins.
                if self.decoder.can_collect() > 0 {
                    return;
                }
                self.begin()
            } else {
                let blocks = BlockDecodingStrategy::UptoBytes(wanted.max(AHEAD) - self.decoder.can_collect());
                self.decoder.decode_blocks(&mut self.source, blocks).map(|_| ()).map_err(|error| why(&error))
            };
            if let Err(why) = done {
                self.end_frame();
                let message = format!(
                    "the zstd file is truncated or damaged at byte {}: {why}; {} bytes before it were \
                     decompressed, the rest is lost",
                    self.source.count,
                    self.given + self.decoder.can_collect() as u64
                );
                self.broken = Some(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
    }

    /// Ends the current frame, so that the data kept as reference for later blocks can be read: with an empty
    /// last block, and a checksum that no reader verifies.
    fn end_frame(&mut self) {
        const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];
        if !self.decoder.is_finished() {
            let _ = self.decoder.decode_blocks(LAST_BLOCK.as_slice(), BlockDecodingStrategy::All);
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.fill(buffer.len());
        let count = self.decoder.read(buffer)?;
        self.given += count as u64;
        match self.broken.take() {
            Some(error) if count == 0 => {
                self.ended = true;
                Err(error)
            }
            broken => {
                self.broken = broken;
                Ok(count)
            }
        }
    }
}

/// Reason why a block could not be decompressed.
fn why(error: &FrameDecoderError) -> String {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = source {
        if cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::UnexpectedEof) {
            return "it ends within a block".to_owned();
        }
        source = cause.source();
    }
    "a block cannot be decompressed".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    /// Incompressible text: 2 MB of numbers, for many blocks.
    fn text() -> Vec<u8> {
        let mut state = 7_u64;
        let mut numbers = (0..200_000).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{}, ", state >> 33)
        });
        numbers.by_ref().collect::<String>().into_bytes()
    }

    fn read(packed: &[u8], step: usize) -> (Vec<u8>, Option<io::Error>) {
        let mut stream = Unpacked::new(packed);
        let (mut all, mut buffer) = (Vec::new(), vec![0; step]);
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return (all, None),
                Ok(count) => all.extend_from_slice(&buffer[..count]),
                Err(error) => return (all, Some(error)),
            }
        }
    }

    #[test]
    fn frames_one_after_another_are_one_stream() {
        let text = text();
        let half = text.len() / 2;
        let pack = |bytes: &[u8]| compress_to_vec(bytes, CompressionLevel::Fastest);
        // A skippable frame between them.
        let skipped = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
        let packed = [&pack(&text[..half])[..], &skipped, &pack(&text[half..])].concat();
        for step in [1000, 1 << 20] {
            let (all, error) = read(&packed, step);
            assert!(error.is_none(), "{error:?}");
            assert!(all == text);
        }
    }

    #[test]
    fn what_comes_before_a_cut_is_unpacked() {
        let text = text();
        let packed = compress_to_vec(text.as_slice(), CompressionLevel::Fastest);
        for step in [1000, 1 << 20] {
            for share in [0.3, 0.5, 0.9] {
                let cut = (packed.len() as f64 * share) as usize;
                let (all, error) = read(&packed[..cut], step);
                let message = error.expect("cut").to_string();
                // Blocks contain up to 128 KiB: only the truncated one is lost.
                let lost = share * text.len() as f64 - all.len() as f64;
                assert!(text.starts_with(&all) && lost < 300_000.0, "{share}: {lost} bytes lost");
                assert!(
                    message.starts_with(&format!("the zstd file is truncated or damaged at byte {cut}")),
                    "{message}"
                );
                assert!(
                    message.contains(&format!("{} bytes before it were decompressed", all.len())),
                    "{message}"
                );
            }
        }
        let (all, error) = read(&packed[..2], 100);
        assert!(all.is_empty() && error.is_some());
    }

    #[test]
    fn wrong_bytes_are_an_error_and_no_panic() {
        let packed = compress_to_vec(&text()[..50_000], CompressionLevel::Fastest);
        for at in (0..packed.len()).step_by(997) {
            let mut bad = packed.clone();
            bad[at] ^= 0x5a;
            drop(read(&bad, 4096));
        }
    }
}
