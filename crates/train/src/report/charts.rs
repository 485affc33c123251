//! Small charts as SVG that follow the page's colours.

use sylvan_decode::explain::escaped;

/// Horizontal bars with names and values.
pub(super) fn bars(rows: &[(String, f64, String)]) -> String {
    const ROW: f64 = 26.0;
    let most = rows.iter().map(|row| row.1).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 640 {:.0}\" role=\"img\">",
        ROW * rows.len() as f64 + 4.0
    );
    for (index, (name, value, shown)) in rows.iter().enumerate() {
        let y = ROW * index as f64;
        out.push_str(&format!(
            "<text x=\"110\" y=\"{:.0}\" text-anchor=\"end\">{}</text><rect class=\"bar\" x=\"118\" y=\"{:.0}\" \
             width=\"{:.1}\" height=\"16\" rx=\"2\"/><text class=\"quiet\" x=\"{:.1}\" y=\"{:.0}\">{}</text>",
            y + 17.0,
            escaped(name),
            y + 5.0,
            (360.0 * value / most).max(1.0),
            126.0 + 360.0 * value / most,
            y + 17.0,
            escaped(shown),
        ));
    }
    out + "</svg>"
}

/// Two histograms over the same lengths, as two lines.
pub(super) fn histograms(names: [&str; 2], counts: [&[u64]; 2]) -> String {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 230.0;
    const LEFT: f64 = 50.0;
    const BASE: f64 = 190.0;
    // The few longest sentences would squeeze all others to the left.
    let sentences: u64 = counts[0].iter().sum();
    let last = counts
        .iter()
        .map(|counts| {
            let mut seen = 0;
            counts.iter().position(|count| {
                seen += count;
                seen as f64 >= 0.995 * sentences as f64
            })
        })
        .map(|place| place.unwrap_or(1))
        .max()
        .unwrap_or(1)
        .max(5);
    let most = counts.iter().flat_map(|counts| counts.iter()).copied().max().unwrap_or(1).max(1) as f64;
    let x = |length: f64| LEFT + length / last as f64 * (WIDTH - LEFT - 16.0);
    let y = |count: f64| BASE - count / most * (BASE - 30.0);
    let mut out = format!("<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">");
    for part in 0..=4 {
        let value = most * f64::from(part) / 4.0;
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"624\" y1=\"{0:.1}\" y2=\"{0:.1}\"/><text class=\"quiet\" \
             x=\"44\" y=\"{1:.1}\" text-anchor=\"end\">{value:.0}</text>",
            y(value),
            y(value) + 4.0
        ));
    }
    let step = last.div_ceil(10).max(1);
    for length in (0..=last).step_by(step) {
        out.push_str(&format!(
            "<text class=\"quiet\" x=\"{:.1}\" y=\"208\" text-anchor=\"middle\">{length}</text>",
            x(length as f64)
        ));
    }
    for (side, counts) in counts.iter().enumerate() {
        let points: Vec<String> = (0..=last)
            .map(|length| {
                let count = counts.get(length).copied().unwrap_or(0);
                format!("{:.1},{:.1}", x(length as f64), y(count as f64))
            })
            .collect();
        out.push_str(&format!("<polyline class=\"line{side}\" points=\"{}\"/>", points.join(" ")));
        out.push_str(&format!(
            "<line class=\"line{side}\" x1=\"{0}\" x2=\"{1}\" y1=\"14\" y2=\"14\"/><text x=\"{2}\" y=\"18\">{3}</text>",
            400 + 110 * side,
            424 + 110 * side,
            430 + 110 * side,
            escaped(names[side])
        ));
    }
    out.push_str(
        "<text class=\"quiet\" x=\"340\" y=\"226\" text-anchor=\"middle\">words per sentence</text></svg>",
    );
    out
}
