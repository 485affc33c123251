//! The language that a user names by its code.

use sylvan_text::Lang;

/// The language of `--lang`. One that has no rules of its own is told so: its text is split by general ones.
#[allow(clippy::print_stderr)]
pub(crate) fn language(code: &str) -> anyhow::Result<Lang> {
    let lang = sylvan_text::language(code).map_err(|fault| anyhow::anyhow!("--lang: {fault}"))?;
    if lang == Lang::Other {
        eprintln!("note: {code} has no rules of its own; general ones are used");
    }
    Ok(lang)
}
