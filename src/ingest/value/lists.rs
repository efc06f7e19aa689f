//! Objects with a list that may be long, without all of its items at hand.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Key, Map, Name, Seed, Value, shared};

/// The items of a list, one after the other, and how many are left.
pub(in crate::ingest) type Items<'a> = &'a mut dyn ExactSizeIterator<Item = Value>;

/// What a parser reads that is no list and no object.
macro_rules! scalars {
    ($this:ident, $seed:expr) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a value")
        }

        fn visit_bool<E: de::Error>($this, value: bool) -> Result<Value, E> {
            $seed.visit_bool(value)
        }

        fn visit_i64<E: de::Error>($this, value: i64) -> Result<Value, E> {
            $seed.visit_i64(value)
        }

        fn visit_u64<E: de::Error>($this, value: u64) -> Result<Value, E> {
            $seed.visit_u64(value)
        }

        fn visit_f64<E: de::Error>($this, value: f64) -> Result<Value, E> {
            $seed.visit_f64(value)
        }

        fn visit_str<E: de::Error>($this, value: &str) -> Result<Value, E> {
            $seed.visit_str(value)
        }

        fn visit_unit<E: de::Error>($this) -> Result<Value, E> {
            $seed.visit_unit()
        }
    };
}

/// Builds a [`Value`] of an object without the items of the list in one of its fields: they go to `each` as they are read, and an
/// empty list stands in their place.
pub(in crate::ingest) struct Listed<'a, F> {
    pub(in crate::ingest) field: &'a str,
    pub(in crate::ingest) each: F,
}

impl<'de, F: FnMut(Value)> DeserializeSeed<'de> for Listed<'_, F> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Value)> Visitor<'de> for Listed<'_, F> {
    type Value = Value;

    scalars!(self, Seed::default());

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Value, A::Error> {
        Seed::default().visit_seq(items)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<Value, A::Error> {
        let mut found = Vec::new();
        while let Some(name) = fields.next_key_seed(Name)? {
            let value = if name == self.field {
                fields.next_value_seed(Given(&mut self.each))?
            } else {
                fields.next_value_seed(Seed::default())?
            };
            found.push((shared(&name), value));
        }
        Ok(Value::Object(found.into_iter().collect()))
    }
}

/// The list of a [`Listed`]; anything else is built as it is.
struct Given<'a, F>(&'a mut F);

impl<'de, F: FnMut(Value)> DeserializeSeed<'de> for Given<'_, F> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Value)> Visitor<'de> for Given<'_, F> {
    type Value = Value;

    scalars!(self, Seed::default());

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        while let Some(item) = items.next_element_seed(Seed::default())? {
            (self.0)(item);
        }
        Ok(Value::Array(Box::default()))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Value, A::Error> {
        Seed::default().visit_map(fields)
    }
}

/// Builds a [`Value`] of an object of which the lists in these fields have their first items only, and tells how many they have.
/// Anything but an object is an error; the seed is told of a field that comes twice.
pub(in crate::ingest) struct Outline<'a> {
    pub(in crate::ingest) fields: &'a [&'a str],
    pub(in crate::ingest) seed: Seed<'a>,
}

impl Outline<'_> {
    /// So many items of a list are built: no more are looked at to tell what a log is.
    const FIRST: usize = 3;
}

impl<'de> DeserializeSeed<'de> for Outline<'_> {
    type Value = (Value, Vec<(Key, usize)>);

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Outline<'_> {
    type Value = (Value, Vec<(Key, usize)>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut found: Vec<(Key, Value)> = Vec::new();
        let mut counts = Vec::new();
        while let Some(name) = fields.next_key_seed(Name)? {
            let name = shared(&name);
            let value = if self.fields.contains(&name.as_str()) {
                let mut count = None;
                let value = fields.next_value_seed(First { seed: self.seed, count: &mut count })?;
                counts.extend(count.map(|count| (name.clone(), count)));
                value
            } else {
                fields.next_value_seed(self.seed)?
            };
            found.push((name, value));
        }
        let mut map = Map(found.into());
        if map.settle()
            && let Some(twice) = self.seed.twice
        {
            twice.set(true);
        }
        Ok((Value::Object(map), counts))
    }
}

/// A list of an [`Outline`]; anything else is built as it is.
struct First<'a> {
    seed: Seed<'a>,
    count: &'a mut Option<usize>,
}

impl<'de> DeserializeSeed<'de> for First<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for First<'_> {
    type Value = Value;

    scalars!(self, self.seed);

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut first = Vec::with_capacity(Outline::FIRST);
        while first.len() < Outline::FIRST
            && let Some(item) = items.next_element_seed(self.seed)?
        {
            first.push(item);
        }
        let mut count = first.len();
        while count >= Outline::FIRST && items.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        *self.count = Some(count);
        Ok(Value::Array(first.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Value, A::Error> {
        self.seed.visit_map(fields)
    }
}

/// Gives the items of the list in one field of an object to `read`, which asks for one after the other; all else is skipped unread.
pub(in crate::ingest) struct Pulled<'a, F> {
    pub(in crate::ingest) field: &'a str,
    /// How many items there are.
    pub(in crate::ingest) count: usize,
    pub(in crate::ingest) seed: Seed<'a>,
    pub(in crate::ingest) read: F,
}

impl<'de, F: FnOnce(Items<'_>)> DeserializeSeed<'de> for Pulled<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de, F: FnOnce(Items<'_>)> Visitor<'de> for Pulled<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut list = Some(List { count: self.count, seed: self.seed, read: self.read });
        while let Some(name) = fields.next_key_seed(Name)? {
            match list.take_if(|_| name == self.field) {
                Some(list) => fields.next_value_seed(list)?,
                None => fields.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        if list.is_some() {
            return Err(de::Error::custom("the list is gone"));
        }
        Ok(())
    }
}

/// The list of a [`Pulled`].
struct List<'a, F> {
    count: usize,
    seed: Seed<'a>,
    read: F,
}

impl<'de, F: FnOnce(Items<'_>)> DeserializeSeed<'de> for List<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de, F: FnOnce(Items<'_>)> Visitor<'de> for List<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut failed = None;
        let next = || {
            let item = if failed.is_none() { items.next_element_seed(self.seed) } else { Ok(None) };
            item.unwrap_or_else(|error| {
                failed = Some(error);
                None
            })
        };
        let mut counted = Counted { left: self.count, next };
        (self.read)(&mut counted);
        while counted.next().is_some() {}
        let left = counted.left;
        match failed {
            Some(error) => Err(error),
            None if left > 0 => Err(de::Error::custom("the list is shorter than it was")),
            None => items
                .next_element::<IgnoredAny>()?
                .map_or(Ok(()), |_| Err(de::Error::custom("the list is longer than it was"))),
        }
    }
}

/// So many items, if all goes well.
struct Counted<F> {
    left: usize,
    next: F,
}

impl<F: FnMut() -> Option<Value>> Iterator for Counted<F> {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let item = if self.left > 0 { (self.next)() } else { None };
        self.left -= usize::from(item.is_some());
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<F: FnMut() -> Option<Value>> ExactSizeIterator for Counted<F> {}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_items_of_a_list_are_given_out_as_they_are_read() {
        let listed = |text: &str| {
            let mut given = Vec::new();
            let listed = Listed { field: "b", each: |item: Value| given.push(item.to_string()) };
            let value = listed.deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap();
            (value.to_string(), given.join(" "))
        };
        let found = |text: &str, value: &str, given: &str| {
            assert_eq!(listed(text), (value.to_owned(), given.to_owned()));
        };
        found(
            r#"{"a":[1],"b":[{"b":[2]},"x",null],"c":3}"#,
            r#"{"a":[1],"b":[],"c":3}"#,
            r#"{"b":[2]} "x" null"#,
        );
        found(r#"{"b":{"b":[1]}}"#, r#"{"b":{"b":[1]}}"#, "");
        found(r#"{"b":"x"}"#, r#"{"b":"x"}"#, "");
        found("[[1],2]", "[[1],2]", "");
        found("true", "true", "");
    }

    /// The outline of an object with lists in `a` and `b`, how long they are, and what is odd in it.
    fn outline(text: &str) -> Option<(String, Vec<(String, usize)>, bool, bool)> {
        let (twice, wide) = (Cell::new(false), Cell::new(false));
        let seed = Seed { twice: Some(&twice), wide: Some(&wide), ..Seed::default() };
        let outline = Outline { fields: &["a", "b"], seed };
        let (value, counts) = outline.deserialize(&mut serde_json::Deserializer::from_str(text)).ok()?;
        let counts = counts.into_iter().map(|(name, count)| (name.to_string(), count)).collect();
        Some((value.to_string(), counts, twice.get(), wide.get()))
    }

    #[test]
    fn an_outline_has_the_first_items_of_its_lists() {
        let check = |text: &str, value: &str, counts: &[(&str, usize)], twice: bool, wide: bool| {
            let counts = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
            assert_eq!(outline(text), Some((value.to_owned(), counts, twice, wide)), "{text}");
        };
        check(
            r#"{"x":[1,2,3,4],"a":[1,2,3,4,5],"b":[1]}"#,
            r#"{"x":[1,2,3,4],"a":[1,2,3],"b":[1]}"#,
            &[("a", 5), ("b", 1)],
            false,
            false,
        );
        check(
            r#"{"a":[],"b":{"a":[1,2,3,4]}}"#,
            r#"{"a":[],"b":{"a":[1,2,3,4]}}"#,
            &[("a", 0)],
            false,
            false,
        );
        check(r#"{"a":1,"c":1,"c":2}"#, r#"{"a":1,"c":2}"#, &[], true, false);
        check(r#"{"a":[{"c":1,"c":2}]}"#, r#"{"a":[{"c":2}]}"#, &[("a", 1)], true, false);
        check(r#"{"a":99999999999999999999}"#, r#"{"a":1e+20}"#, &[], false, true);
        for odd in ["[1]", "1", "{", r#"{"a":[1,2,3,4}"#, r#"{"a":[1,2,3,4"#] {
            assert_eq!(outline(odd), None, "{odd}");
        }
    }

    #[test]
    fn items_are_asked_for_one_after_the_other() {
        let pull = |text: &str, count: usize, most: usize| {
            let mut seen = Vec::new();
            let read = |items: Items<'_>| {
                let left = items.len();
                seen.extend(items.take(most).map(|item| item.to_string()));
                seen.push(left.to_string());
            };
            let pulled = Pulled { field: "a", count, seed: Seed::default(), read };
            let done = pulled.deserialize(&mut serde_json::Deserializer::from_str(text)).is_ok();
            (done, seen.join(" "))
        };
        let text = r#"{"b":[7],"a":[1,{"a":[2]},3],"c":{}}"#;
        assert_eq!(pull(text, 3, 9), (true, r#"1 {"a":[2]} 3 3"#.to_owned()));
        // What nobody asks for is read all the same.
        assert_eq!(pull(text, 3, 1), (true, "1 3".to_owned()));
        // It is another one than it was.
        assert!(!pull(text, 2, 9).0 && !pull(text, 4, 9).0);
        assert!(!pull(r#"{"b":[1]}"#, 1, 9).0 && !pull(r#"{"a":[1,}"#, 2, 9).0 && !pull("[1]", 1, 9).0);
    }
}
