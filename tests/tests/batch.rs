//! Work that can wait, as applications and operators meet it.

mod access;
mod budget;
mod crash;
mod ends;
mod input;
mod lab;
mod results;
mod vendors;
