//! The committed web UI matches its sources: `web/dist/stamp` has a hash of the inputs of the build.
//!
//! Responsible for: detecting changes of `web/src` without a build. Does not build, because that requires
//! Node.

use std::path::{Path, PathBuf};

/// Files outside `web/src` that the build reads.
const SINGLE: &[&str] = &[
    "index.html",
    "package-lock.json",
    "package.json",
    "tsconfig.json",
    "vite.config.ts",
    "vite.report.config.ts",
];

fn web() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../web")
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo), as `web/scripts/stamp.mjs` computes it.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_hash_is_the_published_one() {
    // From the authors' test vectors.
    assert_eq!(fnv(0xcbf2_9ce4_8422_2325, b"foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn the_committed_page_was_built_from_these_sources() {
    let web = web();
    let mut files: Vec<PathBuf> = SINGLE.iter().map(|name| web.join(name)).collect();
    files_below(&web.join("src"), &mut files);
    let mut named: Vec<(String, PathBuf)> = files
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&web).expect("below web").to_string_lossy().replace('\\', "/");
            (name, path)
        })
        .collect();
    named.sort();
    let hash = named.iter().fold(0xcbf2_9ce4_8422_2325, |hash, (name, path)| {
        let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{name}: {e}"));
        fnv(fnv(hash, format!("{name}\0{}\0", bytes.len()).as_bytes()), &bytes)
    });
    let stamp = std::fs::read_to_string(web.join("dist/stamp")).expect("web/dist/stamp");
    assert_eq!(
        stamp.trim(),
        format!("{hash:016x}"),
        "web/dist is stale: run `npm ci && npm run build` in web/ and commit web/dist"
    );
}
