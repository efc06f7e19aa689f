use super::*;
use crate::aggregate::{DifferenceRow, SummaryRow, aggregate};
use crate::results::{ClassRow, FactRow, SessionRow};
use proptest::prelude::*;

fn fact(value: &str) -> FactRow {
    FactRow { session: "s00".into(), cycle: 1, value: value.to_owned(), ..FactRow::default() }
}

fn listing(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn csv_text<T: Serialize + DeserializeOwned>(rows: &[T]) -> String {
    let mut out = Vec::new();
    write_csv(&mut out, rows).unwrap();
    String::from_utf8(out).unwrap()
}

/// Changes one file of a written run and tells what reading says.
fn check_refused(file: &str, change: impl Fn(String) -> Option<String>, cause: &str, hint: &str) {
    let dir = tempfile::tempdir().unwrap();
    let output = sample::run(2);
    write_run(dir.path(), &output, &aggregate(&output)).unwrap();
    let path = dir.path().join(file);
    match change(fs::read_to_string(&path).unwrap()) {
        Some(text) => fs::write(&path, text).unwrap(),
        None => fs::remove_file(&path).unwrap(),
    }
    let error = read_run(dir.path()).unwrap_err();
    let text = error.to_string().replace(&format!("{}", dir.path().display()), "DIR");
    assert_eq!(text, cause);
    assert!(error.hint.contains(hint), "{}", error.hint);
}

#[test]
fn a_run_is_read_back_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut output = sample::run(3);
    output.facts = vec![fact("=1+1"), fact("'quoted'"), fact("a\r\nb,\"c\""), fact("")];
    output.classes = vec![ClassRow { class: "todo".into(), total: 3, ..ClassRow::default() }];
    for cycle in &mut output.cycles {
        cycle.cost_units = 0.3;
        cycle.summary_growth = None;
    }
    for session in &mut output.sessions {
        // What is written has 6 decimals.
        session.structural_survival = session.structural_survival.map(|value| (value * 1e6).round() / 1e6);
        session.needed_survival = session.needed_survival.map(|value| (value * 1e6).round() / 1e6);
        session.summary_survival = session.summary_survival.map(|value| (value * 1e6).round() / 1e6);
    }
    write_run(dir.path(), &output, &aggregate(&output)).unwrap();
    assert_eq!(
        listing(dir.path()),
        [
            CLASSES,
            CURVES,
            CYCLES,
            DIFFERENCES,
            DISTRIBUTIONS,
            FACTS,
            KEPT,
            MANIFEST,
            SESSIONS,
            SPELLS,
            SUMMARY
        ]
        .map(str::to_owned)
    );
    assert_eq!(read_run(dir.path()).unwrap(), output);
    let manifest = fs::read_to_string(dir.path().join(MANIFEST)).unwrap();
    assert!(manifest.starts_with("{\n  \"schema_version\": 6,\n") && manifest.ends_with("}\n"), "{manifest}");

    output.facts.clear();
    write_run(dir.path(), &output, &aggregate(&output)).unwrap();
    assert!(!listing(dir.path()).contains(&FACTS.to_owned()), "facts of the earlier run must not stay");
}

#[test]
fn equal_runs_have_equal_bytes() {
    let bytes = || {
        let dir = tempfile::tempdir().unwrap();
        let output = sample::run(12);
        write_run(dir.path(), &output, &aggregate(&output)).unwrap();
        listing(dir.path()).iter().map(|name| fs::read(dir.path().join(name)).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(bytes(), bytes());
}

#[test]
fn a_header_stands_there_without_rows() {
    assert_eq!(csv_text::<ClassRow>(&[]).lines().count(), 1);
    assert_eq!(
        csv_text::<DifferenceRow>(&[]),
        "profile,window,metric,strategy_a,strategy_b,mean,low,high,n,n_a,n_b,ties,sign_p,p,p_holm\n"
    );
    assert_eq!(columns::<CycleRow>().first(), Some(&"session"));
    assert_eq!(columns::<CycleRow>().last(), Some(&"error"));
    assert_eq!(columns::<SummaryRow>().first(), Some(&"profile"));
    assert!(columns::<u64>().is_empty());
}

#[test]
fn numbers_show_no_noise() {
    for (number, text) in [
        (0.1 + 0.2, "0.3"),
        (1.0, "1"),
        (100.0, "100"),
        (0.0, "0"),
        (-0.0, "0"),
        (-0.000_000_1, "0"),
        (-0.25, "-0.25"),
        (2.0 / 3.0, "0.666667"),
        (1_234_567.891, "1234567.891"),
        (1e15, "1000000000000000"),
    ] {
        assert_eq!(decimal(number), text);
    }
    let row = ClassRow { summary_survival: Some(f64::NAN), ..ClassRow::default() };
    assert!(csv_text(&[row]).ends_with(",0,\n"), "a NaN is an empty field");
}

#[test]
fn formulas_are_defused() {
    for (value, cell) in [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1", "'+1"),
        ("-rf", "'-rf"),
        ("@SUM", "'@SUM"),
        ("\tx", "'\tx"),
        ("'=x", "''=x"),
        ("it's", "it's"),
        ("'a'", "'a'"),
        ("a=b", "a=b"),
    ] {
        assert!(csv_text(&[fact(value)]).contains(&format!(",{cell},")), "{value}");
        assert_eq!(restore(cell), value);
    }
}

#[test]
fn control_characters_do_not_reach_a_cell() {
    for (value, cell) in [
        ("\u{1b}[31mred\u{7}", "\u{fffd}[31mred\u{fffd}"),
        ("a\0b\u{7f}c\u{9b}d", "a\u{fffd}b\u{fffd}c\u{fffd}d"),
        ("\u{1b}=1", "\u{fffd}=1"),
        ("plain \u{e9}", "plain \u{e9}"),
    ] {
        assert!(csv_text(&[fact(value)]).contains(&format!(",{cell},")), "{value:?}");
    }
    assert!(
        csv_text(&[fact("two\nlines\tand more")]).contains("two\nlines\tand more"),
        "text keeps its lines"
    );
}

#[test]
fn foreign_directories_and_files_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let output = sample::run(1);
    let write = |path: &Path| write_run(path, &output, &aggregate(&output));

    let file = dir.path().join("notes.txt");
    fs::write(&file, "mine").unwrap();
    assert!(write(&file).unwrap_err().to_string().ends_with("notes.txt: is a file, not a directory"));
    let error = write(dir.path()).unwrap_err();
    assert!(
        error.to_string().ends_with("holds files that are not results of compactor: notes.txt"),
        "{error}"
    );
    assert_eq!(listing(dir.path()), ["notes.txt"]);

    // A file of the same name that is somebody else's.
    let theirs = dir.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    for name in super::ALL {
        fs::write(theirs.join(name), "total\n12\n").unwrap();
        let error = write(&theirs).unwrap_err();
        assert!(error.to_string().ends_with(&format!("not results of compactor: {name}")), "{error}");
        fs::write(theirs.join(name), "").unwrap();
    }

    let new = dir.path().join("a/b");
    write(&new).unwrap();
    fs::write(new.join(".cycles.csv.tmp"), "left behind by a killed run").unwrap();
    write(&new).unwrap();
    assert!(!listing(&new).contains(&".cycles.csv.tmp".to_owned()));
}

#[test]
fn damaged_results_are_refused_with_place_and_remedy() {
    check_refused(
        MANIFEST,
        |_| None,
        "DIR/run.json: cannot read the file: No such file or directory (os error 2)",
        "--out DIR",
    );
    check_refused(
        MANIFEST,
        |text| Some(text.replace("\"schema_version\": 6", "\"schema_version\": 99")),
        "DIR/run.json: has schema version 99; this program knows versions up to 6",
        "newer one",
    );
    check_refused(
        MANIFEST,
        |_| Some("{\n".to_owned()),
        "DIR/run.json:2: is not the record of a run: EOF while parsing an object at line 2 column 0",
        "--out DIR",
    );
    check_refused(
        MANIFEST,
        |_| Some("{}".to_owned()),
        "DIR/run.json: has no schema_version",
        "write the results again",
    );
    check_refused(
        CYCLES,
        |_| None,
        "DIR/cycles.csv: cannot read the file: No such file or directory (os error 2)",
        "not complete",
    );
    check_refused(
        SESSIONS,
        |text| Some(text.replace("window_source", "windows_source")),
        "DIR/sessions.csv:1: has no column `window_source`",
        "write the results again",
    );
    check_refused(
        SESSIONS,
        |text| Some(text.replacen(",20000,", ",many,", 2)),
        "DIR/sessions.csv:2: column `window`: invalid digit found in string",
        "undo changes by hand",
    );
    check_refused(
        CYCLES,
        |text| Some(format!("{text}one,two\n")),
        &format!(
            "DIR/cycles.csv:10: is not valid CSV: a row has 2 fields, the header {}",
            columns::<CycleRow>().len()
        ),
        "undo changes by hand",
    );
}

proptest! {
    #[test]
    fn any_text_comes_back(values in prop::collection::vec(any::<String>(), 0..8)) {
        let rows: Vec<FactRow> = values.iter().map(|value| fact(value)).collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FACTS);
        fs::write(&path, csv_text(&rows)).unwrap();
        prop_assert_eq!(read_rows::<FactRow>(&path).unwrap(), rows);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(SESSIONS);
        let mut text = csv_text::<SessionRow>(&[]).into_bytes();
        text.extend(bytes);
        fs::write(&path, text).unwrap();
        drop(read_rows::<SessionRow>(&path));
    }
}
