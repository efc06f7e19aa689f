//! Emergency: the history is dropped and a notice says so. No list, no metadata, nothing of earlier summaries.

/// Notice for systems whose profile brings none.
pub const NOTICE: &str = "[Context emergency-compacted: the earlier conversation was dropped to fit the context window. \
    What is known here may be incomplete; proceed with care and ask for requirements that are missing.]";
