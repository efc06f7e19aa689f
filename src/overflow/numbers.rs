//! Which number of an error is the limit, and which is what the request came to.
//!
//! A number is told by the words around it, up to the next number or the end of the sentence: `limit is N`, `N maximum`,
//! `exceeds … N` are limits, `requested N`, `N exceeds`, `N in the messages` were used. Comparisons that are written out
//! (`A + B > C`) and ranges (`[1, N]`) say it themselves.

use super::reading::patterns;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Tokens that an error names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Named {
    /// What is allowed.
    pub(super) limit: Option<u64>,
    /// What the request came to.
    pub(super) used: Option<u64>,
    /// What the request asked for, where the error says so in this word: an error of rates also says what others used.
    pub(super) requested: Option<u64>,
}

/// A lone number in brackets below this is a code of the provider (`(2013)`), unless it is a power of two.
const LEAST_BARE: u64 = 4096;

patterns! {
    SUM = r" (\d+)(?: tokens)?((?: [+-] \d+(?: tokens)?)*) >=? (\d+)((?: [+-] \d+)*) ";
    TERM = r"([+-]) (\d+)";
    RANGE = r"(?:\[ ?\d+ , (\d+) \]| between \d+ and (\d+) | from \d+ (?:\( inclusive \) )?to (\d+) (\( exclusive \) )?)";
    END = r"(?: [.;!?])+ ";
    // The setting of the output is no limit of the request.
    SETTING = r" (?:max|maximum) (?:output|completion|new|generated|response) tokens? ";
    BESIDE = r" (\+|and|plus|or) max tokens ";
    ANY_SETTING = r" (?:max|maximum) (?:number of )?(?:(?:output|completion|new|generated|response) )?tokens? ";
    NO_TOKENS = r"^(?:bytes?|[kmg]i?b|characters|chars|pixels?|images?|uploads?|requests?|messages|seconds?|secs?|ms|minutes?|hours?|days?|files?|items?|pages?|times|%|x) ";
    NO_NUMBER = r" (?:code|status|http|error|version|line|step|block|attempt|port|rank|gpu|layer) (?::|=|\()? ?$";
    EXCESS = r" by (?:about |roughly |approximately |at least )?$";
    OUTPUT_RIGHT = r"^(?:tokens? )?(?:(?:in|for) (?:the )?(?:completion|output|response)|(?:output|completion|generated|outtokens))";
    LIMIT_RIGHT = r"^(?:tokens? )?(?:maximum|max|limit|context|token limit|token context|token window|allowed|supported|(?:input |output )?tokens? (?:per|a) )";
    USED_RIGHT = r"^(?:tokens? |\) )*(?:exceed(?:s|ed)? (?:the|your|our|its|this|model|models|max|maximum|limit|context|\d)|> (?:\d|the|max|maximum|limit|model)|(?:is|are|was|were) (?:longer|larger|bigger|greater|more|over|above|beyond|too)|(?:were|was) (?:sent|given|provided|requested|received)|long |requested |超出|超过|大于)";
    INPUT_RIGHT = r"^(?:tokens? )?(?:in (?:the |your )?(?:messages|prompt|request|input|functions|conversation)|of (?:text|tool|image) input|(?:input|prompt|inputs) tokens?|from (?:the )?(?:input|messages|prompt))";
    ASKED_LEFT = r" (?:requested|got|received|given|provided|passed|sent|supplied|contains?|resulted in|setting)(?: (?:of|up to|about|at least|approximately|around|a|total|value|is|too|large|:|=|\(|tokens?))* $";
    LIMIT_LEFT = r" (?:max|maximum|limits?|limited|up to|at most|only|supports?|allows?|allowed|accepts?|takes|<=?|less than|lower than|fewer than|shorter than|smaller than|more than|longer than|larger than|greater than|bigger than|than|below|under|within|exceeds?|exceeded|exceeding|over|beyond|above|>=?|n ctx|num ctx|context (?:window|length|size|limit)|max model len|capacity|ceiling|cap|quota|supported|afford|[^ ]*(?:最大|上限|限制|超过|超出)[^ ]*)(?: (?:of|is|are|was|the|a|an|this|that|to|be|only|just|tokens?|allowed|permitted|supported|configured|available|size|length|len|count|context|window|input|prompt|model|models|sequence|seq|position|embeddings|total|number|value|setting|for|at|set|currently|about|approximately|limit|maximum|max|equal|or|than|our|your|its|requested|completion|output|:|=|\(|\[))* $";
    USED_LEFT = r" (?:requests?|requires?|holds?|has|have|had|results in|receive|gets|submitted|is too long|too long|too large|too many tokens|current|currently|prompts?|inputs?|conversation|messages?|counts?|total|estimated|used|actual|needs?|needed|keep the first|length|sum|setting|outtokens|tokens|[^ ]*(?:当前|实际|请求|输入|共)[^ ]*)(?: (?:of|is|are|was|the|a|an|about|approximately|around|at least|roughly|total|tokens?|count|length|size|number|you|your|input|prompt|text|in|first|already|[^ a-z0-9]{1,3}|:|=|\())* $";
    OF_INPUT = r" (?:prompts?|inputs?|messages|conversation)[^0-9]* $";
}

/// Reads the numbers of a plain text. `of_output`: the error is about the output setting, which then is what was used.
pub(super) fn read(plain: &str, of_output: bool) -> Named {
    if let Some(named) = SUM.captures(plain).and_then(|found| comparison(&found)) {
        return named;
    }
    let text = if of_output {
        ANY_SETTING.replace_all(plain, " setting ").into_owned()
    } else {
        BESIDE.replace_all(&SETTING.replace_all(plain, " outtokens "), " $1 outtokens ").into_owned()
    };
    let mut tally = Tally::default();
    if let Some(found) = RANGE.captures(&text) {
        let exclusive = u64::from(found.get(4).is_some());
        let end = (1..=3).find_map(|group| found.get(group)?.as_str().parse::<u64>().ok());
        tally.limits.extend(end.map(|end| end.saturating_sub(exclusive)));
    }
    let text = RANGE.replace_all(&text, " range ");
    for sentence in END.split(&text) {
        tally.sentence(&format!(" {} ", sentence.trim()), of_output);
    }
    tally.named()
}

/// `A + B > C - D`, summed up.
fn comparison(found: &Captures<'_>) -> Option<Named> {
    let side = |first: usize, rest: usize| -> Option<u64> {
        let mut sum: u64 = found.get(first)?.as_str().parse().ok()?;
        for term in TERM.captures_iter(found.get(rest).map_or("", |it| it.as_str())) {
            let number: u64 = term.get(2)?.as_str().parse().ok()?;
            let is_plus = term.get(1).is_some_and(|sign| sign.as_str() == "+");
            sum = if is_plus { sum.checked_add(number)? } else { sum.checked_sub(number)? };
        }
        Some(sum)
    };
    Some(Named { limit: side(3, 4), used: Some(side(1, 2)?), requested: None })
}

/// Numbers by what they are.
#[derive(Debug, Default)]
struct Tally {
    limits: Vec<u64>,
    used: Vec<u64>,
    requested: Option<u64>,
    excess: Option<u64>,
}

impl Tally {
    fn sentence(&mut self, sentence: &str, of_output: bool) {
        let numbers = numbers(sentence);
        let lone = numbers.len() == 1;
        let (mut inputs, mut outputs): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        let mut before = 0;
        for (idx, (start, end, number)) in numbers.iter().enumerate() {
            let left = sentence.get(before..*start).unwrap_or("");
            let until = numbers.get(idx + 1).map_or(sentence.len(), |next| next.1);
            let right = sentence.get(end + 1..until).unwrap_or("");
            before = *end;
            if NO_TOKENS.is_match(right) || NO_NUMBER.is_match(left) || is_code(lone, left, right, *number) {
                continue;
            }
            let of_input =
                INPUT_RIGHT.is_match(right) || OF_INPUT.is_match(left) && !left.contains(" total of ");
            let is_part = left.contains(" outtokens ") && !inputs.is_empty();
            if EXCESS.is_match(left) {
                self.excess = Some(*number);
            } else if !of_output && (is_part || OUTPUT_RIGHT.is_match(right) && !LIMIT_RIGHT.is_match(right))
            {
                outputs.push(*number);
            } else if ASKED_LEFT.is_match(left) && !(of_output && bounds(left)) {
                if left.contains(" requested ") {
                    self.requested = Some(*number);
                }
                if INPUT_RIGHT.is_match(right) { inputs.push(*number) } else { self.used.push(*number) }
            } else if LIMIT_RIGHT.is_match(right) {
                self.limits.push(*number);
            } else if USED_RIGHT.is_match(right) {
                if of_input { inputs.push(*number) } else { self.used.push(*number) }
            } else if LIMIT_LEFT.is_match(left) {
                self.limits.push(*number);
            } else if INPUT_RIGHT.is_match(right) || USED_LEFT.is_match(left) {
                if of_input { inputs.push(*number) } else { self.used.push(*number) }
            }
        }
        let whole = if outputs.is_empty() {
            inputs.iter().copied().max()
        } else if inputs.is_empty() {
            None
        } else {
            Some(inputs.iter().chain(&outputs).fold(0, |sum: u64, part| sum.saturating_add(*part)))
        };
        self.used.extend(whole);
    }

    fn named(&self) -> Named {
        let used = self.used.iter().copied().max();
        let below = |limit: &&u64| used.is_some_and(|used| **limit < used);
        let limit = self.limits.iter().find(below).or(self.limits.first()).copied();
        let used = match (limit, self.excess) {
            (Some(limit), Some(excess)) => limit.checked_add(excess),
            _ => used,
        };
        Named { limit, used, requested: self.requested }
    }
}

/// Whole numbers of a sentence: start, end, value.
fn numbers(sentence: &str) -> Vec<(usize, usize, u64)> {
    let mut found = Vec::new();
    let mut start = 0;
    for word in sentence.split(' ') {
        let end = start + word.len();
        if word.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(number) = word.parse()
        {
            found.push((start, end, number));
        }
        start = end + 1;
    }
    found
}

/// A comparison stands before the number.
fn bounds(left: &str) -> bool {
    [" exceed", " than ", " above "].iter().any(|word| left.contains(word))
}

/// A number alone in brackets that is small and not round is a code of the provider.
fn is_code(lone: bool, left: &str, right: &str, number: u64) -> bool {
    lone && left.ends_with(" ( ")
        && right.starts_with(") ")
        && number < LEAST_BARE
        && !number.is_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overflow::reading::plain;

    fn check(text: &str, limit: Option<u64>, used: Option<u64>) {
        let named = read(&plain(text), false);
        assert_eq!((named.limit, named.used), (limit, used), "{text}");
    }

    #[test]
    fn numbers_are_told_by_the_words_around_them() {
        check("limit is 900 tokens, you sent 1,000", Some(900), Some(1000));
        check("1000 tokens exceed the maximum of 900", Some(900), Some(1000));
        check("at most 900 tokens are allowed", Some(900), None);
        check("900 tokens max", Some(900), None);
        check("a prompt of 1000 tokens", None, Some(1000));
        check("size limit 900 exceeded by 100 tokens", Some(900), Some(1000));
        check("context window exceeds limit (2013)", None, None);
        check("exceeds limit (2048)", Some(2048), None);
        check("error code: 400, status 413", None, None);
        check("limit of 5 uploads, 900 bytes, 3 seconds", None, None);
        check("gpt-4o took 4.2s", None, None);
    }

    #[test]
    fn a_negative_number_is_no_count() {
        check("you sent -5 tokens", None, None);
        check("requested: -5, limit: 900", Some(900), None);
        check("{\"used\": -5, \"n_ctx\": 900}", Some(900), None);
        check("limit is -1,000 tokens, you sent 1,000", None, Some(1000));
        check("-5k tokens exceed the maximum of 900", Some(900), None);
        check("(-5 tokens) in the messages", None, None);
        // These are signs between words, ranges and names.
        check("limit is 900 tokens - you sent 1,000", Some(900), Some(1000));
        check("1000 > 950 -50", Some(900), Some(1000));
        check("gpt-4: at most 900 tokens", Some(900), None);
    }

    #[test]
    fn parts_add_up() {
        check("600 input tokens and 400 output tokens, limit 900", Some(900), Some(1000));
        check("you requested 1000 tokens (600 in the messages, 400 in the completion)", None, Some(1000));
        check("600 + 400 > 900", Some(900), Some(1000));
        check("1000 > 950 - 50", Some(900), Some(1000));
        check("9 > 18446744073709551615 + 1", None, Some(9));
    }

    #[test]
    fn ranges_end_at_the_limit() {
        check("length should be [1, 900]", Some(900), None);
        check("from 1 (inclusive) to 901 (exclusive)", Some(900), None);
        check("must be between 1 and 900, got 1000", Some(900), Some(1000));
    }
}
