//! Decompression.
//!
//! Responsible for: gzip (also with several members) and zstd, detected by their first bytes; other streams
//! are passed through. Excludes archives, which contain many files.

use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::{self, Read};

/// Tests whether bytes begin like gzip.
fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// Tests whether bytes begin like zstd.
fn is_zstd(head: &[u8]) -> bool {
    head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// Decompressed stream; uncompressed input is passed through.
pub fn open<'a>(mut source: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut head = [0; 4];
    let mut filled = 0;
    while filled < head.len() {
        match source.read(&mut head[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    let whole = io::Cursor::new(head).take(filled as u64).chain(source);
    Ok(if is_gzip(&head[..filled]) {
        Box::new(MultiGzDecoder::new(whole))
    } else if is_zstd(&head[..filled]) {
        Box::new(super::zstd::Unpacked::new(whole))
    } else {
        Box::new(whole)
    })
}

/// Inflates bytes if they are compressed.
pub fn inflate(bytes: &[u8]) -> io::Result<Cow<'_, [u8]>> {
    if !is_gzip(bytes) && !is_zstd(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut inflated = Vec::new();
    open(bytes)?.read_to_end(&mut inflated)?;
    Ok(Cow::Owned(inflated))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let _ = out.write_all(bytes);
        out.finish().unwrap_or_default()
    }

    #[test]
    fn compressions_are_recognised_by_their_first_bytes() {
        let text = b"[{\"ph\": \"X\"}]".repeat(1000);
        let zstd =
            ruzstd::encoding::compress_to_vec(text.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
        assert!(zstd.len() < text.len());
        for packed in [text.clone(), gzip(&text), zstd] {
            assert_eq!(inflate(&packed).map(Cow::into_owned).ok(), Some(text.clone()));
        }
        // Two gzip members, as in concatenated files.
        let both = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(inflate(&both).map(Cow::into_owned).ok(), Some(b"one two".to_vec()));
        assert!(inflate(&gzip(&text)[..40]).is_err());
        assert_eq!(inflate(b"").map(Cow::into_owned).ok(), Some(Vec::new()));
    }
}
