use super::*;

fn about() -> About {
    About { id: "c".to_owned(), title: "A < B".to_owned(), desc: "words".to_owned() }
}

fn point(x: f64, y: f64) -> Point {
    Point { x, y, interval: None, weak: false }
}

#[test]
fn coordinates_have_one_decimal() {
    for (value, text) in
        [(1.0, "1"), (1.25, "1.3"), (-0.01, "0"), (100.04, "100"), (0.1 + 0.2, "0.3"), (1e3, "1000")]
    {
        assert_eq!(num(value), text);
    }
    assert_eq!(path(&[(0.0, 1.5), (10.0, 2.0)]), "M0 1.5L10 2");
    assert_eq!(path(&[]), "");
}

#[test]
fn scales_keep_within_their_ends() {
    let scale = Scale::new((0.0, 4.0), (40.0, 340.0));
    assert_eq!(
        [0.0, 1.0, 4.0, 9.0, -1.0].map(|value| num(scale.at(value))),
        ["40", "115", "340", "340", "40"]
    );
    assert_eq!(num(Scale::new((2.0, 2.0), (5.0, 9.0)).at(2.0)), "5");
}

#[test]
fn axes_end_at_round_numbers() {
    for (value, end, step) in
        [(1_234.0, 1_500.0, 500.0), (700.0, 800.0, 200.0), (3.0, 3.0, 1.0), (0.0, 1.0, 1.0)]
    {
        assert_eq!(nice(value), (end, step), "{value}");
    }
    assert_eq!(nice(f64::NAN), (1.0, 1.0));
    assert_eq!(ticks(5), [0, 1, 2, 3, 4, 5]);
    assert_eq!(ticks(13), [0, 2, 4, 6, 8, 10, 12]);
    assert_eq!(ticks(14), [0, 5, 10]);
    assert_eq!(ticks(0), [0]);
    assert!(ticks(100_000).len() < 10);
}

#[test]
fn labels_do_not_stand_on_each_other() {
    let placed = spread(&[50.0, 51.0, 10.0, 50.5], 0.0, 200.0);
    let mut sorted = placed.clone();
    sorted.sort_by(f64::total_cmp);
    assert!(sorted.array_windows().all(|[a, b]| b - a >= LABEL_GAP - 1e-9), "{placed:?}");
    assert!(placed[2] < placed[0] && placed[0] < placed[3] && placed[3] < placed[1]);
    let low = spread(&[199.0, 200.0], 0.0, 200.0);
    assert_eq!(low, [186.0, 200.0]);
    assert_eq!(spread(&[], 0.0, 1.0), Vec::<f64>::new());
}

#[test]
fn labels_stand_beside_marks_and_on_none() {
    let names = ["emergency", "truncate", "narrative", "structured"].map(str::to_owned);
    let marks = [(45.0, 198.0), (100.0, 198.0), (340.0, 90.0), (348.0, 91.0)];
    let within = (40.0, 10.0, 398.0, 202.0);
    let areas: Vec<Area> = beside(&marks, &names, &[], within)
        .into_iter()
        .zip(&names)
        .map(|(label, name)| label.area(name))
        .collect();
    for (at, area) in areas.iter().enumerate() {
        assert!(area.0 >= within.0 && area.2 <= within.2, "{area:?}");
        assert!(
            marks.iter().all(|(x, y)| !(area.0 < *x && *x < area.2 && area.1 < *y && *y < area.3)),
            "{area:?}"
        );
        for other in areas.iter().skip(at + 1) {
            assert!(
                area.0 >= other.2 || other.0 >= area.2 || area.1 >= other.3 || other.1 >= area.3,
                "{areas:?}"
            );
        }
    }
}

#[test]
fn of_two_marks_at_nothing_the_right_one_has_its_label_on_the_right() {
    let spots = [("truncate", 99.0), ("emergency", 37.0)].map(|(name, x)| Spot {
        name: name.to_owned(),
        series: 0,
        point: point(x, 0.0),
    });
    let text = scatter(&about(), "tokens", 700.0, &spots).into_string();
    assert!(text.contains(r#"text-anchor="start">truncate<"#), "{text}");
    assert!(text.contains(r#"y="202" text-anchor="start">truncate<"#), "{text}");
}

#[test]
fn the_front_holds_what_nothing_beats() {
    let spot = |name: &str, x, y| Spot { name: name.to_owned(), series: 0, point: point(x, y) };
    let spots = [
        spot("dear", 900.0, 0.8),
        spot("good", 500.0, 0.8),
        spot("cheap", 10.0, 0.1),
        spot("bad", 600.0, 0.5),
    ];
    let names: Vec<&str> = front(&spots).iter().map(|spot| spot.name.as_str()).collect();
    assert_eq!(names, ["cheap", "good"]);
}

#[test]
fn heat_goes_in_steps_and_neighbours_are_one() {
    assert_eq!([0.0, 0.1, 0.5, 0.99, 1.0, 7.0].map(heat), [0, 0, 3, 5, 5, 5]);
    let cells = [Some(0.0), Some(0.1), None, None, Some(1.0)];
    assert_eq!(merged(&cells), [(0, 2, Some(0)), (2, 4, None), (4, 5, Some(5))]);
    let text = strip(&about(), &cells).into_string();
    assert!(
        text.matches("<rect").count() == 3 && text.contains(r#"d="M200 0v10M400 0v10M600 0v10M800 0v10""#),
        "{text}"
    );
    let many = strip(&about(), &[Some(0.0); 1_000]).into_string();
    assert!(many.matches("<rect").count() == 1 && !many.contains("<path"), "{many}");
}

#[test]
fn charts_have_titles_and_escape_names() {
    let line =
        Line { name: "<script>".to_owned(), series: 0, points: vec![point(0.0, 1.0), point(1.0, 0.5)] };
    let text = curves(&about(), "compactions", &[line.clone(), Line { series: 9, ..line }]).into_string();
    assert!(text.contains(r#"role="img""#) && text.contains(r#"aria-labelledby="c-t c-d""#));
    assert!(text.contains("A &lt; B") && text.contains("&lt;script&gt;") && !text.contains("<script>"));
    assert!(text.contains(r#"class="l s1""#), "series begin anew: {text}");
    assert!(text.contains("M44 10L302 104"), "{text}");
    let bar = Bar { name: "one".to_owned(), parts: vec![0.5, 0.25, 0.25] };
    let text = stacked(&about(), &[bar]).into_string();
    assert!(text.contains(r#"class="p1" x="200" y="16" width="100""#), "{text}");
}

#[test]
fn labels_of_marks_in_one_place_are_moved_apart() {
    let within = (40.0, 10.0, 398.0, 204.0);
    let names: Vec<String> =
        ["structured", "narrative", "truncate", "emergency", "none", "recorded", "operator-use · narrative"]
            .map(str::to_owned)
            .to_vec();
    let corners = [(44.0, 198.0), (384.0, 10.0), (44.0, 10.0), (384.0, 198.0), (200.0, 100.0)];
    for place in corners {
        // All of them where the others stand, or next to it.
        let marks: Vec<(f64, f64)> =
            (0..names.len()).map(|at| (place.0 + at as f64 % 3.0, place.1)).collect();
        let lines = [((44.0, 198.0), (384.0, 10.0))];
        let labels = beside(&marks, &names, &lines, within);
        let areas: Vec<Area> = labels.iter().zip(&names).map(|(label, name)| label.area(name)).collect();
        for (at, area) in areas.iter().enumerate() {
            assert!(area.0 >= within.0 && area.2 <= within.2, "{place:?}: {area:?}");
            assert!(area.1 >= within.1 && area.3 <= within.3, "{place:?}: {area:?}");
            for other in areas.iter().skip(at + 1) {
                let apart = area.0 >= other.2 || other.0 >= area.2 || area.1 >= other.3 || other.1 >= area.3;
                assert!(apart, "{place:?}: {areas:?}");
            }
            assert!(marks.iter().all(|(x, y)| !(area.0 < *x && *x < area.2 && area.1 < *y && *y < area.3)));
        }
    }
}
