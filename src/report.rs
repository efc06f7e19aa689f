//! Views of a run.
