# Thin: every recipe is one command that works without `just`.

# Everything that must hold.
ci:
    .ci/run

# All tests.
test:
    cargo test --workspace

# Lints as CI has them.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Generated pages.
docs:
    cargo run -p xtask -- docs

# How far off predictions are.
validate:
    cargo run --release -- validate catalog/evidence/measured_runs.csv

# The page with the program as WebAssembly, below the documentation site.
playground:
    web/playground/build.sh docs/book/playground

# Benchmarks of the fast path.
bench:
    cargo bench -p railwright-calculator

# The Python wheel, tested in a clean environment.
python:
    python/check.sh
