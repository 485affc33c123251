//! Files of XLIFF 1.2: which units want a translation, and where it goes. Nothing else of a file changes.

use crate::scan::{Kind, Piece, Scanner, Tag};

/// A unit of a file that has no translation yet and may have one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The bytes of its source: a text with inline elements.
    pub source: [usize; 2],
    /// The bytes that its target takes the place of.
    pub place: [usize; 2],
    /// The space before the target, the name of its element, and attributes that it keeps.
    lead: String,
    name: String,
    attributes: String,
}

impl Unit {
    /// The target to be put into its place. It says that a machine made it and that somebody should look at it.
    pub fn target(&self, text: &str) -> String {
        let Self { lead, name, attributes, .. } = self;
        let marks = "state=\"needs-review-translation\" state-qualifier=\"mt-suggestion\"";
        format!("{lead}<{name}{attributes} {marks}>{text}</{name}>")
    }
}

/// What is known of the unit that is being read.
#[derive(Default)]
struct Reading {
    is_closed: bool,
    source: Option<[usize; 2]>,
    /// Where the source's element begins, and where it or its segments end.
    outside: [usize; 2],
    /// The whole element of the target, and where its text begins.
    target: Option<([usize; 2], usize)>,
    language: Option<String>,
    prefix: String,
}

/// The units of a file without a translation, in order. Those that are approved, or that are not to be translated, are left
/// out, and so are those that somebody has translated.
///
/// ```
/// let file = "<trans-unit id='1'><source>a <g id='1'>b</g></source></trans-unit>";
/// let units = sylvan_tags::xliff_units(file);
/// let [start, end] = units[0].source;
/// assert_eq!(&file[start..end], "a <g id='1'>b</g>");
/// assert!(units[0].target("c").ends_with(">c</target>"));
/// ```
pub fn xliff_units(file: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut scanner = Scanner::new(file);
    // Whether what is in the elements around is not to be translated.
    let mut kept: Vec<bool> = Vec::new();
    let mut reading: Option<Reading> = None;
    let mut proposals = 0_usize;
    loop {
        let at = scanner.place();
        let Some(piece) = scanner.next() else { return units };
        let Piece::Tag(tag) = piece else { continue };
        let name = tag.name.rsplit(':').next().unwrap_or_default();
        match (name, tag.kind) {
            // Translations of others, with sources of their own.
            ("alt-trans", Kind::Opens) => proposals += 1,
            ("alt-trans", Kind::Closes) => proposals = proposals.saturating_sub(1),
            _ if proposals > 0 => {}
            ("file" | "group" | "trans-unit", Kind::Opens) => {
                let is_kept = match tag.attribute("translate") {
                    Some("no") => true,
                    Some("yes") => false,
                    _ => kept.last().copied().unwrap_or(false),
                };
                kept.push(is_kept);
                if name == "trans-unit" {
                    let is_closed = is_kept || tag.attribute("approved") == Some("yes");
                    let prefix = tag.name[..tag.name.len() - name.len()].to_string();
                    reading = Some(Reading { is_closed, prefix, ..Reading::default() });
                }
            }
            ("file" | "group" | "trans-unit", Kind::Closes) => {
                kept.pop();
                if name == "trans-unit" {
                    units.extend(reading.take().and_then(|unit| wanting(file, &unit)));
                }
            }
            _ => {
                if let Some(unit) = &mut reading {
                    read(unit, name, &tag, [at, scanner.place()]);
                }
            }
        }
    }
}

/// Reads a tag of a unit, which stands at these bytes.
fn read(unit: &mut Reading, name: &str, tag: &Tag<'_>, [start, end]: [usize; 2]) {
    match (name, tag.kind) {
        ("source", Kind::Opens) if unit.source.is_none() => {
            (unit.source, unit.outside) = (Some([end, end]), [start, end]);
        }
        ("source", Kind::Closes) => {
            if let Some(source) = &mut unit.source {
                (source[1], unit.outside[1]) = (start, end);
            }
        }
        ("seg-source", Kind::Closes) => unit.outside[1] = end,
        ("target", Kind::Opens | Kind::Alone) => {
            unit.target = Some(([start, end], end));
            unit.language = tag.attribute("xml:lang").map(str::to_string);
        }
        ("target", Kind::Closes) => {
            if let Some((whole, _)) = &mut unit.target {
                whole[1] = end;
            }
        }
        _ => {}
    }
}

/// A unit if it wants a translation.
fn wanting(file: &str, unit: &Reading) -> Option<Unit> {
    let source = unit.source?;
    if unit.is_closed || file[source[0]..source[1]].trim().is_empty() {
        return None;
    }
    let attributes = unit.language.as_ref().map(|code| format!(" xml:lang=\"{code}\"")).unwrap_or_default();
    let name = format!("{}target", unit.prefix);
    match unit.target {
        Some((whole, inner)) => {
            let text = file[inner..whole[1]].rsplit_once("</").map_or("", |(text, _)| text);
            let is_empty = text.trim().is_empty();
            is_empty.then_some(Unit { source, place: whole, lead: String::new(), name, attributes })
        }
        None => {
            // On a line of its own where the source has one.
            let [start, end] = unit.outside;
            let lead = file[file[..start].trim_end().len()..start].to_string();
            Some(Unit { source, place: [end, end], lead, name, attributes })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(file: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        for unit in xliff_units(file) {
            out.push_str(&file[at..unit.place[0]]);
            out.push_str(&unit.target(&file[unit.source[0]..unit.source[1]].to_uppercase()));
            at = unit.place[1];
        }
        out + &file[at..]
    }

    const MARKS: &str = "state=\"needs-review-translation\" state-qualifier=\"mt-suggestion\"";

    #[test]
    fn only_targets_change() {
        let file = "<?xml version=\"1.0\"?>\n<xliff version=\"1.2\"><file source-language=\"de\"><body>\n\
            <trans-unit id=\"1\">\n  <source>a</source>\n</trans-unit>\n\
            <trans-unit id=\"2\"><source>b</source><target xml:lang=\"en\" state=\"new\"/><note>n</note></trans-unit>\n\
            <trans-unit id=\"3\"><source>c</source><target> </target></trans-unit>\n\
            <trans-unit id=\"4\"><source>d</source><seg-source><mrk mtype=\"seg\">d</mrk></seg-source></trans-unit>\n\
            </body></file></xliff>";
        let expected = file
            .replace("</source>\n</trans", &format!("</source>\n  <target {MARKS}>A</target>\n</trans"))
            .replace(
                "<target xml:lang=\"en\" state=\"new\"/>",
                &format!("<target xml:lang=\"en\" {MARKS}>B</target>"),
            )
            .replace("<target> </target>", &format!("<target {MARKS}>C</target>"))
            .replace("</seg-source>", &format!("</seg-source><target {MARKS}>D</target>"));
        assert_eq!(translated(file), expected);
        let prefixed = "<x:trans-unit><x:source>a</x:source></x:trans-unit>";
        assert!(translated(prefixed).contains(&format!("<x:target {MARKS}>A</x:target>")));
    }

    #[test]
    fn what_people_made_or_closed_stays() {
        for file in [
            "<trans-unit><source>a</source><target>x</target></trans-unit>",
            "<trans-unit><source>a</source><target><x id=\"1\"/></target></trans-unit>",
            "<trans-unit approved=\"yes\"><source>a</source></trans-unit>",
            "<trans-unit translate=\"no\"><source>a</source></trans-unit>",
            "<group translate=\"no\"><trans-unit><source>a</source></trans-unit></group>",
            "<trans-unit><source> </source></trans-unit>",
            "<trans-unit><alt-trans><source>a</source></alt-trans></trans-unit>",
            "<!-- <trans-unit><source>a</source></trans-unit> -->",
            "<trans-unit><source>a",
            "<trans-unit><source>a</trans-unit><source></source>",
            "</trans-unit></file>",
        ] {
            assert_eq!(translated(file), file);
        }
        let again = "<group translate=\"no\"><trans-unit translate=\"yes\"><source>a</source>\
            <alt-trans><source>b</source><target>c</target></alt-trans></trans-unit></group>";
        assert_eq!(xliff_units(again).len(), 1);
    }
}
