//! When a request is sent again, and how long to wait before it.

use std::time::Duration;

/// The rule: exponential, capped, with jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Times that a request is sent in all, at least once.
    pub tries: u32,
    /// Wait before the second time, without what the server says.
    pub first: Duration,
    /// Longest wait by this rule.
    pub most: Duration,
    /// Longest wait that a server may ask for; one that asks for more is not asked again.
    pub patience: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            tries: 6,
            first: Duration::from_millis(500),
            most: Duration::from_secs(30),
            patience: Duration::from_mins(2),
        }
    }
}

impl Retries {
    /// How long to wait after the `tried`-th time (from 1), where the server asked for `asked`; `None`: give up. `seed` makes
    /// requests that failed together come back apart.
    pub fn wait(&self, tried: u32, asked: Option<Duration>, seed: u64) -> Option<Duration> {
        if tried >= self.tries || asked.is_some_and(|asked| asked > self.patience) {
            return None;
        }
        let full = self.first.saturating_mul(1u32.checked_shl(tried - 1).unwrap_or(u32::MAX)).min(self.most);
        // Between three quarters and all of it: apart from others, and always longer than the wait before.
        let part = 750 + (mixed(seed ^ u64::from(tried)) % 251) as u32;
        let own = full * part / 1000;
        Some(asked.map_or(own, |asked| asked + own.min(asked / 4)))
    }
}

/// A number that looks like chance (the finalizer of SplitMix64).
fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// True for statuses that another try may turn.
pub(super) fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500..=599)
}

/// What `Retry-After` asks for: seconds, or a date, which is taken from that of the reply. `retry-after-ms` says it in
/// milliseconds.
pub(super) fn asked(after: Option<&str>, millis: Option<&str>, date: Option<&str>) -> Option<Duration> {
    let millis = millis.and_then(|text| text.trim().parse::<f64>().ok()).map(|millis| millis / 1000.0);
    let seconds = || {
        let after = after?.trim();
        after.parse::<f64>().ok().or_else(|| {
            let read = |text: &str| jiff::fmt::rfc2822::parse(text).ok();
            Some((read(after)?.timestamp().as_second() - read(date?)?.timestamp().as_second()) as f64)
        })
    };
    let seconds = millis.or_else(seconds)?;
    Duration::try_from_secs_f64(seconds.max(0.0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_cap_and_end() {
        let rule = Retries { tries: 9, ..Retries::default() };
        for seed in 0..200 {
            for tried in 1..9 {
                let wait = rule.wait(tried, None, seed).expect("a wait");
                let full = rule.first.saturating_mul(1 << (tried - 1)).min(rule.most);
                assert!(wait >= full * 3 / 4 && wait <= full, "{tried}: {wait:?} of {full:?}");
            }
            assert_eq!(rule.wait(9, None, seed), None);
        }
        let waits: std::collections::BTreeSet<_> = (0..50).map(|seed| rule.wait(3, None, seed)).collect();
        assert!(waits.len() > 20, "jitter");
    }

    #[test]
    fn a_server_is_waited_for_as_long_as_it_asks_within_reason() {
        let rule = Retries::default();
        for seconds in [0, 1, 7, 120] {
            let asked = Duration::from_secs(seconds);
            assert!(rule.wait(1, Some(asked), 3).expect("a wait") >= asked);
        }
        assert_eq!(rule.wait(1, Some(Duration::from_secs(121)), 3), None);
    }

    #[test]
    fn what_the_headers_ask_for() {
        let date = Some("Sun, 06 Nov 1994 08:49:30 GMT");
        let at = |text| Some(text);
        let check = |after, millis, expected: Option<f64>| {
            assert_eq!(
                asked(after, millis, date).map(|it| it.as_secs_f64()),
                expected,
                "{after:?} {millis:?}"
            );
        };
        check(at("2"), None, Some(2.0));
        check(at(" 0.5 "), None, Some(0.5));
        check(at("Sun, 06 Nov 1994 08:49:37 GMT"), None, Some(7.0));
        check(at("Sun, 06 Nov 1994 08:49:20 GMT"), None, Some(0.0));
        check(at("9"), at("250"), Some(0.25));
        check(at("-3"), None, Some(0.0));
        for nothing in [None, at(""), at("soon"), at("1e999")] {
            check(nothing, None, None);
        }
        assert_eq!(asked(at("Sun, 06 Nov 1994 08:49:37 GMT"), None, None), None);
    }
}
