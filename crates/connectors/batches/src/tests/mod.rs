mod contract;
mod given_up;
mod killed;
mod support;
