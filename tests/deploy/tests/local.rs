//! The whole system on one machine, as `make up` starts it.
