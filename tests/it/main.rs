//! One integration binary.
mod labels;
