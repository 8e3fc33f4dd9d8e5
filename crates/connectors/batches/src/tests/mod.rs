mod contract;
mod given_up;
mod killed;
mod read_only;
mod support;
