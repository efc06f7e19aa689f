//! Which sessions choose and which confirm, and in which order a search over many combinations sees them.

/// Fewest sessions that a step of a search drops anything on.
pub const LEAST_SESSIONS: usize = 4;

/// So many combinations are not worth another step.
const FEW: usize = 3;

/// How combinations are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// All on all sessions.
    Grid,
    /// All on a share of the sessions, the better half on twice as many, and so on.
    Halving,
}

impl Search {
    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Halving => "halving",
        }
    }
}

/// Which part of the sessions one belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The choice is made here.
    Dev,
    /// It is reported here.
    HeldOut,
}

impl Side {
    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::HeldOut => "held-out",
        }
    }
}

/// The place of a session, by a hash of its id alone, or of that of the session to which a sub-agent belongs: its side, and where
/// between 0 and 1 a search meets it.
pub fn place(id: &str, held_out: f64) -> (Side, f64) {
    let hash = blake3::hash(id.as_bytes());
    let mut parts = hash.as_bytes().chunks_exact(8).map(|bytes| {
        let number = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        // The 53 bits that a double holds: never 1.
        (number >> 11) as f64 / (1_u64 << 53) as f64
    });
    let (side, order) = (parts.next().unwrap_or(0.0), parts.next().unwrap_or(0.0));
    (if side < held_out { Side::HeldOut } else { Side::Dev }, order)
}

/// How many of so many dev sessions each step of a search sees, ascending; the last step, which is not in the list, sees all.
///
/// A step drops half of the combinations, so there are as many as leave a few, but the first one sees no fewer than
/// [`LEAST_SESSIONS`].
pub fn steps(combinations: usize, sessions: usize) -> Vec<usize> {
    let mut seen = Vec::new();
    let (mut left, mut sessions) = (combinations, sessions / 2);
    while left > FEW && sessions >= LEAST_SESSIONS {
        seen.push(sessions);
        (left, sessions) = (kept(left), sessions / 2);
    }
    seen.reverse();
    seen
}

/// How many of so many combinations a step keeps.
pub fn kept(combinations: usize) -> usize {
    combinations.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_of_a_session_is_that_of_its_id() {
        // Pinned: a corpus must not be split anew by a new version.
        let sides: Vec<&str> = ["a", "b", "c", "d", "e", "f"].map(|id| place(id, 0.3).0.name()).to_vec();
        assert_eq!(sides, ["held-out", "held-out", "dev", "dev", "held-out", "dev"]);
        assert!((place("s-1", 0.3).1 - place("s-2", 0.3).1).abs() > 1e-9);
    }

    #[test]
    fn shares_are_about_what_is_asked_for() {
        let ids: Vec<String> = (0..4_000).map(|at| format!("session-{at}")).collect();
        for share in [0.0, 0.1, 0.3, 0.5] {
            let held_out = ids.iter().filter(|id| place(id, share).0 == Side::HeldOut).count();
            assert!((held_out as f64 / 4_000.0 - share).abs() < 0.03, "{share}: {held_out}");
        }
        // More held out never moves a session to the dev side, and the order is another matter than the side.
        assert!(ids.iter().all(|id| place(id, 0.1).0 == Side::Dev || place(id, 0.3).0 == Side::HeldOut));
        let early =
            ids.iter().filter(|id| place(id, 0.3) < (Side::HeldOut, 0.0) && place(id, 0.3).1 < 0.5).count();
        assert!((early as f64 / 2_800.0 - 0.5).abs() < 0.05, "{early}");
    }

    #[test]
    fn steps_double_the_sessions_until_few_combinations_are_left() {
        assert_eq!(steps(48, 100), [6, 12, 25, 50]);
        assert_eq!(steps(48, 8), [4]);
        assert_eq!(steps(5, 100), [50]);
        for (combinations, sessions) in [(48, 7), (3, 100), (1, 0)] {
            assert!(steps(combinations, sessions).is_empty(), "{combinations} {sessions}");
        }
        assert_eq!((kept(48), kept(3), kept(1)), (24, 2, 1));
    }
}
