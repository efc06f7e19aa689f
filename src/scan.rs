//! Places of bytes that come often: a search that begins anew behind each of them would cost more than one over all.

use wide::u8x16;

/// Bytes that are looked at at once.
const BLOCK: usize = 64;

/// The places of some bytes in a text, in order.
pub(crate) fn places<const N: usize>(text: &[u8], wanted: [u8; N]) -> impl Iterator<Item = usize> + '_ {
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let wide = wanted.map(u8x16::splat);
    let of_rest = move |at: usize| {
        let byte = *rest.get(at)?;
        Some(wanted.contains(&byte))
    };
    let mut ahead = 0_u64;
    let mut number = 0;
    let mut at = 0;
    std::iter::from_fn(move || {
        while ahead == 0 {
            let Some(block) = blocks.get(number) else {
                while !of_rest(at)? {
                    at += 1;
                }
                at += 1;
                return Some(blocks.len() * BLOCK + at - 1);
            };
            ahead = bits(block, &wide);
            number += 1;
        }
        let place = (number - 1) * BLOCK + ahead.trailing_zeros() as usize;
        ahead &= ahead - 1;
        Some(place)
    })
}

/// A bit for each byte that is one of some.
#[inline]
fn bits<const N: usize>(block: &[u8; BLOCK], wanted: &[u8x16; N]) -> u64 {
    let (quarters, _) = block.as_chunks::<16>();
    quarters.iter().enumerate().fold(0, |bits, (number, quarter)| {
        let quarter = u8x16::new(*quarter);
        let here = wanted.iter().fold(u8x16::ZERO, |here, byte| here | quarter.simd_eq(*byte));
        bits | u64::from(here.to_bitmask()) << (16 * number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_of_the_bytes(text in "[ab:|\né]{0,300}") {
            let wanted = [b'\n', b':', b'|'];
            let expected: Vec<usize> =
                text.bytes().enumerate().filter(|(_, byte)| wanted.contains(byte)).map(|(at, _)| at).collect();
            prop_assert_eq!(places(text.as_bytes(), wanted).collect::<Vec<_>>(), expected);
        }
    }
}
