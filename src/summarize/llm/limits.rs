//! What a run may cost, and what it did.

use std::str::FromStr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Of input.
    pub input: f64,
    /// Of output.
    pub output: f64,
}

impl Price {
    /// US dollars of so many tokens.
    pub fn of(self, input: u64, output: u64) -> f64 {
        (self.input * input as f64 + self.output * output as f64) / 1e6
    }
}

impl FromStr for Price {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no price: give IN,OUT in US dollars for a million tokens, like 0.25,2");
        let (input, output) = text.split_once(',').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|price| (0.0..=1e6).contains(price));
        Ok(Self { input: number(input).ok_or_else(wrong)?, output: number(output).ok_or_else(wrong)? })
    }
}

/// The most that may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    /// Requests, repeated ones included.
    pub requests: Option<u64>,
    /// US dollars.
    pub cost: Option<f64>,
    /// What tokens cost, where that is known.
    pub price: Option<Price>,
}

/// What was asked, and what it came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spent {
    /// Requests that were sent, repeated ones included.
    pub requests: u64,
    /// Of those, repeated ones.
    pub repeated: u64,
    /// Replies from cassettes.
    pub replayed: u64,
    /// Tokens of input: as the provider told; in a dry run as counted.
    pub input: u64,
    /// Tokens of output; in a dry run the most that could come.
    pub output: u64,
    /// US dollars, where the price is known.
    pub cost: f64,
    /// Of requests that are on their way, at the most.
    pub pending: f64,
}

/// Why a request is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// Never.
    Limit(String),
    /// Not before something that is on its way is back.
    Wait,
}

/// What is spent, for many at once.
#[derive(Debug, Default)]
pub(super) struct Purse {
    spent: Mutex<Spent>,
    changed: Condvar,
}

impl Purse {
    /// See [`Spent::begin`]; waits where that may help.
    pub(super) fn begin(&self, limits: &Limits, most: (u64, u64), again: bool) -> Result<(), String> {
        let mut spent = self.lock();
        loop {
            match spent.begin(limits, most, again) {
                Ok(()) => return Ok(()),
                Err(Refused::Limit(why)) => return Err(why),
                Err(Refused::Wait) => {
                    spent = self.changed.wait(spent).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// See [`Spent::end`].
    pub(super) fn end(&self, limits: &Limits, most: (u64, u64), came_to: (u64, u64)) {
        self.lock().end(limits, most, came_to);
        self.changed.notify_all();
    }

    /// A reply came from a cassette.
    pub(super) fn replayed(&self) {
        self.lock().replayed += 1;
    }

    /// What is spent so far.
    pub(super) fn so_far(&self) -> Spent {
        self.lock().clone()
    }

    /// Numbers are whole even where somebody failed while holding them.
    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spent {
    /// Takes note of a request before it is sent; `most`: the tokens that it may come to.
    ///
    /// # Errors
    ///
    /// It would pass a limit, or might: what is on its way may come to less than is set aside for it.
    pub(super) fn begin(&mut self, limits: &Limits, most: (u64, u64), again: bool) -> Result<(), Refused> {
        if let Some(limit) = limits.requests.filter(|limit| self.requests >= *limit) {
            return Err(Refused::Limit(format!("the limit of {limit} requests is reached (--max-requests)")));
        }
        let cost = limits.price.map_or(0.0, |price| price.of(most.0, most.1));
        if let Some(limit) = limits.cost.filter(|limit| self.cost + self.pending + cost > *limit) {
            if self.pending > 0.0 && self.cost + cost <= limit {
                return Err(Refused::Wait);
            }
            return Err(Refused::Limit(format!(
                "the limit of {limit} dollars would be passed (--max-cost): {:.4} are spent, the next request may cost {cost:.4}",
                self.cost
            )));
        }
        self.pending += cost;
        self.requests += 1;
        self.repeated += u64::from(again);
        Ok(())
    }

    /// Takes note of what it came to.
    pub(super) fn end(&mut self, limits: &Limits, most: (u64, u64), came_to: (u64, u64)) {
        let cost = |tokens: (u64, u64)| limits.price.map_or(0.0, |price| price.of(tokens.0, tokens.1));
        self.pending = (self.pending - cost(most)).max(0.0);
        self.cost += cost(came_to);
        self.input = self.input.saturating_add(came_to.0);
        self.output = self.output.saturating_add(came_to.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_beyond_a_limit() {
        let price = Some(Price { input: 1.0, output: 10.0 });
        let limits = Limits { requests: Some(3), cost: Some(0.05), price };
        let mut spent = Spent::default();
        // 0.02 each at the most, 0.006 in the end.
        for again in [false, true] {
            spent.begin(&limits, (10_000, 1_000), again).expect("within");
        }
        // What is on its way may come to less.
        assert_eq!(spent.begin(&limits, (10_000, 1_000), false), Err(Refused::Wait));
        let refused = |refused| match refused {
            Err(Refused::Limit(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(refused(spent.begin(&limits, (60_000, 1), false)).contains("--max-cost"));
        for _ in 0..2 {
            spent.end(&limits, (10_000, 1_000), (5_000, 100));
        }
        spent.begin(&limits, (10_000, 1_000), false).expect("0.032");
        assert!(refused(spent.begin(&limits, (1, 1), false)).contains("--max-requests"));
        assert_eq!((spent.requests, spent.repeated, spent.input, spent.output), (3, 1, 10_000, 200));
        assert!((spent.cost - 0.012).abs() < 1e-9, "{spent:?}");
    }

    #[test]
    fn prices_are_two_numbers() {
        assert_eq!("0.25, 2".parse(), Ok(Price { input: 0.25, output: 2.0 }));
        for wrong in ["", "1", "1,", "a,b", "-1,2", "1,2,3", "NaN,1", "inf,1"] {
            assert!(wrong.parse::<Price>().is_err(), "{wrong}");
        }
    }
}
