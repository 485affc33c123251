//! The page: one file that asks nobody but this server, and runs no script but its own.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sylvan::decode::explain::page as shared;

use super::Shared;
use crate::digest::{base64, sha256};

const PAGE: &str = include_str!("../page/page.html");
/// Those of explanations, which draw the same things, come first.
const STYLES: [&str; 2] = [shared::VIEW_STYLE, include_str!("../page/page.css")];
const SCRIPTS: [&str; 9] = [
    shared::TREE,
    shared::STRUCTURE,
    shared::VIEW,
    include_str!("../page/base.js"),
    include_str!("../page/text.js"),
    include_str!("../page/reasons.js"),
    include_str!("../page/parts.js"),
    include_str!("../page/lists.js"),
    include_str!("../page/start.js"),
];

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/", get(page))
}

/// The page, and what it is allowed to do.
struct Made {
    page: String,
    policy: String,
}

fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let [style, script] = [STYLES.concat(), SCRIPTS.concat()];
        let hash = |text: &str| format!("'sha256-{}'", base64(&sha256(text.as_bytes())));
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            hash(&script),
            hash(&style)
        );
        let page = PAGE.replacen("{{style}}", &style, 1).replacen("{{script}}", &script, 1);
        Made { page, policy }
    })
}

async fn page() -> Response {
    let Made { page, policy } = made();
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, policy.as_str()),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        // After an update of the server the page and its calls must fit.
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, page.as_str()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_cannot_end_its_element() {
        let [style, script] = [STYLES.concat(), SCRIPTS.concat()].map(|text| text.to_ascii_lowercase());
        assert!(!style.contains("</style") && !script.contains("</script") && !script.contains("<!--"));
        assert!(!script.contains("{{") && !script.contains("innerhtml") && !script.contains("eval("));
        assert_eq!(made().page.matches("<script").count(), 1);
    }
}
