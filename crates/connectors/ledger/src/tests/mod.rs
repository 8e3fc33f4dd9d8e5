mod contract;
mod file;
mod given_up;
mod killed;
mod place;
mod read_only;
mod retention;
mod support;
