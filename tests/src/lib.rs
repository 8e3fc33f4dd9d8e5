//! End-to-end tests live in `tests/`: what users of Signalbox rely on, against real processes. Each body runs with all
//! roles in one process and with every role in processes of its own.
