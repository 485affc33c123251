//! Options that once had other names: who uses an old one is told the new one.

/// Commands (all that end so), the old name, what to use now.
const RENAMED: [(&str, &str, &str); 18] = [
    ("", "--format", "--json"),
    ("tune", "--reference", "--ref"),
    ("score", "--metrics", "--metric"),
    ("parser parse", "--k-best", "--nbest"),
    ("parser info", "--verify", "`sylvan parser verify`"),
    ("align symmetrize", "--heuristic", "--symmetrize"),
    ("align show", "--links", "--align"),
    ("lm estimate", "--arpa", "--out"),
    ("lm estimate", "--temp", "--scratch"),
    ("translate", "--align", "--align-out"),
    ("model diff", "--kind", "--input, and --text for the file"),
    ("model diff", "--input", "--text for the file, and --input text or tree for what it holds"),
    ("grammar import", "", "--out FILE for the output"),
    ("grammar compile", "", "--out FILE for the output"),
    ("grammar export", "", "--out FILE for the output"),
    ("grammar filter", "", "--out FILE for the output"),
    ("align symmetrize", "--links", "--link-format"),
    ("check", "--links", "--align"),
];

/// What to use instead of an option (or of a further file) that a command does not have, if it once did.
pub(crate) fn advice(command: &str, found: &str) -> Option<&'static str> {
    let name = found.split(['=', ' ']).next().unwrap_or(found);
    let name = if name.starts_with('-') { name } else { "" };
    RENAMED.iter().find(|(of, old, _)| command.ends_with(of) && *old == name).map(|(_, _, new)| *new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_are_answered_with_new_ones() {
        assert_eq!(advice("sylvan score", "--format=json"), Some("--json"));
        assert_eq!(advice("sylvan grammar import", "enja.rules"), Some("--out FILE for the output"));
        assert_eq!(advice("sylvan train", "--kind"), None);
        assert_eq!(advice("sylvan translate", "words"), None);
    }

    /// A name that is in use again must not be called old.
    #[test]
    fn no_old_name_is_an_option_of_its_command() {
        use clap::CommandFactory as _;
        let mut all = vec![(String::from("sylvan"), crate::Arguments::command())];
        let mut seen = 0;
        while let Some((name, command)) = all.pop() {
            for (of, old, _) in RENAMED.iter().filter(|(of, old, _)| !of.is_empty() && !old.is_empty()) {
                if name.ends_with(of) && *of != "model diff" {
                    seen += 1;
                    assert!(
                        !command.get_arguments().any(|arg| arg.get_long() == old.strip_prefix("--")),
                        "{name} {old}"
                    );
                }
            }
            let inner = command
                .get_subcommands()
                .map(|inner| (format!("{name} {}", inner.get_name()), inner.clone()));
            all.extend(inner);
        }
        assert!(seen > 8, "{seen}");
    }
}
