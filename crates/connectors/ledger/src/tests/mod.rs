mod contract;
mod file;
mod given_up;
mod killed;
mod place;
mod retention;
mod support;
