//! Corrections of the rule table: see [`sylvan_rules::Overlay`].

use sylvan_base::Result;
use sylvan_rules::Overlay;
use sylvan_store::TextReader;

use super::Decoder;

impl Decoder {
    /// Reads corrections, which hold from now on. What they add is weighed as the table is, and `boost` with 1, unless
    /// there are weights for it (`tm1.p_ef`, `boost`). Returns the lines about rules that the table does not have.
    pub fn read_overlay(&mut self, reader: &mut TextReader) -> Result<Vec<String>> {
        let (overlay, missing) = Overlay::read(reader, &self.grammar, &mut self.vocab)?;
        let named = |name: &str| self.weights.iter().any(|(known, _)| known == name);
        let of_table =
            self.weights.iter().filter_map(|(name, weight)| Some((name.strip_prefix("tm0.")?, weight)));
        let mut more: Vec<(String, f64)> = of_table
            .map(|(name, weight)| (format!("tm1.{name}"), weight))
            .filter(|(name, _)| !named(name))
            .collect();
        if !named("boost") && !named("tm1.boost") {
            more.push(("tm1.boost".to_string(), 1.0));
        }
        for (name, weight) in more {
            self.weights.set(&name, weight);
        }
        self.overlay = Some(overlay);
        Ok(missing)
    }
}
