//! Prometheus' text format, read.

/// Metrics as they were at one moment.
#[derive(Debug, Clone, Default)]
pub struct Metrics(String);

impl Metrics {
    /// From the text of one process, or of several one after the other.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The sum over all series of a metric that have these labels.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let wanted: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        let matches = |series: &str| wanted.iter().all(|label| series.contains(label.as_str()));
        self.series(name).filter(|(series, _)| matches(series)).map(|(_, value)| value).sum()
    }

    /// The series of a metric: labels and value.
    fn series(&self, name: &str) -> impl Iterator<Item = (&str, f64)> {
        self.0.lines().filter_map(move |line| {
            let (series, value) = line.strip_prefix(name)?.rsplit_once(' ')?;
            let ours = series.is_empty() || series.starts_with('{');
            Some((series, value.parse().ok()?)).filter(|_| ours)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_summed_by_label() {
        let metrics = Metrics::new(
            "# HELP a_total Things.\na_total{x=\"1\",y=\"2\"} 3\na_total{x=\"1\",y=\"3\"} 4\na_total_more 9\na_total 1\n",
        );
        assert!((metrics.sum("a_total", &[("x", "1")]) - 7.0).abs() < f64::EPSILON);
        assert!((metrics.sum("a_total", &[]) - 8.0).abs() < f64::EPSILON);
        assert!(metrics.sum("b", &[]).abs() < f64::EPSILON);
    }
}
