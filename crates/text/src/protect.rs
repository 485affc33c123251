//! What must stay in one piece: web addresses, e-mail addresses, markup, and whatever the user asks for.

use regex_lite::Regex;
use sylvan_base::Fault;

use crate::markup::markup;

/// Finds the parts of a line that are not to be cut.
#[derive(Debug, Clone, Default)]
pub struct Protect {
    patterns: Vec<Regex>,
}

impl Protect {
    /// Protects what these regular expressions match, besides addresses and markup.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self, Fault> {
        let compile = |pattern: &S| {
            Regex::new(pattern.as_ref()).map_err(|error| {
                Fault::new(0, format!("the pattern {:?}: {error}", pattern.as_ref()), "a regular expression")
            })
        };
        Ok(Self { patterns: patterns.iter().map(compile).collect::<Result<_, _>>()? })
    }

    /// The byte ranges to keep, in order and apart from each other. Of two that overlap the first counts.
    pub fn find(&self, line: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        // Few lines have an address.
        if line.contains("://") || line.contains('@') || line.contains("www.") {
            let chunks = line
                .split_whitespace()
                .map(|chunk| (chunk.as_ptr() as usize - line.as_ptr() as usize, chunk));
            found.extend(chunks.filter_map(|(at, chunk)| {
                let (start, end) = address(chunk)?;
                Some((at + start, at + end))
            }));
        }
        found.extend(markup(line));
        for pattern in &self.patterns {
            found.extend(pattern.find_iter(line).filter(|m| !m.is_empty()).map(|m| (m.start(), m.end())));
        }
        found.sort_unstable();
        let mut end = 0;
        found.retain(|&(start, stop)| {
            let apart = start >= end;
            if apart {
                end = stop;
            }
            apart
        });
        found
    }
}

/// The web or e-mail address in a word between spaces, without brackets, quotation marks and sentence marks
/// around it.
fn address(chunk: &str) -> Option<(usize, usize)> {
    let opening = |c: char| "([{<\"'«“„‘".contains(c);
    let start = chunk.len() - chunk.trim_start_matches(opening).len();
    let rest = &chunk[start..];
    let closing = |c: char| ".,;:!?)]}>\"'»”“’".contains(c);
    let body = rest.trim_end_matches(closing);
    // A bracket that was opened inside belongs to the address.
    let body =
        if body.contains('(') && rest[body.len()..].starts_with(')') { &rest[..=body.len()] } else { body };
    let is_web = ["http://", "https://", "ftp://", "www."].iter().any(|head| {
        body.len() > head.len() && body.get(..head.len()).is_some_and(|b| b.eq_ignore_ascii_case(head))
    });
    (is_web || is_mail(body)).then_some((start, start + body.len()))
}

fn is_mail(text: &str) -> bool {
    let Some((user, host)) = text.split_once('@') else { return false };
    let plain = |c: char| c.is_alphanumeric() || "._%+-".contains(c);
    let labels: Vec<&str> = host.split('.').collect();
    !user.is_empty()
        && user.chars().all(plain)
        && labels.len() >= 2
        && labels
            .iter()
            .all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept<'a>(patterns: &[&str], line: &'a str) -> Vec<&'a str> {
        Protect::new(patterns).unwrap().find(line).into_iter().map(|(start, end)| &line[start..end]).collect()
    }

    #[test]
    fn addresses_are_found_without_what_stands_around_them() {
        assert_eq!(kept(&[], "See http://a.b/c?d=1."), ["http://a.b/c?d=1"]);
        assert_eq!(kept(&[], "(www.example.org), \"me.you@x-y.cz\"!"), ["www.example.org", "me.you@x-y.cz"]);
        assert_eq!(kept(&[], "https://w.org/a_(b)"), ["https://w.org/a_(b)"]);
        assert_eq!(kept(&[], "a @ b, x@y, @me, http://"), [""; 0]);
    }

    #[test]
    fn patterns_are_heeded_and_the_first_of_two_wins() {
        assert_eq!(kept(&["<[^>]*>"], "a <b c> d"), ["<b c>"]);
        assert_eq!(kept(&["ab", "bc"], "abc"), ["ab"]);
        let error = Protect::new(&["("]).unwrap_err();
        assert!(error.to_string().contains("regular expression"));
    }
}
