//! Precision against the share of right pairs served, as an SVG chart.

use crate::measure::{Seen, THRESHOLDS};
use std::fmt::Write as _;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 400.0;
/// Size of a plot, and where its upper edge is.
const ACROSS: f64 = 360.0;
const UP: f64 = 260.0;
const TOP: f64 = 58.0;
/// Colours that can be told apart without red and green, by Okabe and Ito.
const COLOURS: [&str; 4] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];
/// Lines may lie on each other: those below are wider.
const WIDTHS: [f64; 4] = [8.0, 5.5, 3.5, 1.5];

/// A plot.
struct Panel {
    title: &'static str,
    left: f64,
    guarded: bool,
    /// Precision at the lower edge, in percent.
    lowest: u32,
    /// Precision from one line of the grid to the next.
    step: u32,
}

const PANELS: [Panel; 2] = [
    Panel { title: "without guards", left: 60.0, guarded: false, lowest: 0, step: 20 },
    Panel { title: "with guards (from 95 % on)", left: 510.0, guarded: true, lowest: 95, step: 1 },
];

/// A plot without guards and one with them, and in each a line for each encoder and set.
pub fn svg(seen: &[Seen<'_>]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
         <text x=\"60\" y=\"20\" font-size=\"15\" font-weight=\"bold\">Precision and right pairs served, threshold by threshold</text>\n"
    );
    for panel in &PANELS {
        panel.axes(&mut svg);
        for ((seen, colour), width) in seen.iter().zip(COLOURS).zip(WIDTHS) {
            panel.line(&mut svg, seen, colour, if panel.guarded { width } else { 2.0 });
        }
    }
    for (index, (seen, colour)) in seen.iter().zip(COLOURS).enumerate() {
        legend(&mut svg, index, &format!("{}, {}", seen.set, seen.encoder), colour);
    }
    svg.push_str("</svg>\n");
    svg
}

impl Panel {
    fn axes(&self, svg: &mut String) {
        let (left, bottom) = (self.left, TOP + UP);
        let _ = writeln!(
            svg,
            "<text x=\"{left}\" y=\"{}\" font-weight=\"bold\">{}</text>",
            TOP - 12.0,
            self.title
        );
        for share in (0..=100).step_by(20) {
            let x = self.x(f64::from(share) / 100.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#dddddd\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{share} %</text>",
                bottom + 18.0
            );
        }
        for precision in (self.lowest..=100).step_by(self.step as usize) {
            let y = self.y(f64::from(precision) / 100.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{left} {y:.1}H{}\" stroke=\"#dddddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{precision} %</text>",
                left + ACROSS,
                left - 6.0,
                y + 4.0
            );
        }
        let (middle, side, half) = (left + ACROSS / 2.0, left - 46.0, TOP + UP / 2.0);
        let _ = writeln!(
            svg,
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">right pairs served</text>\
             <text x=\"{side}\" y=\"{half}\" text-anchor=\"middle\" transform=\"rotate(-90 {side} {half})\">precision</text>",
            bottom + 36.0
        );
    }

    /// From the highest threshold that serves anything to the lowest, which has a dot.
    fn line(&self, svg: &mut String, seen: &Seen<'_>, colour: &str, width: f64) {
        let points: Vec<(f64, f64)> = THRESHOLDS
            .map(|threshold| seen.served(threshold, self.guarded, |_| true))
            .filter(|served| served.right + served.wrong > 0)
            .map(|served| (self.x(served.right_share()), self.y(served.precision())))
            .collect();
        let shown: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"/>",
            shown.join(" ")
        );
        if let Some((x, y)) = points.first() {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{colour}\" stroke=\"#ffffff\"/>"
            );
        }
    }

    fn x(&self, share: f64) -> f64 {
        self.left + ACROSS * share
    }

    /// What lies below the lower edge is drawn on it.
    fn y(&self, precision: f64) -> f64 {
        let lowest = f64::from(self.lowest) / 100.0;
        TOP + UP * (1.0 - ((precision - lowest) / (1.0 - lowest)).max(0.0))
    }
}

fn legend(svg: &mut String, index: usize, name: &str, colour: &str) {
    let (x, y) = (60.0 + 205.0 * index as f64, HEIGHT - 16.0);
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{}\" width=\"16\" height=\"4\" fill=\"{colour}\"/><text x=\"{}\" y=\"{y}\">{name}</text>",
        y - 6.0,
        x + 22.0,
    );
}
