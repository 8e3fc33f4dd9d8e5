//! The process itself as metrics, by the names that Prometheus' own libraries give them. Read from `/proc` when somebody looks;
//! elsewhere than on Linux there is only its start.

use super::metrics;
use crate::{Clock, SystemClock};
use prometheus::{CounterVec, GaugeVec, IntGaugeVec};
use std::{fs, sync::LazyLock, time::UNIX_EPOCH};

static STARTED: LazyLock<GaugeVec> = LazyLock::new(|| {
    metrics::number(
        "process_start_time_seconds",
        "When the process was started, in seconds since the epoch.",
        &[],
    )
});
static MEMORY: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge("process_resident_memory_bytes", "Memory that the process has in use.", &[])
});
static MEMORY_LIMIT: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_memory_limit_bytes",
        "Memory that the process may use: its control group's limit, else all that the machine has.",
        &[],
    )
});
static CPU: LazyLock<CounterVec> = LazyLock::new(|| {
    metrics::amount("process_cpu_seconds_total", "Processor time that the process has used.", &[])
});
static OPEN_FILES: LazyLock<IntGaugeVec> =
    LazyLock::new(|| metrics::gauge("process_open_fds", "Files and connections that are open.", &[]));
static MOST_FILES: LazyLock<IntGaugeVec> =
    LazyLock::new(|| metrics::gauge("process_max_fds", "Files and connections that may be open.", &[]));

/// Where a control group says how much memory its processes may use: the second version's file, then the first one's.
const LIMITS: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
/// What the kernel counts a process's time in, whatever the machine.
const TICKS_A_SECOND: f64 = 100.0;

/// Registers them, and says since when the process runs.
pub(super) fn register() {
    let now = SystemClock.now().duration_since(UNIX_EPOCH).unwrap_or_default();
    STARTED.with_label_values::<&str>(&[]).set(now.as_secs_f64());
    for gauge in [&MEMORY, &MEMORY_LIMIT, &OPEN_FILES, &MOST_FILES] {
        LazyLock::force(gauge);
    }
    LazyLock::force(&CPU);
}

/// Brings them up to date. What cannot be read stays as it was.
pub(super) fn look() {
    set(&MEMORY, read("/proc/self/status").and_then(|status| kibibytes(&status, "VmRSS")));
    set(&MEMORY_LIMIT, memory_limit());
    set(&OPEN_FILES, fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as u64));
    set(&MOST_FILES, read("/proc/self/limits").and_then(|limits| most_files(&limits)));
    if let Some(seconds) = read("/proc/self/stat").and_then(|stat| cpu_seconds(&stat)) {
        let counter = CPU.with_label_values::<&str>(&[]);
        counter.inc_by((seconds - counter.get()).max(0.0));
    }
}

fn set(gauge: &IntGaugeVec, value: Option<u64>) {
    if let Some(value) = value {
        gauge.with_label_values::<&str>(&[]).set(i64::try_from(value).unwrap_or(i64::MAX));
    }
}

fn read(file: &str) -> Option<String> {
    fs::read_to_string(file).ok()
}

/// The first version's limit is a number beyond any machine's memory where there is none, the second's a word.
fn memory_limit() -> Option<u64> {
    let machine = read("/proc/meminfo").and_then(|memory| kibibytes(&memory, "MemTotal"));
    let group = LIMITS.iter().find_map(|file| read(file)?.trim().parse().ok());
    [group, machine].into_iter().flatten().min()
}

/// The value of a line such as `VmRSS:   1234 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The soft limit of open files.
fn most_files(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Time in user and in kernel mode, which are the fields 14 and 15. The second is a name, and may have spaces and parentheses.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, from_third) = stat.rsplit_once(')')?;
    let mut fields = from_third.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some((f64::from(ticks()?) + f64::from(ticks()?)) / TICKS_A_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_texts_are_read() {
        assert_eq!(kibibytes("VmPeak:\t 9 kB\nVmRSS:\t  1234 kB\n", "VmRSS"), Some(1234 * 1024));
        assert_eq!(kibibytes("VmRSS:\t x kB\n", "VmRSS"), None);
        let limits =
            "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024   524288   files\n";
        assert_eq!(most_files(limits), Some(1024));
        let stat = "42 (a ) b) S 1 42 42 0 -1 4194560 900 0 0 0 250 50 0 0 20 0 9 0 1000 1 1";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(cpu_seconds("nothing"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_tells_how_much_memory_it_uses_and_may_use() {
        look();
        let value = |gauge: &IntGaugeVec| gauge.with_label_values::<&str>(&[]).get();
        assert!(value(&MEMORY) > 1 << 20);
        assert!(value(&MEMORY_LIMIT) >= value(&MEMORY));
    }
}
