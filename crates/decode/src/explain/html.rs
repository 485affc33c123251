//! An explanation as one HTML page that needs nothing else: style, script and data are inside.

use super::Explanation;
use page::{STRUCTURE, TREE, VIEW, VIEW_STYLE};

/// What other pages draw explanations with.
pub mod page {
    /// `drawTree(svg, data, onNode)`: the source tree.
    pub const TREE: &str = include_str!("page/tree.js");
    /// `drawStructure(svg, data, onWord)`: the target tree.
    pub const STRUCTURE: &str = include_str!("page/structure.js");
    /// Rules, features, training lines, the search.
    pub const VIEW: &str = include_str!("page/view.js");
    /// How these look.
    pub const VIEW_STYLE: &str = include_str!("page/view.css");
}

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

impl Explanation {
    /// As a page for a browser.
    pub fn html(&self) -> String {
        // In a script, a text must not look like the script's end.
        let data = self.json().replace('<', "\\u003c");
        let title = escaped(&format!("{} → {}", self.source.join(" "), self.translation));
        let lang = escaped(&self.languages[1]);
        let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
        // One pass, so that nothing in the data is taken for a placeholder.
        let mut rest = PAGE;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, behind)) = after.split_once("}}") else { break };
            page.push_str(before);
            page.push_str(match name {
                "title" => &title,
                "lang" => &lang,
                "style" => STYLE,
                "view-style" => VIEW_STYLE,
                "tree" => TREE,
                "view" => VIEW,
                "structure" => STRUCTURE,
                "script" => SCRIPT,
                "data" => &data,
                _ => "",
            });
            rest = behind;
        }
        page.push_str(rest);
        page
    }
}

/// Text for HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
