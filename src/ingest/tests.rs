//! Corpus and property tests of the readers.
