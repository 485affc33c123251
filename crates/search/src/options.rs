//! Searches as the program's options name them, for tables and experiments. What a table says a user can type, with the
//! number for `b` (so many times the beam). Not all options are here, and some must come in this order: `--structured`
//! before what is about parses, `--plain` first.

use sylvan_base::Fault;

use crate::{
    BoundaryEstimate, Future, Goals, Network, Parents, Progress, Search, Signature, Undirected, Ways,
};

impl Search {
    /// A search with this beam and with options, as in `prediction --margin inf`. A number that ends in `b` is so many
    /// times the beam.
    pub fn with_options(options: &str, beam: usize) -> Result<Self, Fault> {
        let mut words = options.split(' ');
        let mut search = Self::named(words.next().unwrap_or_default().parse()?).with_beam(beam);
        while let Some(option) = words.next() {
            let done = match switch(&mut search, option) {
                Some(()) => Some(()),
                None => words.next().and_then(|value| set(&mut search, option, value, beam)),
            };
            done.ok_or_else(|| {
                Fault::new(0, format!("{option:?}"), format!("an option of {}", search.name()))
            })?;
        }
        Ok(search)
    }
}

/// An option without a value.
fn switch(search: &mut Search, option: &str) -> Option<()> {
    match (option, search) {
        ("--plain-parses", search) => search.limits_mut()?.plain_parses = true,
        ("--plain", Search::Cube(cube)) if !cube.focus => cube.plain = true,
        ("--plain", Search::Undirected(config)) if *config == Undirected::new(config.beam) => {
            *config = Undirected::paper(config.beam);
        }
        ("--even", Search::Undirected(config)) => config.focus = false,
        ("--unbounded", Search::Undirected(config)) => config.bounded = false,
        ("--reevaluate", Search::Prediction(_, config)) => config.reevaluate = true,
        _ => return None,
    }
    Some(())
}

/// An option with its value.
fn set(search: &mut Search, option: &str, value: &str, beam: usize) -> Option<()> {
    let number = || match value.strip_suffix('b') {
        Some("") => Some(beam),
        Some(times) => Some(times.parse::<usize>().ok()? * beam),
        None => value.parse().ok(),
    };
    let thousandths =
        || Some((1000.0 * value.parse::<f64>().ok()?).round().clamp(i32::MIN.into(), u32::MAX.into()));
    match (option, search) {
        ("--pops", Search::Cube(cube)) if !cube.plain => cube.pops = number()?,
        ("--boundary", Search::Cube(cube)) => {
            cube.boundary = match value {
                "none" => BoundaryEstimate::None,
                "local" => BoundaryEstimate::Local,
                _ => return None,
            }
        }
        ("--future", Search::Incremental(_, config)) => {
            config.future = match value {
                "none" => Future::None,
                "rough" => Future::Rough,
                "inside" => Future::Inside,
                _ => return None,
            }
        }
        ("--signature", Search::Incremental(_, config)) if value == "stack" => {
            config.signature = Signature::Stack;
        }
        ("--bins", Search::Incremental(_, config)) if value == "words" => config.progress = Progress::Words,
        ("--future", Search::Prediction(_, config)) if value == "none" => config.future = false,
        ("--prefixes", Search::Prediction(_, config)) => config.prefixes = number()?,
        ("--parents", Search::Undirected(config)) => {
            config.parents = match value {
                "none" => Parents::None,
                "new" => Parents::New,
                "all" => Parents::All,
                _ => return None,
            }
        }
        ("--missing-word", Search::Undirected(config)) => config.missing.per_word = thousandths()? as i32,
        ("--missing-share", Search::Undirected(config)) => config.missing.share = thousandths()? as u32,
        ("--slack", Search::Undirected(config)) => config.slack = thousandths()? as u32,
        ("--enough", Search::Undirected(config)) => config.enough = number()?,
        ("--effort", Search::Exact(_, effort)) => effort.joins = value.parse().ok()?,
        ("--distortion-limit", Search::Stacks(_, config)) => {
            config.limit = if value == "none" { None } else { Some(value.parse().ok()?) };
        }
        ("--diversity", Search::Prediction(..)) => return None,
        (_, search) => {
            let limits = search.limits_mut()?;
            match option {
                "--margin" => limits.margin = thousandths().filter(|&margin| margin >= 0.0)? as u32,
                "--structured" => {
                    limits.ways = match value {
                        "packed" => Ways::Packed,
                        "best-parse" => Ways::Best,
                        "naive" => Ways::All,
                        "rerank" => Ways::Later,
                        "grouping" => Ways::Groups(5),
                        _ => return None,
                    };
                    if value == "naive" || value == "grouping" {
                        limits.parses = 2;
                    }
                }
                "--network" => {
                    limits.network = match value {
                        "later" => Network::Later,
                        "inside" => Network::Inside,
                        "apart" => Network::Apart,
                        _ => return None,
                    };
                }
                "--groups" if matches!(limits.ways, Ways::Groups(_)) => limits.ways = Ways::Groups(number()?),
                "--parses" => limits.parses = number()?,
                "--shortlist" => limits.shortlist = Some(number()?).filter(|&number| number > 0),
                "--pops" => limits.pops = number()?,
                "--diversity" => limits.diversity = number()?,
                "--goals" if value == "bins" => limits.goals = Goals::InBins,
                _ => return None,
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_change_what_they_name() {
        let way = |options: &str| Search::with_options(options, 7).unwrap();
        for options in [
            "cube --plain",
            "cube --pops 3b",
            "cube --boundary none",
            "incremental --future none",
            "incremental --signature stack",
            "incremental --bins words",
            "incremental --structured grouping",
            "incremental --structured naive --parses 3",
            "incremental --shortlist 0",
            "incremental --plain-parses",
            "incremental --pops 9",
            "incremental --network inside",
            "prediction --network apart",
            "prediction --future none",
            "prediction --margin inf",
            "prediction --prefixes 4",
            "prediction --reevaluate",
            "undirected --plain",
            "undirected --even",
            "undirected --parents new",
            "undirected --slack inf",
            "undirected --missing-share 0.25",
            "stacks --distortion-limit 3",
            "stacks --goals bins",
        ] {
            let name = options.split(' ').next().unwrap();
            assert_ne!(way(options), way(name), "{options}");
            assert_eq!(way(options).beam().0, 7, "{options}");
        }
        assert_eq!(way("cube --pops 3b"), way("cube --pops 21"));
        for wrong in [
            "",
            "cubes",
            "cube --future none",
            "cube --plain --pops 3",
            "focus --plain",
            "incremental --groups 3",
            "prediction --margin",
            "prediction --margin -1",
            "prediction --diversity 3",
            "stacks --distortion-limit x",
            "undirected --parents new --plain",
        ] {
            assert!(Search::with_options(wrong, 7).is_err(), "{wrong}");
        }
    }
}
