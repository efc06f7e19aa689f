//! Charts as inline SVG: numbers in, marks out.
//!
//! Each chart has a title and a description for those who do not see it; a table with the same numbers stands beside it. Colours
//! come from the style sheet by class (`s0` to `s7`), so that they follow the theme; marks and dashes differ as well, so that nothing is
//! told by colour alone. Coordinates have one decimal: no reader sees more, and files stay small.

use maud::{Markup, html};

/// Width of every chart in its own units: narrow, so that text stays readable on a phone.
pub const WIDTH: f64 = 400.0;

/// Series that have a colour and mark of their own; more begin anew.
pub const SERIES: usize = 8;

/// Least distance between two labels above each other.
const LABEL_GAP: f64 = 14.0;

/// Dashes of the lines, by series.
const DASHES: [&str; SERIES] = ["", "6 3", "2 3", "8 3 2 3", "", "6 3", "2 3", "8 3 2 3"];

/// A coordinate: one decimal at most, no negative zero.
pub fn num(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    let tenths = if tenths == 0.0 { 0.0 } else { tenths };
    format!("{tenths:.1}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `M x y L x y ...` through points; empty for none.
pub fn path(points: &[(f64, f64)]) -> String {
    let step = |(at, (x, y)): (usize, &(f64, f64))| {
        format!("{}{} {}", if at == 0 { 'M' } else { 'L' }, num(*x), num(*y))
    };
    points.iter().enumerate().map(step).collect()
}

/// A straight scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    from: (f64, f64),
    to: (f64, f64),
}

impl Scale {
    /// Takes `from` to `to`; a range without extent goes to the beginning.
    pub fn new(from: (f64, f64), to: (f64, f64)) -> Self {
        Self { from, to }
    }

    /// The place of a value, kept within the scale.
    pub fn at(self, value: f64) -> f64 {
        let wide = self.from.1 - self.from.0;
        let share =
            if wide.abs() < f64::EPSILON { 0.0 } else { ((value - self.from.0) / wide).clamp(0.0, 1.0) };
        self.to.0 + share * (self.to.1 - self.to.0)
    }
}

/// A round number at or above `value`, and a round step below it.
pub fn nice(value: f64) -> (f64, f64) {
    if !value.is_finite() || value <= 0.0 {
        return (1.0, 1.0);
    }
    let power = 10.0_f64.powf((value / 4.0).log10().floor());
    let step =
        [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|it| it * power).find(|step| value <= step * 4.0 + 1e-9);
    let step = step.unwrap_or(10.0 * power);
    ((value / step).ceil() * step, step)
}

/// Whole numbers from 0 to `last` to write at an axis: at most seven.
pub fn ticks(last: u32) -> Vec<u32> {
    let step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000].into_iter().find(|step| last / step <= 6);
    (0..=last).step_by(step.unwrap_or(last / 6).max(1) as usize).collect()
}

/// Moves labels apart that would stand on each other: places in, places out in the same order.
pub fn spread(wanted: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    let want = |at: &usize| wanted.get(*at).copied().unwrap_or(low);
    order.sort_by(|a, b| want(a).total_cmp(&want(b)));
    let mut placed: Vec<(usize, f64)> = Vec::new();
    for at in order {
        let least = placed.last().map_or(low, |(_, y)| y + LABEL_GAP);
        placed.push((at, want(&at).max(least)));
    }
    let mut most = high;
    for (_, y) in placed.iter_mut().rev() {
        *y = y.min(most);
        most = *y - LABEL_GAP;
    }
    placed.sort_by_key(|(at, _)| *at);
    placed.into_iter().map(|(_, y)| y).collect()
}

/// The mark of a series: circle, square, triangle, diamond, and the same hollow.
pub fn mark(series: usize, x: f64, y: f64, size: f64, hollow: bool) -> Markup {
    let series = series % SERIES;
    let class = format!("m s{series}{}", if hollow || series >= 4 { " o" } else { "" });
    let (x1, y1) = (x - size, y - size);
    match series % 4 {
        0 => html! { circle class=(class) cx=(num(x)) cy=(num(y)) r=(num(size)) {} },
        1 => {
            html! { rect class=(class) x=(num(x1)) y=(num(y1)) width=(num(size * 2.0)) height=(num(size * 2.0)) {} }
        }
        2 => {
            let points = [(x, y1 - size * 0.2), (x + size * 1.2, y + size), (x - size * 1.2, y + size)];
            html! { path class=(class) d=(path(&points) + "Z") {} }
        }
        _ => {
            let far = size * 1.3;
            html! { path class=(class) d=(path(&[(x, y - far), (x + far, y), (x, y + far), (x - far, y)]) + "Z") {} }
        }
    }
}

/// A sample of a series for a legend.
pub fn swatch(series: usize) -> Markup {
    html! {
        svg class="swatch" viewBox="0 0 28 12" width="28" height="12" aria-hidden="true" {
            path class={ "l s" (series % SERIES) } stroke-dasharray=(dash(series)) d="M0 6L28 6" {}
            (mark(series, 14.0, 6.0, 4.0, false))
        }
    }
}

fn dash(series: usize) -> &'static str {
    DASHES.get(series % SERIES).copied().unwrap_or("")
}

/// What every chart has: a name that is unique on the page, a title, and what it shows in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Unique on the page.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows.
    pub desc: String,
}

fn frame(about: &About, height: f64, inside: &Markup) -> Markup {
    html! {
        svg class="chart" role="img" viewBox={ "0 0 " (num(WIDTH)) " " (num(height)) }
            aria-labelledby={ (about.id) "-t " (about.id) "-d" } {
            title id={ (about.id) "-t" } { (about.title) }
            desc id={ (about.id) "-d" } { (about.desc) }
            (inside)
        }
    }
}

/// A value with what is known of its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where it stands.
    pub x: f64,
    /// Its value.
    pub y: f64,
    /// The ends of its interval.
    pub interval: Option<(f64, f64)>,
    /// It rests on few sessions.
    pub weak: bool,
}

/// A series of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its colour, dashes and mark.
    pub series: usize,
    /// In order of `x`.
    pub points: Vec<Point>,
}

const LEFT: f64 = 44.0;
const RIGHT: f64 = 98.0;
const TOP: f64 = 10.0;

/// Shares over whole numbers, with bands.
pub fn curves(about: &About, x_label: &str, lines: &[Line]) -> Markup {
    let (height, bottom) = (240.0, 198.0);
    let last = lines.iter().flat_map(|line| &line.points).map(|point| point.x).fold(1.0, f64::max);
    let x = Scale::new((0.0, last), (LEFT, WIDTH - RIGHT));
    let y = Scale::new((0.0, 1.0), (bottom, TOP));
    let ends: Vec<f64> =
        lines.iter().filter_map(|line| line.points.last()).map(|point| y.at(point.y)).collect();
    let labels = spread(&ends, TOP, bottom);
    let few = lines.len() > 1;
    frame(
        about,
        height,
        &html! {
            (shares(y, LEFT, WIDTH - RIGHT))
            @for tick in ticks(last as u32) {
                text class="t" x=(num(x.at(f64::from(tick)))) y=(num(bottom + 16.0)) text-anchor="middle" { (tick) }
            }
            text class="t" x=(num(f64::midpoint(LEFT, WIDTH - RIGHT))) y=(num(height - 6.0)) text-anchor="middle" { (x_label) }
            @for line in lines {
                @let ends: Vec<(f64, (f64, f64))> = line.points.iter()
                    .filter_map(|point| point.interval.map(|ends| (x.at(point.x), ends))).collect();
                @if ends.len() > 1 {
                    @let above = ends.iter().map(|(x, (_, high))| (*x, y.at(*high)));
                    @let below = ends.iter().rev().map(|(x, (low, _))| (*x, y.at(*low)));
                    path class={ "b s" (line.series % SERIES) } d=(path(&above.chain(below).collect::<Vec<_>>()) + "Z") {}
                }
            }
            @for line in lines {
                @let points: Vec<(f64, f64)> = line.points.iter().map(|point| (x.at(point.x), y.at(point.y))).collect();
                path class={ "l s" (line.series % SERIES) } stroke-dasharray=(dash(line.series)) d=(path(&points)) {}
            }
            @for line in lines {
                @for point in line.points.iter().filter(|point| point.x > 0.0) {
                    (mark(line.series, x.at(point.x), y.at(point.y), 3.0, point.weak))
                }
            }
            @for (line, at) in lines.iter().filter(|line| !line.points.is_empty()).zip(labels).filter(|_| few) {
                @let end = line.points.last().map_or(LEFT, |point| x.at(point.x));
                @let start = line.points.last().map_or(at, |point| y.at(point.y));
                path class="g" d=(path(&[(end + 5.0, start), (WIDTH - RIGHT + 12.0, at)])) {}
                text class={ "t n s" (line.series % SERIES) } x=(num(WIDTH - RIGHT + 15.0)) y=(num(at + 4.0)) {
                    (short(&line.name, 13))
                }
            }
        },
    )
}

/// Lines and numbers of an axis of shares that goes up.
fn shares(y: Scale, left: f64, right: f64) -> Markup {
    html! {
        @for quarter in 0..=4_u32 {
            @let at = y.at(f64::from(quarter) / 4.0);
            path class="g" d=(path(&[(left, at), (right, at)])) {}
            text class="t" x=(num(left - 6.0)) y=(num(at + 4.0)) text-anchor="end" { (quarter * 25) "%" }
        }
    }
}

/// One point with a name, for a scatter.
#[derive(Debug, Clone, PartialEq)]
pub struct Spot {
    /// Its name.
    pub name: String,
    /// Its colour and mark.
    pub series: usize,
    /// Where it stands.
    pub point: Point,
}

/// Those of which no other has more at no greater cost, from the cheapest on.
pub fn front(spots: &[Spot]) -> Vec<&Spot> {
    let mut order: Vec<&Spot> = spots.iter().collect();
    order.sort_by(|a, b| a.point.x.total_cmp(&b.point.x).then(b.point.y.total_cmp(&a.point.y)));
    let mut best = f64::NEG_INFINITY;
    order.retain(|spot| {
        let better = spot.point.y > best;
        best = best.max(spot.point.y);
        better
    });
    order
}

/// Where a label stands.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Label {
    x: f64,
    y: f64,
    anchor: &'static str,
}

/// Left, upper, right and lower edge.
type Area = (f64, f64, f64, f64);

/// Width of a character and height of a line, about.
const LETTER: (f64, f64) = (7.2, 12.0);

impl Label {
    fn area(self, text: &str) -> Area {
        let wide = super::text::width(text) as f64 * LETTER.0;
        let left = match self.anchor {
            "end" => self.x - wide,
            "middle" => self.x - wide / 2.0,
            _ => self.x,
        };
        (left, self.y - LETTER.1 + 2.0, left + wide, self.y + 2.0)
    }

    /// The point of the label that is nearest to another.
    fn nearest(self, text: &str, (x, y): (f64, f64)) -> (f64, f64) {
        let (left, top, right, bottom) = self.area(text);
        (x.clamp(left, right), y.clamp(top, bottom))
    }

    /// How far the label is from a point.
    fn distance(self, text: &str, from: (f64, f64)) -> f64 {
        let (x, y) = self.nearest(text, from);
        (x - from.0).hypot(y - from.1)
    }
}

/// A line between two points.
type Segment = ((f64, f64), (f64, f64));

/// Farther than this from its mark a label is joined to it by a line.
const NEAR: f64 = 13.0;

/// A place for each label: beside its mark where that covers nothing, else the nearest place that covers no mark and no label.
/// Lines may run through a label where all else is taken.
fn beside(marks: &[(f64, f64)], names: &[String], lines: &[Segment], within: Area) -> Vec<Label> {
    let covers = |a: &Area, b: &Area| a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3;
    let crosses = |area: &Area, (from, to): &Segment| {
        (0..=24).map(|step| f64::from(step) / 24.0).any(|share| {
            let (x, y) = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            area.0 < x && x < area.2 && area.1 < y && y < area.3
        })
    };
    let mut taken: Vec<Area> = marks.iter().map(|(x, y)| (x - 7.0, y - 7.0, x + 7.0, y + 7.0)).collect();
    let mut labels = Vec::new();
    for ((x, y), name) in marks.iter().zip(names) {
        let cost = |label: &Label| -> f64 {
            let area = label.area(name);
            let outside = area.0 < within.0 || area.1 < within.1 || area.2 > within.2 || area.3 > within.3;
            let covered = taken.iter().filter(|other| covers(&area, other)).count();
            let crossed = lines.iter().filter(|line| crosses(&area, line)).count();
            // To the right on its own height is where a label is looked for first.
            let elsewhere = f64::from(u8::from(label.anchor != "start"))
                + f64::from(u8::from(label.y - y > 4.5 || label.y - y < 3.5));
            let far = label.distance(name, (*x, *y)) + 4.0 * elsewhere;
            far + 25.0 * crossed as f64 + 1e4 * covered as f64 + if outside { 1e6 } else { 0.0 }
        };
        let rows = (-26..=26).map(|row| f64::from(row) * 7.0 + 4.0);
        let places = rows.flat_map(|down| {
            let sides = [(9.0, "start"), (-9.0, "end"), (0.0, "middle")];
            let farther = [0.0, 16.0, 32.0, 64.0, 96.0, 128.0, 160.0, 224.0, 288.0];
            sides.into_iter().flat_map(move |(right, anchor)| {
                let away: f64 = if right < 0.0 { -1.0 } else { 1.0 };
                farther.map(|more| Label { x: x + right + away * more, y: y + down, anchor })
            })
        });
        let best = places.map(|label| (cost(&label), label)).min_by(|a, b| a.0.total_cmp(&b.0));
        let best = best.map_or(Label { x: *x, y: *y, anchor: "start" }, |(_, label)| label);
        taken.push(best.area(name));
        labels.push(best);
    }
    labels
}

/// Shares against an amount up to `most`, with the front of those that no other beats.
pub fn scatter(about: &About, x_label: &str, most: f64, spots: &[Spot]) -> Markup {
    let (height, bottom, right) = (240.0, 198.0, WIDTH - 16.0);
    let (most, step) = nice(most * 1.05);
    let x = Scale::new((0.0, most), (LEFT, right));
    let y = Scale::new((0.0, 1.0), (bottom, TOP));
    let edge: Vec<(f64, f64)> =
        front(spots).iter().map(|spot| (x.at(spot.point.x), y.at(spot.point.y))).collect();
    let named = spots.len() <= 12;
    let names: Vec<String> = spots.iter().map(|spot| short(&spot.name, 26)).collect();
    let marks: Vec<(f64, f64)> = spots.iter().map(|spot| (x.at(spot.point.x), y.at(spot.point.y))).collect();
    // A label beside a mark at 0 just reaches below the axis, above its numbers.
    let within = (LEFT, TOP, right + 14.0, bottom + 6.0);
    let whiskers = spots.iter().filter_map(|spot| {
        let (low, high) = spot.point.interval?;
        let at = x.at(spot.point.x);
        Some(((at, y.at(low)), (at, y.at(high))))
    });
    let lines: Vec<Segment> = edge.array_windows().map(|[a, b]| (*a, *b)).chain(whiskers).collect();
    let labels = beside(&marks, &names, &lines, within);
    frame(
        about,
        height,
        &html! {
            (shares(y, LEFT, right))
            @for at in 0..=(most / step).round() as u32 {
                @let value = f64::from(at) * step;
                text class="t" x=(num(x.at(value))) y=(num(bottom + 16.0)) text-anchor="middle" { (super::text::thousands(value.round() as u64)) }
            }
            text class="t" x=(num(f64::midpoint(LEFT, right))) y=(num(height - 6.0)) text-anchor="middle" { (x_label) }
            @if edge.len() > 1 { path class="front" d=(path(&edge)) {} }
            @for spot in spots {
                @if let Some((low, high)) = spot.point.interval {
                    @let at = x.at(spot.point.x);
                    path class={ "w s" (spot.series % SERIES) } d=(path(&[(at, y.at(low)), (at, y.at(high))])) {}
                }
            }
            @for (spot, (at, up)) in spots.iter().zip(&marks) { (mark(spot.series, *at, *up, 5.0, spot.point.weak)) }
            @for (((spot, name), label), mark) in spots.iter().zip(&names).zip(&labels).zip(&marks).filter(|_| named) {
                @if label.distance(name, *mark) > NEAR {
                    path class={ "lead-line s" (spot.series % SERIES) } d=(path(&[*mark, label.nearest(name, *mark)])) {}
                }
            }
            @for ((spot, name), label) in spots.iter().zip(&names).zip(&labels).filter(|_| named) {
                text class={ "t n s" (spot.series % SERIES) } x=(num(label.x)) y=(num(label.y)) text-anchor=(label.anchor) { (name) }
            }
        },
    )
}

/// A row of a dot chart: a name and one point per series.
#[derive(Debug, Clone, PartialEq)]
pub struct Dots {
    /// Its name.
    pub name: String,
    /// Series and value; `x` is not used.
    pub points: Vec<(usize, Point)>,
}

/// Shares by row, a mark per series, with intervals.
pub fn dots(about: &About, rows: &[Dots]) -> Markup {
    let left = 140.0;
    let x = Scale::new((0.0, 1.0), (left, WIDTH - 20.0));
    let lane = 9.0;
    let tall = |row: &Dots| row.points.len() as f64 * lane + 8.0;
    let mut tops = vec![TOP + 6.0];
    for row in rows {
        tops.push(tops.last().copied().unwrap_or(TOP) + tall(row));
    }
    let bottom = tops.last().copied().unwrap_or(TOP);
    frame(
        about,
        bottom + 22.0,
        &html! {
            @for quarter in 0..=4_u32 {
                @let at = x.at(f64::from(quarter) / 4.0);
                path class="g" d=(path(&[(at, TOP), (at, bottom)])) {}
                text class="t" x=(num(at)) y=(num(bottom + 15.0)) text-anchor="middle" { (quarter * 25) "%" }
            }
            @for (row, top) in rows.iter().zip(&tops) {
                text class="t" x=(num(left - 8.0)) y=(num(top + tall(row) / 2.0)) text-anchor="end" { (short(&row.name, 22)) }
                path class="g" d=(path(&[(0.0, top - 4.0), (WIDTH - 20.0, top - 4.0)])) {}
                @for (at, (series, point)) in row.points.iter().enumerate() {
                    @let y = top + (at as f64 + 0.5) * lane;
                    @if let Some((low, high)) = point.interval {
                        path class={ "w s" (series % SERIES) } d=(path(&[(x.at(low), y), (x.at(high), y)])) {}
                    }
                    (mark(*series, x.at(point.y), y, 3.2, point.weak))
                }
            }
        },
    )
}

/// A bar in parts: shares of a whole, in the order of their names.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Shares that add up to 1.
    pub parts: Vec<f64>,
}

/// Bars in parts, one below the other. Part `n` has the class `pn`.
pub fn stacked(about: &About, bars: &[Bar]) -> Markup {
    let (tall, gap) = (20.0, 26.0);
    let x = Scale::new((0.0, 1.0), (0.0, WIDTH));
    let height = bars.len() as f64 * (tall + gap);
    frame(
        about,
        height.max(tall),
        &html! {
            @for (at, bar) in bars.iter().enumerate() {
                @let top = at as f64 * (tall + gap) + 16.0;
                text class="t" x="0" y=(num(top - 4.0)) { (short(&bar.name, 60)) }
                @for (part, (from, share)) in running(&bar.parts).into_iter().enumerate() {
                    @let (start, end) = (x.at(from), x.at(from + share));
                    rect class={ "p" (part) } x=(num(start)) y=(num(top)) width=(num(end - start)) height=(num(tall)) {}
                    @if share >= 0.08 {
                        text class={ "t q" (part) } x=(num(f64::midpoint(start, end))) y=(num(top + 14.0)) text-anchor="middle" {
                            (format!("{:.0}%", share * 100.0))
                        }
                    }
                }
            }
        },
    )
}

/// Each share with where it begins.
fn running(parts: &[f64]) -> Vec<(f64, f64)> {
    let mut from = 0.0;
    parts
        .iter()
        .map(|share| {
            from += share;
            (from - share, *share)
        })
        .collect()
}

/// Steps of the colours of a heat map.
pub const HEATS: usize = 6;

/// The step of a share: 0 for nothing or next to nothing, the last for all.
pub fn heat(share: f64) -> usize {
    ((share.clamp(0.0, 1.0) * HEATS as f64) as usize).min(HEATS - 1)
}

/// Columns of a heat map that are wide enough to be told apart by lines between them.
const PARTED: usize = 100;

/// A row of a heat map, as wide as the page. Neighbours of one colour are one mark, so that a thousand columns stay small.
pub fn strip(about: &About, cells: &[Option<f64>]) -> Markup {
    let x = Scale::new((0.0, cells.len() as f64), (0.0, 1_000.0));
    html! {
        svg class="strip" role="img" viewBox="0 0 1000 10" preserveAspectRatio="none"
            aria-labelledby={ (about.id) "-t " (about.id) "-d" } {
            title id={ (about.id) "-t" } { (about.title) }
            desc id={ (about.id) "-d" } { (about.desc) }
            @for (from, to, step) in merged(cells) {
                @let class = step.map_or_else(|| "hn".to_owned(), |step| format!("h{step}"));
                rect class=(class) x=(num(x.at(from as f64))) y="0" width=(num(x.at(to as f64) - x.at(from as f64))) height="10" {}
            }
            @if (2..=PARTED).contains(&cells.len()) {
                @let lines: Vec<String> = (1..cells.len()).map(|at| format!("M{} 0v10", num(x.at(at as f64)))).collect();
                path class="cut" d=(lines.concat()) {}
            }
        }
    }
}

/// Stretches of cells of one colour: first, behind the last, step.
pub fn merged(cells: &[Option<f64>]) -> Vec<(usize, usize, Option<usize>)> {
    let mut stretches: Vec<(usize, usize, Option<usize>)> = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        let step = cell.map(heat);
        match stretches.last_mut() {
            Some((_, end, last)) if *last == step => *end = at + 1,
            _ => stretches.push((at, at + 1, step)),
        }
    }
    stretches
}

/// A small bar for a cell of a table, with its interval.
pub fn meter(value: f64, interval: Option<(f64, f64)>) -> Markup {
    let x = Scale::new((0.0, 1.0), (0.0, 80.0));
    html! {
        svg class="meter" viewBox="0 0 80 8" width="80" height="8" aria-hidden="true" {
            rect class="mt" x="0" y="1" width="80" height="6" rx="2" {}
            rect class="mf" x="0" y="1" width=(num(x.at(value))) height="6" rx="2" {}
            @if let Some((low, high)) = interval {
                path class="mw" d=(path(&[(x.at(low), 4.0), (x.at(high), 4.0)])) {}
            }
        }
    }
}

/// The text, or its beginning with `…`.
fn short(text: &str, most: usize) -> String {
    super::text::fit(text, most)
}

#[cfg(test)]
mod tests;
