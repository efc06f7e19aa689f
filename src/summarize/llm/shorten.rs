//! A conversation that is more than the model takes.

use crate::summarize::prompt::Prompt;
use crate::tokens::{Counter, Tokenizer};

/// What is taken off beyond what the numbers say: tokenizers differ, and so do parts of a text.
const SLACK: f64 = 0.9;

/// Tokens of a prompt by our count.
pub(super) struct Counted {
    /// All of it.
    pub(super) whole: u64,
    /// Of those, what the conversation itself takes, as it is written now.
    pub(super) conversation: u64,
}

impl Counted {
    pub(super) fn of(prompt: &Prompt, counter: &Counter) -> Self {
        let tokenizer = counter.tokenizer();
        let whole = tokenizer.count(&prompt.system) + tokenizer.count(&prompt.user);
        let conversation =
            prompt.user.get(prompt.conversation.clone()).map_or(0, |text| tokenizer.count(text));
        Self { whole, conversation }
    }
}

/// Tokens that the conversation may have, by what the error says; half of what it has where it says nothing. `output` tokens
/// are wanted for the reply, of which half the window is left in any case. 0: all the rest is too much already.
pub(super) fn room(counted: &Counted, limit: Option<u64>, used: Option<u64>, output: u64) -> u64 {
    let half = counted.conversation / 2;
    let told = limit.filter(|limit| *limit > 0).map(|limit| {
        let wanted = limit - output.min(limit / 2);
        // How the other side counts what we counted.
        let factor = used.map_or(1.0, |used| used as f64 / counted.whole.max(1) as f64).clamp(0.5, 4.0);
        let whole = wanted as f64 * SLACK / factor;
        let rest = counted.whole.saturating_sub(counted.conversation);
        (whole as u64).saturating_sub(rest)
    });
    // Numbers that would take nothing away are not those of this request.
    told.filter(|room| *room < counted.conversation).unwrap_or(half)
}

/// A text of at most so many tokens: its beginning and its end, whole lines of them where possible, with a note between them.
pub(crate) fn middle(text: &str, most: u64, tokenizer: Tokenizer) -> String {
    if tokenizer.count(text) <= most {
        return text.to_owned();
    }
    let note = |left: u64| format!("\n[{left} tokens of the conversation are left out here]\n");
    let room = most.saturating_sub(tokenizer.count(&note(u64::from(u32::MAX)))) / 2;
    let lines: Vec<(&str, u64)> =
        text.split_inclusive('\n').map(|line| (line, tokenizer.count(line))).collect();
    let taken = |lines: &mut dyn Iterator<Item = &(&str, u64)>| {
        let mut sum = 0;
        let fits = |(_, tokens): &&(&str, u64)| {
            sum += tokens;
            sum <= room
        };
        lines.take_while(fits).map(|(line, _)| line.len()).sum::<usize>()
    };
    let mut head = taken(&mut lines.iter());
    let mut tail = text.len() - taken(&mut lines.iter().rev());
    // A line that alone is longer is cut itself.
    if head == 0 {
        head = fitting(text, room, tokenizer, |text, at| text.get(..at));
    }
    if tail == text.len() {
        tail = text.len() - fitting(text, room, tokenizer, |text, at| text.get(text.len() - at..));
    }
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    let left = tokenizer.count(text).saturating_sub(tokenizer.count(head) + tokenizer.count(tail));
    format!("{}{}{}", head.trim_end_matches('\n'), note(left), tail)
}

/// The most bytes of a text, from one of its sides, that are within so many tokens.
fn fitting(
    text: &str,
    room: u64,
    tokenizer: Tokenizer,
    side: impl for<'a> Fn(&'a str, usize) -> Option<&'a str>,
) -> usize {
    let (mut low, mut high) = (0, text.len().min(room.saturating_mul(16) as usize));
    while low < high {
        let middle = (low + high).div_ceil(2);
        // Within a character: what is before it is tried.
        let at = (0..4).filter_map(|back| middle.checked_sub(back)).find(|at| side(text, *at).is_some());
        let Some(at) = at.filter(|at| *at > low) else {
            low = middle;
            continue;
        };
        if side(text, at).is_some_and(|part| tokenizer.count(part) <= room) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    (0..4).filter_map(|back| low.checked_sub(back)).find(|at| side(text, *at).is_some()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the text, it is short enough, begins and ends as it did, and says how much is gone.
        #[test]
        fn a_shortened_text_fits(
            lines in proptest::collection::vec("[a-z0-9 ./äöü漢字]{0,60}|[a-z]{300,600}", 0..60),
            most in 40u64..400,
        ) {
            let text = lines.join("\n");
            let tokenizer = Tokenizer::O200k;
            let short = middle(&text, most, tokenizer);
            prop_assert!(tokenizer.count(&short) <= most + 4, "{} of {most}", tokenizer.count(&short));
            if tokenizer.count(&text) <= most {
                prop_assert_eq!(short, text);
            } else {
                let (head, rest) = short.split_once("\n[").expect("a note");
                let (_, tail) = rest.split_once("left out here]\n").expect("its end");
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
                prop_assert!(!tail.is_empty() || !head.is_empty());
            }
        }
    }

    #[test]
    fn the_room_follows_from_the_error() {
        let counted = Counted { whole: 3_000, conversation: 2_500 };
        let check = |limit, used, output, expected| {
            assert_eq!(room(&counted, limit, used, output), expected, "{limit:?} {used:?} {output}");
        };
        // Nothing known: half.
        check(None, None, 500, 1_250);
        // 2,048 less the reply, less a tenth, less the instructions.
        check(Some(2_048), Some(3_000), 500, 893);
        // The other side counts twice as much.
        check(Some(2_048), Some(6_000), 500, 196);
        // More output wanted than there is window: half of it is left for the input.
        check(Some(1_400), Some(3_000), 5_000, 130);
        // A limit that is no limit of this.
        check(Some(900_000), None, 500, 1_250);
        check(Some(600), Some(3_000), 200, 0);
    }
}
