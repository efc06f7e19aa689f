//! The one integration binary: the real program end to end, the labels, the layers.
#![expect(
    clippy::disallowed_methods,
    reason = "tests read fixtures, the environment and their own temporary files"
)]

mod accounting;
mod arguments;
mod audit;
mod bad_input;
mod ci;
mod conformance;
mod cut_safety;
mod damage;
mod exec;
mod fates;
mod file_operations;
mod inputs;
mod inspect;
mod labels;
mod layers;
mod llm;
mod logs;
mod overflow;
mod own_policies;
mod planted;
mod probes;
mod profiles;
mod prompts;
mod reach;
mod readme;
mod repeated;
mod replay;
mod report;
mod steps;
mod support;
mod tune;
mod validity;
mod verdicts;
mod writing;
