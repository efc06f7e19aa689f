use super::*;
use proptest::prelude::*;

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9
}

#[test]
fn the_generator_keeps_its_published_values() {
    // The first outputs for seed 1234567 of the reference implementation.
    let mut random = SplitMix64::new(1_234_567);
    let first: Vec<u64> = (0..5).map(|_| random.next_u64()).collect();
    assert_eq!(
        first,
        [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821
        ]
    );
    assert_eq!(SplitMix64::new(1).below(0), 0);
    assert!((0..1_000).all(|_| random.below(7) < 7));
}

#[test]
fn means_and_quantiles() {
    assert_eq!(mean(&[]), None);
    assert_eq!(mean(&[0.1; 10]), Some(0.1));
    assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(quantile(&[10.0, 20.0, 30.0, 40.0, 50.0], 0.25), Some(20.0));
    assert_eq!(quantile(&[1.0], 0.975), Some(1.0));
    assert_eq!(quantile(&[1.0, 2.0], 7.0), Some(2.0));
}

#[test]
fn the_sign_test_matches_the_binomial_table() {
    for (positive, negative, p) in [
        (0, 0, None),
        (1, 0, Some(1.0)),
        (5, 0, Some(0.0625)),
        (6, 0, Some(0.03125)),
        (0, 9, Some(0.003_906_25)),
        (7, 1, Some(0.070_312_5)),
        (8, 1, Some(0.039_062_5)),
        (4, 4, Some(1.0)),
    ] {
        assert_eq!(sign_test(positive, negative), p, "{positive} to {negative}");
    }
}

#[test]
fn below_ten_sessions_there_is_a_mean_and_no_interval() {
    let nine = estimate(&[0.5; 9], SEED);
    assert_eq!((nine.mean, nine.low, nine.n), (Some(0.5), None, 9));
    let ten = estimate(&[0.5; 10], SEED);
    assert!(ten.low.is_some_and(|low| close(low, 0.5)) && ten.high.is_some_and(|high| close(high, 0.5)));
    assert_eq!(estimate(&[], SEED), Estimate::default());
}

#[test]
fn an_interval_agrees_with_the_normal_approximation() {
    // 400 values, half 0 and half 1: the standard error of the mean is 0.025.
    let values: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
    let interval = bootstrap_mean(&values, SEED).unwrap();
    assert!((interval.low - 0.451).abs() < 0.006, "{interval:?}");
    assert!((interval.high - 0.549).abs() < 0.006, "{interval:?}");
    assert_eq!(bootstrap_mean(&values, SEED), Some(interval));
    assert_ne!(bootstrap_mean(&values, SEED + 1), Some(interval));
}

/// Sessions of which `none` keep nothing and `all` keep everything; the others keep 30 % to 100 %.
fn check_coverage(n: usize, none: f64, all: f64) {
    let truth = all + (1.0 - none - all) * 0.65;
    let mut random = SplitMix64::new(n as u64);
    let mut uniform = move || random.below(1_000_001) as f64 / 1e6;
    let runs = 1_000;
    let covered = (0..runs)
        .filter(|run| {
            let values: Vec<f64> = (0..n)
                .map(|_| match uniform() {
                    at if at < none => 0.0,
                    at if at < none + all => 1.0,
                    _ => 0.3 + 0.7 * uniform(),
                })
                .collect();
            bootstrap_mean(&values, SEED + run).is_some_and(|i| i.low <= truth && truth <= i.high)
        })
        .count();
    assert!((930..=970).contains(&covered), "{covered} of {runs}, n {n}, {none} keep nothing, {all} all");
}

#[test]
fn fifty_sessions_cover_the_truth_as_often_as_the_interval_says() {
    for (none, all) in [(0.0, 0.0), (0.2, 0.2), (0.1, 0.5), (0.5, 0.1)] {
        check_coverage(50, none, all);
    }
}

#[test]
fn two_hundred_sessions_cover_the_truth_as_often_as_the_interval_says() {
    for (none, all) in [(0.2, 0.2), (0.1, 0.5)] {
        check_coverage(200, none, all);
    }
}

#[test]
fn normal_quantiles_are_those_of_the_table() {
    for (share, z) in
        [(0.5, 0.0), (0.025, -1.959_964), (0.975, 1.959_964), (0.841_345, 1.0), (0.001, -3.090_232)]
    {
        assert!((normal_quantile(share) - z).abs() < 1e-5, "{share}");
    }
}

#[test]
fn a_run_against_itself_differs_by_exactly_nothing() {
    let same = paired(&[0.0; 12], SEED);
    assert_eq!(same.difference, Estimate { mean: Some(0.0), low: Some(0.0), high: Some(0.0), n: 12 });
    assert_eq!((same.positive, same.negative, same.ties, same.sign_p), (0, 0, 12, None));
}

#[test]
fn paired_sessions_are_counted_by_sign_and_noise_is_a_tie() {
    let few = paired(&[0.25, 0.5, -0.25, 1e-16, 0.1 + 0.2 - 0.3], SEED);
    assert_eq!((few.positive, few.negative, few.ties), (2, 1, 2));
    assert_eq!(few.difference.mean, Some(0.1));
    assert_eq!((few.difference.low, few.sign_p), (None, Some(1.0)));
    let many = paired(&[0.25; 10], SEED);
    assert_eq!((many.positive, many.sign_p), (10, None));
    assert_eq!(many.difference.low, Some(0.25));
}

proptest! {
    #[test]
    fn an_interval_stays_within_the_values(values in prop::collection::vec(-1e6..1e6_f64, 10..40), seed: u64) {
        let interval = bootstrap_mean(&values, seed).unwrap();
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(smallest - 1e-6 <= interval.low);
        prop_assert!(interval.low <= interval.high);
        prop_assert!(interval.high <= largest + 1e-6);
    }

    #[test]
    fn the_sign_test_is_a_probability_and_has_no_side(a in 0_u64..500, b in 0_u64..500) {
        if let Some(p) = sign_test(a, b) {
            prop_assert!((0.0..=1.0).contains(&p));
            prop_assert_eq!(sign_test(b, a), Some(p));
        }
    }
}
