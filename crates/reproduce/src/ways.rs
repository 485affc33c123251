//! Ways to search, as the program's options name them.

use sylvan_decode::{Error, Result};
use sylvan_rules::apply::{Applying, Coverage, Outlook};
use sylvan_search::Search;

/// A search with its options.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Way {
    /// As on the command line, without the beam: `incremental --future none`.
    pub(crate) options: String,
    pub(crate) search: Search,
    /// How rules are applied, which some options are about.
    pub(crate) applying: Applying,
}

/// An option about how rules are applied, and what it does.
type AboutRules = (&'static str, fn(&mut Applying));

const APPLYING: [AboutRules; 2] = [
    (" --coverage links", |applying| applying.coverage = Coverage::Links),
    (" --future-features translation", |applying| applying.outlook = Outlook::Translation),
];

impl Way {
    /// Reads options such as `prediction --margin inf`. A number that ends in `b` is so many times the beam.
    pub(crate) fn new(options: &str, beam: usize) -> Result<Self> {
        let mut applying = Applying::default();
        let mut others = options.to_string();
        for (option, set) in APPLYING {
            if let Some(place) = others.find(option) {
                others.replace_range(place..place + option.len(), "");
                set(&mut applying);
            }
        }
        let search = Search::with_options(&others, beam)
            .map_err(|fault| Error::setting(options, fault.to_string(), "a search and its options"))?;
        Ok(Self { options: options.to_string(), search, applying })
    }

    pub(crate) fn beam(&self) -> usize {
        self.search.beam().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_rules_are_not_the_search_s() {
        let plain = Way::new("prediction --margin inf", 7).unwrap();
        let all = "prediction --coverage links --margin inf --future-features translation";
        let way = Way::new(all, 7).unwrap();
        assert_eq!((way.search, way.options.as_str()), (plain.search, all));
        assert_ne!(
            (way.applying.coverage, way.applying.outlook),
            (plain.applying.coverage, plain.applying.outlook)
        );
        assert!(Way::new("prediction --coverage", 7).is_err());
    }
}
