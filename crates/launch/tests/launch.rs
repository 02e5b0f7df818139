//! Launch files as people write them: one file per draw or promise.
//!
//! One binary for all files: each would link the readers again.

#[path = "support/in_memory.rs"]
mod folder;
#[path = "support/refused.rs"]
mod refused;
#[path = "support/remarks.rs"]
mod remarks;

mod damaged;
mod drawn;
mod eighteenth_draw;
mod eleventh_draw;
mod fifteenth_draw;
mod fifth_draw;
mod fourteenth_draw;
mod fourth_draw;
mod hostile;
mod mechanisms;
mod nineteenth_draw;
mod ninth_draw;
mod public_files;
mod sampled;
mod seventeenth_draw;
mod seventh_draw;
mod sixteenth_draw;
mod sixth_draw;
mod tenth_draw;
mod thirteenth_draw;
mod twelfth_draw;
mod twentieth_draw;
mod twenty_first_draw;
mod twenty_fourth_draw;
mod twenty_second_draw;
mod twenty_third_draw;
