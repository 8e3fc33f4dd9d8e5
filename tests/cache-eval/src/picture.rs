//! Precision against the share of right pairs served, as an SVG chart.

use crate::measure::{Seen, THRESHOLDS};
use std::fmt::Write as _;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 360.0;
/// Room around the plot for its title, the scales and the legend.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 270.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 44.0;
/// Colours that can be told apart without red and green, by Okabe and Ito.
const COLOURS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#555555"];

/// One line for each encoder and set without guards, dashed, and one with them.
pub fn svg(seen: &[Seen<'_>]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"16\" font-size=\"14\" font-weight=\"bold\">Precision and right pairs served, threshold by threshold</text>\n"
    );
    axes(&mut svg);
    for ((index, seen), colour) in seen.iter().enumerate().zip(COLOURS) {
        line(&mut svg, seen, colour, false);
        line(&mut svg, seen, colour, true);
        legend(&mut svg, index, &format!("{}, {}", seen.set, seen.encoder), colour);
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\">solid with guards, dashed without</text>",
        WIDTH - RIGHT + 16.0,
        TOP + 130.0
    );
    svg.push_str("</svg>\n");
    svg
}

fn line(svg: &mut String, seen: &Seen<'_>, colour: &str, guarded: bool) {
    let points: Vec<String> = THRESHOLDS
        .map(|threshold| seen.served(threshold, guarded, |_| true))
        .filter(|served| served.right + served.wrong > 0)
        .map(|served| format!("{:.1},{:.1}", x(served.right_share()), y(served.precision())))
        .collect();
    let (width, dashes) = if guarded { ("2.2", "") } else { ("1.2", " stroke-dasharray=\"5 3\"") };
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}/>",
        points.join(" ")
    );
}

fn legend(svg: &mut String, index: usize, name: &str, colour: &str) {
    let (x, y) = (WIDTH - RIGHT + 16.0, TOP + 10.0 + 18.0 * index as f64);
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{}\" width=\"12\" height=\"3\" fill=\"{colour}\"/><text x=\"{}\" y=\"{y}\">{name}</text>",
        y - 5.0,
        x + 18.0,
    );
}

fn axes(svg: &mut String) {
    for step in 0..=5 {
        let share = f64::from(step) / 5.0;
        let (across, up) = (x(share), y(share));
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {up:.1}H{:.1}M{across:.1} {TOP}V{:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{} %</text>\
             <text x=\"{across:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{} %</text>",
            x(1.0),
            y(0.0),
            LEFT - 6.0,
            up + 4.0,
            step * 20,
            y(0.0) + 16.0,
            step * 20,
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">right pairs served</text>\
         <text x=\"14\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {:.1})\">precision</text>",
        x(0.5),
        HEIGHT - 8.0,
        y(0.5),
        y(0.5),
    );
}

fn x(share: f64) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * share
}

fn y(share: f64) -> f64 {
    HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share
}
