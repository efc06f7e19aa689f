//! What the provider sees and charges for: prompts, and how much of each its cache still holds.
//!
//! Two models of a cache. Under *longest prefix* all that a request has in common with the one before it is read from the
//! cache. Under *breakpoints* only what ends at a place that the harness marked is: behind the system prompt, behind the
//! summary, behind the pruned results, and at the end of each request. Both forget a prompt that was not asked for again
//! within a lifetime, by the times that the log records.

/// How long a cache holds a prompt that is not asked for, in milliseconds: five minutes and one hour.
pub const LIFETIMES: [i64; 2] = [5 * 60 * 1_000, 60 * 60 * 1_000];

/// Requests, and their tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Requests.
    pub requests: u64,
    /// Prompt tokens, overhead included.
    pub prompt: u64,
    /// Of those, the longest common prefix with the request before.
    pub cached: u64,
    /// Tokens of the replies.
    pub output: u64,
    /// Prompt tokens of the newest request.
    pub newest: u64,
    /// What a cache with a lifetime holds of the prompts.
    pub lived: Lived,
}

/// Cached tokens under [`LIFETIMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lived {
    /// Requests of which it is not known how long after the one before they came: the rest is no total then.
    pub untimed: u64,
    /// Longest prefix.
    pub prefix: [u64; 2],
    /// Breakpoints.
    pub breakpoints: [u64; 2],
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.prompt += other.prompt;
        self.cached += other.cached;
        self.output += other.output;
        self.newest = if other.requests > 0 { other.newest } else { self.newest };
        self.lived.untimed += other.lived.untimed;
        for (sum, more) in self.lived.prefix.iter_mut().zip(other.lived.prefix) {
            *sum += more;
        }
        for (sum, more) in self.lived.breakpoints.iter_mut().zip(other.lived.breakpoints) {
            *sum += more;
        }
    }
}

/// What a request has in common with the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Common {
    /// Tokens of the longest common prefix.
    pub prefix: u64,
    /// Tokens up to the last marked place within it.
    pub breakpoint: u64,
}

impl Common {
    /// The same under both models.
    pub fn both(tokens: u64) -> Self {
        Self { prefix: tokens, breakpoint: tokens }
    }
}

/// Adds up requests in the order in which they are made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meter {
    /// A request was made.
    begun: bool,
    /// When the newest one was made.
    before: Option<i64>,
    /// Prompt tokens of the newest request.
    pub newest: u64,
}

impl Meter {
    /// The cost of the next request, made at `time`.
    pub fn request(&mut self, prompt: u64, common: Common, output: u64, time: Option<i64>) -> Cost {
        let common = if self.begun {
            Common { prefix: common.prefix.min(prompt), breakpoint: common.breakpoint.min(prompt) }
        } else {
            Common::both(0)
        };
        let mut lived = Lived::default();
        match (self.before, time) {
            // Clocks of two records may disagree a little.
            (Some(before), Some(now)) => {
                for (at, lifetime) in LIFETIMES.iter().enumerate() {
                    let held = now - before <= *lifetime;
                    let tokens = |tokens: u64| if held { tokens } else { 0 };
                    if let (Some(prefix), Some(marked)) =
                        (lived.prefix.get_mut(at), lived.breakpoints.get_mut(at))
                    {
                        (*prefix, *marked) = (tokens(common.prefix), tokens(common.breakpoint));
                    }
                }
            }
            _ => lived.untimed = u64::from(self.begun),
        }
        (self.begun, self.before) = (true, time);
        self.newest = prompt;
        Cost { requests: 1, prompt, cached: common.prefix, output, newest: prompt, lived }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn a_cache_forgets_what_is_not_asked_for_in_time() {
        let mut meter = Meter::default();
        let mut cost = Cost::default();
        // Minutes at which requests come, each with 100 tokens more than the one before and a mark at 50 less.
        for (at, minute) in [0, 4, 9, 15, 76].into_iter().enumerate() {
            let prompt = 1_000 + 100 * at as u64;
            let common = Common { prefix: prompt - 100, breakpoint: prompt - 150 };
            cost += meter.request(prompt, common, 10, Some(minute * MINUTE));
        }
        assert_eq!((cost.requests, cost.prompt, cost.output, cost.newest), (5, 6_000, 50, 1_400));
        // The first finds nothing; after 6 minutes the short cache is empty, after 61 the long one, too.
        assert_eq!(cost.cached, 1_000 + 1_100 + 1_200 + 1_300);
        assert_eq!(cost.lived.prefix, [1_000 + 1_100, 1_000 + 1_100 + 1_200]);
        assert_eq!(cost.lived.breakpoints, [950 + 1_050, 950 + 1_050 + 1_150]);
        assert_eq!(cost.lived.untimed, 0);
    }

    #[test]
    fn a_request_without_a_time_makes_both_of_its_gaps_unknown() {
        let mut meter = Meter::default();
        let mut cost = Cost::default();
        for time in [None, Some(0), None, Some(MINUTE), Some(2 * MINUTE)] {
            cost += meter.request(10, Common::both(5), 1, time);
        }
        assert_eq!((cost.lived.untimed, cost.cached, cost.lived.prefix), (3, 20, [5, 5]));
    }
}
