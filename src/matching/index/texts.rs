//! Many short texts in one piece of memory.

/// Texts by number, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: String,
    ends: Vec<usize>,
}

impl Texts {
    /// Number of the next text.
    pub(super) fn next(&self) -> u32 {
        self.ends.len() as u32
    }

    pub(super) fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.ends.push(self.all.len());
    }

    pub(super) fn get(&self, number: u32) -> Option<&str> {
        let at = number as usize;
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |start| *start);
        self.all.get(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_given_back() {
        let mut texts = Texts::default();
        let all = ["a.rs", "", "src/é.rs", "b"];
        for text in all {
            texts.push(text);
        }
        let told: Vec<Option<&str>> = (0..texts.next()).map(|number| texts.get(number)).collect();
        assert_eq!(told, all.map(Some));
        assert_eq!(texts.get(texts.next()), None);
    }
}
