//! Arguments of `profiles`.

use clap::{Args, Subcommand};

pub(super) const ABOUT: &str = "\
List the embedded compaction policies, or print one

Examples:
  compactor profiles
  compactor profiles show pi
  compactor profiles show sven > mine.toml
  compactor profiles show pi+fixes

A profile of your own is a TOML file, named with --profile. It may begin with `extends = \"NAME\"` and hold only what differs. \
NAME+fixes is a profile with its known faults mended.";

/// Arguments of `profiles`.
#[derive(Debug, Args)]
pub struct ProfilesArgs {
    /// What to do; without it the profiles are listed
    #[command(subcommand)]
    pub verb: Option<ProfilesVerb>,
}

/// What `profiles` does.
#[derive(Debug, Subcommand)]
pub enum ProfilesVerb {
    /// A line for each profile
    List,
    /// The TOML text of a profile, comments on origin and meaning included
    Show {
        /// Name of an embedded profile
        #[arg(value_name = "NAME")]
        name: String,
    },
}
