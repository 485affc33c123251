//! A small encoder-decoder network.
#![cfg_attr(not(test), allow(dead_code))]
mod file;
mod functions;
mod kernel;
mod network;
mod parameters;
mod reader;
mod tape;
#[cfg(test)]
mod tests;
pub mod train;
mod units;

pub use file::{KIND, NeuralModel};
pub use network::Size;
pub use reader::{Histories, History, Reader};
pub use units::{END, UNKNOWN, UnitId, Units};
