//! From a line of text to its explanation.

use super::Explanation;
use super::build::explain;
use crate::error::Result;
use crate::translate::Request;
use crate::worker::Worker;

/// The second best translation is looked for among this many.
const LISTED: usize = 10;

impl Worker {
    /// Translates a line and explains the result; `None` if it has no words. [`Request::best`] is ignored.
    pub fn explain(&mut self, line: &str, request: &Request) -> Result<Option<Explanation>> {
        let sentence = self.read(line, request.input, request.with());
        let sentence = sentence.map_err(|unread| unread.at("the sentence", 1))?;
        let Some(mut sentence) = sentence else { return Ok(None) };
        sentence.hold(&request.choices)?;
        let listed = Request { best: LISTED, ..request.clone() };
        let decoded = self.decode_request(&sentence, &listed)?;
        let Some(best) = decoded.hypotheses.first() else { return Ok(None) };
        let search = self.model().search(request.search)?;
        let trace = self.trace(&sentence, &decoded.forest, search);
        let unasked = match request.with().rules(self.model()).neural != 0.0 {
            true => {
                self.without_network(&sentence, request.with(), decoded.forest.clone(), search, &request.stop)
            }
            false => None,
        };
        let derived = self.derived(&sentence, request.with(), &decoded.forest, &best.derivation);
        Ok(Some(explain(&derived, &decoded, unasked, (search, &trace), line)?))
    }
}
