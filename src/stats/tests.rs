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
fn sessions_that_all_say_the_same_are_not_certain() {
    // 1 - 0.025^(1/10), as tables of Clopper and Pearson have it for 0 of 10.
    let none = estimate(&[0.0; 10], SEED);
    assert!(none.low == Some(0.0) && none.high.is_some_and(|high| (high - 0.308_5).abs() < 1e-4), "{none:?}");
    let all = estimate(&[1.0; 20], SEED);
    assert!(all.high == Some(1.0) && all.low.is_some_and(|low| (low - 0.831_6).abs() < 1e-4), "{all:?}");
    assert_eq!(extreme(9, 0.0), None);
    assert_eq!(extreme(10, 0.5), None);
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
fn student_quantiles_are_those_of_the_table() {
    for (freedom, t) in [(1.0, 12.706_2), (9.0, 2.262_2), (19.0, 2.093_0), (36.0, 2.028_1), (199.0, 1.972_0)]
    {
        assert!((student_quantile(freedom) - t).abs() < 1e-4, "{freedom}");
        assert!((student_p(t, freedom) - 0.05).abs() < 1e-5, "{freedom}");
    }
    assert!(close(student_p(0.0, 7.0), 1.0) && student_p(40.0, 30.0) < 1e-20);
}

#[test]
fn a_few_sessions_on_one_side_are_no_difference() {
    // All others tie: the sign test of three says p = 0.25.
    for n in [13, 20, 56] {
        let mut differences = vec![0.0; n];
        differences[..3].copy_from_slice(&[-0.02, -0.03, -0.04]);
        let paired = paired(&differences);
        assert!(paired.p.is_some_and(|p| p > 0.05), "{paired:?}");
        assert!(paired.difference.high.is_some_and(|high| high > 0.0), "{paired:?}");
        assert_eq!(paired.sign_p, Some(0.25));
    }
}

#[test]
fn half_lives_take_an_exact_half() {
    // Of ten lives two, one and two end: five outlast the third round.
    let curve = kaplan_meier(&[(2, 2), (1, 1), (2, 2), (5, 0)]);
    assert_eq!(half_life(&curve), Some(3));
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
    let same = paired(&[0.0; 12]);
    assert_eq!(same.difference, Estimate { mean: Some(0.0), low: Some(0.0), high: Some(0.0), n: 12 });
    assert_eq!((same.positive, same.negative, same.ties, same.sign_p), (0, 0, 12, None));
}

#[test]
fn paired_sessions_are_counted_by_sign_and_noise_is_a_tie() {
    let few = paired(&[0.25, 0.5, -0.25, 1e-16, 0.1 + 0.2 - 0.3]);
    assert_eq!((few.positive, few.negative, few.ties), (2, 1, 2));
    assert_eq!(few.difference.mean, Some(0.1));
    assert_eq!((few.difference.low, few.sign_p), (None, Some(1.0)));
    let many = paired(&[0.25; 10]);
    assert_eq!((many.positive, many.sign_p, many.p), (10, Some(0.001_953_125), Some(0.0)));
    assert_eq!(many.difference.low, Some(0.25));
}

/// Lives by age and whether they were lost, counted by age.
fn ended(lives: &[(u32, bool)]) -> Vec<(u64, u64)> {
    let longest = lives.iter().map(|life| life.0).max().unwrap_or(0);
    let at = |age| lives.iter().filter(move |life| life.0 == age);
    (1..=longest).map(|age| (at(age).count() as u64, at(age).filter(|life| life.1).count() as u64)).collect()
}

#[test]
fn survival_curves_match_a_textbook() {
    // Remission of 21 patients under 6-MP (Freireich 1963; weeks, + is censored), the standard example of the method.
    let lives = [
        (6, true),
        (6, true),
        (6, true),
        (6, false),
        (7, true),
        (9, false),
        (10, true),
        (10, false),
        (11, false),
        (13, true),
        (16, true),
        (17, false),
        (19, false),
        (20, false),
        (22, true),
        (23, true),
        (25, false),
        (32, false),
        (32, false),
        (34, false),
        (35, false),
    ];
    let curve = kaplan_meier(&ended(&lives));
    for (age, at_risk, survival) in [
        (5, 21, 1.0),
        (6, 21, 0.857),
        (7, 17, 0.807),
        (10, 15, 0.753),
        (13, 12, 0.690),
        (16, 11, 0.627),
        (22, 7, 0.538),
        (23, 6, 0.448),
        (35, 1, 0.448),
    ] {
        let step = curve[age as usize - 1];
        assert_eq!((step.age, step.at_risk), (age, at_risk));
        assert!((step.survival - survival).abs() < 5e-4, "{step:?}");
    }
    assert_eq!(half_life(&curve), Some(23));
}

#[test]
fn curves_of_nothing_of_the_lost_and_of_the_living() {
    assert_eq!(kaplan_meier(&[]), []);
    assert_eq!(half_life(&[]), None);
    let lost = kaplan_meier(&ended(&[(1, true), (1, true)]));
    assert_eq!(lost, [Step { age: 1, at_risk: 2, lost: 2, survival: 0.0 }]);
    let living = kaplan_meier(&ended(&[(3, false), (1, false)]));
    assert_eq!(
        living.iter().map(|step| (step.at_risk, step.survival)).collect::<Vec<_>>(),
        [(2, 1.0), (1, 1.0), (1, 1.0)]
    );
    assert_eq!(half_life(&living), None);
}

#[test]
fn many_tests_need_smaller_p_values() {
    assert_eq!(holm(&[]), Vec::<f64>::new());
    let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
    for (value, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
        assert!(close(*value, expected), "{adjusted:?}");
    }
    assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
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

    #[test]
    fn a_curve_falls_and_counts_every_life(lives in prop::collection::vec((1_u32..9, any::<bool>()), 0..40)) {
        let curve = kaplan_meier(&ended(&lives));
        prop_assert_eq!(curve.iter().map(|step| step.lost).sum::<u64>(), lives.iter().filter(|life| life.1).count() as u64);
        prop_assert!(curve.windows(2).all(|pair| pair[1].survival <= pair[0].survival && pair[1].at_risk <= pair[0].at_risk));
        if lives.iter().all(|life| life.1) {
            // Without censoring it is the share that lives longer.
            for step in curve {
                let longer = lives.iter().filter(|life| life.0 > step.age).count() as f64;
                prop_assert!(close(step.survival, longer / lives.len() as f64));
            }
        }
    }

    #[test]
    fn holm_never_lowers_and_keeps_the_order(values in prop::collection::vec(0.0..=1.0_f64, 0..12)) {
        let adjusted = holm(&values);
        for (before, after) in values.iter().zip(&adjusted) {
            prop_assert!(before <= after && *after <= 1.0);
        }
        for (a, b) in (0..values.len()).flat_map(|a| (0..values.len()).map(move |b| (a, b))) {
            prop_assert!(values[a] > values[b] || adjusted[a] <= adjusted[b]);
        }
    }
}
