//! Records as pictures: small SVG charts over time.

use crate::{Record, Scenario, record::latency};
use std::{fmt::Write as _, ops::Range, time::Duration};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 320.0;
/// Room around the plot for its title, the scale, the time axis and the legend.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 36.0;
/// Colours that can be told apart without red and green, by Okabe and Ito.
const COLOURS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#555555"];

/// Values over time, drawn as lines or stacked upon each other.
#[derive(Debug)]
pub struct Chart {
    /// What is shown.
    pub title: String,
    /// The time it covers, in seconds.
    pub seconds: Range<u64>,
    /// The top of the scale.
    pub most: f64,
    /// What the scale's numbers are of, put behind them.
    pub unit: &'static str,
    /// Whether the series are parts of a whole.
    pub stacked: bool,
    /// Names and values, evenly spread over the time.
    pub series: Vec<(String, Vec<f64>)>,
    /// Spans of time that stand out, in seconds, and whom and what they are about.
    pub bands: Vec<(Range<u64>, [String; 2])>,
}

/// The share of calls that each vendor got, over the whole time.
pub fn shares(scenario: &Scenario, record: &Record) -> Chart {
    let step = 2;
    let length = scenario.length.as_secs();
    let share = |vendor: usize| {
        (0..length).step_by(step).map(|at| record.share(vendor, at..at + step as u64)).collect::<Vec<_>>()
    };
    let names = scenario.vendors.iter().enumerate();
    Chart {
        title: format!("Share of calls per vendor: {}", record.policy.name().replace('`', "")),
        seconds: 0..length,
        most: 1.0,
        unit: "",
        stacked: true,
        series: names.map(|(vendor, facts)| (facts.name.to_owned(), share(vendor))).collect(),
        bands: bands(scenario),
    }
}

/// The 99th percentile of latency of every policy, over the whole time.
pub fn tail(scenario: &Scenario, records: &[&Record]) -> Chart {
    let (step, length) = (5, scenario.length.as_secs());
    let p99 = |record: &Record| {
        let span = |at| Duration::from_secs(at)..Duration::from_secs(at + step);
        let at = |at| latency(record.within(span(at)), 0.99).as_secs_f64();
        (0..length).step_by(step as usize).map(at).collect::<Vec<_>>()
    };
    Chart {
        title: "99th percentile of latency".to_owned(),
        seconds: 0..length,
        most: 16.0,
        unit: " s",
        stacked: false,
        series: records.iter().map(|record| (name(record), p99(record))).collect(),
        bands: bands(scenario),
    }
}

/// Calls a second to one vendor, by every policy.
pub fn calls(scenario: &Scenario, records: &[&Record], vendor: usize, seconds: Range<u64>) -> Chart {
    let calls = |record: &Record| {
        seconds.clone().map(|at| record.calls(vendor, at..at + 1) as f64).collect::<Vec<_>>()
    };
    let series: Vec<_> = records.iter().map(|record| (name(record), calls(record))).collect();
    let highest = series.iter().flat_map(|(_, values)| values).fold(1.0, |most: f64, value| most.max(*value));
    let facts = scenario.vendors.get(vendor).map_or("", |facts| facts.name);
    Chart {
        title: format!("Calls a second to {facts}"),
        most: (highest / 100.0).ceil() * 100.0,
        seconds,
        unit: "",
        stacked: false,
        series,
        bands: bands(scenario),
    }
}

fn name(record: &Record) -> String {
    record.policy.name().replace('`', "")
}

fn bands(scenario: &Scenario) -> Vec<(Range<u64>, [String; 2])> {
    let band = |incident: &crate::Incident| {
        let vendor = scenario.vendors.get(incident.vendor).map_or("", |vendor| vendor.name);
        let span = incident.from.as_secs()..incident.until.as_secs();
        (span, [vendor.to_owned(), incident.kind.name().to_owned()])
    };
    scenario.incidents.iter().map(band).collect()
}

impl Chart {
    /// The chart as an SVG document.
    pub fn svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"11\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
             <text x=\"{LEFT}\" y=\"16\" font-size=\"14\" font-weight=\"bold\">{}</text>\n",
            self.title
        );
        self.draw_bands(&mut svg);
        if self.stacked {
            self.draw_areas(&mut svg);
        } else {
            self.draw_lines(&mut svg);
        }
        self.draw_axes(&mut svg);
        self.draw_legend(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    fn x(&self, second: f64) -> f64 {
        let (from, to) = (self.seconds.start as f64, self.seconds.end as f64);
        LEFT + (WIDTH - LEFT - RIGHT) * ((second - from) / (to - from)).clamp(0.0, 1.0)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value / self.most).clamp(0.0, 1.0)
    }

    /// The second that a value belongs to: the middle of its stretch.
    fn second(&self, index: usize, of: usize) -> f64 {
        let length = (self.seconds.end - self.seconds.start) as f64;
        self.seconds.start as f64 + length * (index as f64 + 0.5) / of as f64
    }

    fn points(&self, values: impl ExactSizeIterator<Item = f64>) -> Vec<String> {
        let count = values.len();
        let point = |(index, value)| format!("{:.1},{:.1}", self.x(self.second(index, count)), self.y(value));
        values.enumerate().map(point).collect()
    }

    fn draw_bands(&self, svg: &mut String) {
        let seen = self
            .bands
            .iter()
            .filter(|(span, _)| span.start < self.seconds.end && span.end > self.seconds.start);
        for (span, [whom, what]) in seen {
            let (from, to) = (self.x(span.start as f64), self.x(span.end as f64));
            let (width, height, middle) = (to - from, HEIGHT - TOP - BOTTOM, (from + to) / 2.0);
            // Writing to a String cannot fail.
            let _ = writeln!(
                svg,
                "<rect x=\"{from:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height}\" fill=\"#f3d9d9\"/>\
                 <g text-anchor=\"middle\" font-size=\"10\"><text x=\"{middle:.1}\" y=\"{}\">{whom}</text>\
                 <text x=\"{middle:.1}\" y=\"{}\">{what}</text></g>",
                TOP - 16.0,
                TOP - 5.0,
            );
        }
    }

    fn draw_lines(&self, svg: &mut String) {
        // The first one is what the chart is about: above the others, and bolder.
        for ((_, values), (index, colour)) in self.series.iter().zip(COLOURS.iter().enumerate()).rev() {
            let width = if index == 0 { 2.2 } else { 1.2 };
            let points = self.points(values.iter().copied()).join(" ");
            let _ = writeln!(
                svg,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
            );
        }
    }

    fn draw_areas(&self, svg: &mut String) {
        let length = self.series.first().map_or(0, |(_, values)| values.len());
        let mut below = vec![0.0; length];
        for ((_, values), colour) in self.series.iter().zip(COLOURS) {
            let above: Vec<f64> = below.iter().zip(values).map(|(below, value)| below + value).collect();
            let mut outline = self.points(above.iter().copied());
            outline.extend(self.points(below.iter().copied()).into_iter().rev());
            let _ = writeln!(
                svg,
                "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"0.75\"/>",
                outline.join(" ")
            );
            below = above;
        }
    }

    fn draw_axes(&self, svg: &mut String) {
        for step in 0..=4 {
            let value = self.most * f64::from(step) / 4.0;
            let y = self.y(value);
            let _ = writeln!(
                svg,
                "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#00000022\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
                self.unit,
            );
        }
        let length = self.seconds.end - self.seconds.start;
        for second in self.seconds.clone().step_by((length / 10).max(1) as usize) {
            let (x, y) = (self.x(second as f64), HEIGHT - BOTTOM + 16.0);
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{second} s</text>");
        }
    }

    fn draw_legend(&self, svg: &mut String) {
        let x = WIDTH - RIGHT + 12.0;
        for ((name, _), (index, colour)) in self.series.iter().zip(COLOURS.iter().enumerate()) {
            let y = TOP + 8.0 + 18.0 * index as f64;
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>\
                 <text x=\"{}\" y=\"{y}\">{name}</text>",
                y - 9.0,
                x + 16.0,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_shows_every_series_within_its_frame() {
        let named = |name: &str| ["vendor".to_owned(), name.to_owned()];
        let chart = Chart {
            title: "t".to_owned(),
            seconds: 0..10,
            most: 1.0,
            unit: "",
            stacked: false,
            series: vec![("one".to_owned(), vec![0.0, 5.0]), ("two".to_owned(), vec![1.0, 1.0])],
            bands: vec![(2..4, named("now")), (20..30, named("later"))],
        };
        let svg = chart.svg();
        assert!(svg.contains(">one<") && svg.contains(">two<") && svg.contains(">now<"));
        assert!(!svg.contains("later"), "what is out of sight is not named");
        // Beyond the scale is at its top.
        assert!(svg.contains(&format!(",{TOP:.1}")), "{svg}");
    }
}
