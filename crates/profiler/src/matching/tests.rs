//! Collectives matched over ranks.
