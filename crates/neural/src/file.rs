//! A trained network as a file: units of both languages, shapes, numbers.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sylvan_base::Result;
use sylvan_store::{Container, ContainerWriter, Name, name};

use crate::network::{Network, Size};
use crate::parameters::{Layout, Parameters};
use crate::units::Units;

/// The kind of a file with a network.
pub const KIND: Name = name("neural");
const VERSION: u32 = 1;

const SHAPE: Name = name("shape");
const UNITS: [Name; 2] = [name("source"), name("target")];
const NUMBERS: Name = name("numbers");

/// A network and the units that it knows.
#[derive(Debug)]
pub struct NeuralModel {
    pub(crate) network: Network,
    pub(crate) parameters: Parameters,
    pub(crate) units: [Units; 2],
}

#[derive(Serialize, Deserialize)]
struct Shape {
    width: usize,
    inner: usize,
    heads: usize,
    encoder: usize,
    decoder: usize,
}

impl NeuralModel {
    pub(crate) fn write(
        path: &Path,
        size: Size,
        units: &[Units; 2],
        layout: &Layout,
        numbers: &[f32],
    ) -> Result<()> {
        let Size { width, inner, heads, encoder, decoder } = size;
        let shape = Shape { width, inner, heads, encoder, decoder };
        let shape = serde_json::to_vec(&shape).expect("numbers are JSON");
        debug_assert_eq!(layout.len(), numbers.len());
        let mut file = ContainerWriter::create(path, KIND, VERSION, 4)?;
        file.section(SHAPE, &shape)?;
        for (name, units) in UNITS.into_iter().zip(units) {
            file.section(name, units.to_text().as_bytes())?;
        }
        file.section(NUMBERS, numbers)?;
        file.finish()
    }

    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self> {
        Self::read(&Container::open(path, KIND, VERSION..=VERSION)?)
    }

    /// Opens one that is a section of a larger file.
    pub fn inside(file: &Container, section: Name) -> Result<Self> {
        Self::read(&file.part(section, KIND, VERSION..=VERSION)?)
    }

    fn read(file: &Container) -> Result<Self> {
        let bad = |found: String, expected: &str| file.bad(found, expected.to_string());
        let shape: Shape = serde_json::from_slice(file.section::<u8>(SHAPE)?)
            .map_err(|error| bad(error.to_string(), "the shape of a network"))?;
        let Shape { width, inner, heads, encoder, decoder } = shape;
        let size = Size { width, inner, heads, encoder, decoder };
        let is_sane =
            size.is_sane() && width <= 1 << 16 && inner <= 1 << 18 && encoder.max(decoder) <= 1 << 10;
        if !is_sane {
            return Err(bad(format!("{size:?}"), "the shape of a network"));
        }
        let read = |name| -> Result<Units> {
            let text = std::str::from_utf8(file.section::<u8>(name)?)
                .map_err(|error| bad(error.to_string(), "units as text"))?;
            Units::from_text(text, |found, expected| bad(found, &expected))
        };
        let units = [read(UNITS[0])?, read(UNITS[1])?];
        let (network, layout, _) = Network::new(size, [units[0].len(), units[1].len()]);
        let values = file.section::<f32>(NUMBERS)?.to_vec();
        if values.len() != layout.len() || values.iter().any(|value| !value.is_finite()) {
            let expected = format!("{} finite numbers", layout.len());
            return Err(bad(format!("{} numbers", values.len()), &expected));
        }
        Ok(Self { network, parameters: Parameters { layout, values }, units })
    }

    /// A network that has learnt nothing: what training starts from.
    pub fn untrained(size: Size, units: [Units; 2], seed: u64) -> Self {
        let (network, layout, starts) = Network::new(size, units.each_ref().map(Units::len));
        Self { network, parameters: Parameters::start(layout, &starts, seed), units }
    }

    /// How large it is.
    pub fn size(&self) -> Size {
        self.network.size
    }

    /// The units of source and target.
    pub fn units(&self) -> &[Units; 2] {
        &self.units
    }

    /// Names, rows and columns of its matrices.
    pub fn parts(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.parameters.layout.parts()
    }
}
