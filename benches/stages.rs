//! The stages of the pipeline on the shipped fixtures, in bytes of log per second.

use compactor::facts::FactSet;
use compactor::ingest::ingest;
use compactor::profile::Profile;
use compactor::replay::{Mode, Plan, Prepared, ScheduleMode, effects, replay};
use compactor::score::{Cycle, Scorer};
use compactor::strategy::Strategy;
use compactor::summarize::extractive::Extractive;
use compactor::tokens::{TokenIndex, Tokenizer};
use compactor::transcript::MessageIdx;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const SESSION: &str = "fixtures/claude-code/retry-after-and-scheduler-rename.jsonl";

#[expect(clippy::disallowed_methods, reason = "a benchmark reads its input")]
fn session() -> Vec<u8> {
    std::fs::read(SESSION).expect("the fixture is part of the repository")
}

fn stages(criterion: &mut Criterion) {
    let bytes = session();
    let read = ingest(&bytes, SESSION);
    let transcript = read.sessions.first().expect("one session");
    let tokens = TokenIndex::new(transcript, Tokenizer::O200k);
    let effects = effects(transcript);
    let prepared = Prepared::new(transcript, &tokens, Tokenizer::O200k, &effects);
    let facts = FactSet::extract(transcript, &effects);
    let profile = Profile::standard();
    let planner = prepared.planner(&profile, None);
    let window = planner.window_for(5);
    let schedule = planner.schedule(window, 5);
    let plan = Plan {
        profile: &profile,
        strategy: Strategy::Structured,
        window,
        limit: 5,
        mode: Mode::Grow,
        schedule: ScheduleMode::Locked,
    };
    let result = replay(&prepared, &planner, &schedule, plan, &Extractive);
    let scorer = Scorer::new(transcript, &facts);

    let mut group = criterion.benchmark_group("stages");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("ingest", |bench| bench.iter(|| ingest(black_box(&bytes), SESSION)));
    group.bench_function("tokens", |bench| {
        bench.iter(|| TokenIndex::new(black_box(transcript), Tokenizer::O200k));
    });
    group.bench_function("effects", |bench| bench.iter(|| compactor::replay::effects(black_box(transcript))));
    group.bench_function("facts", |bench| bench.iter(|| FactSet::extract(black_box(transcript), &effects)));
    group.bench_function("window search", |bench| bench.iter(|| planner.window_for(black_box(5))));
    group.bench_function("replay", |bench| {
        bench.iter(|| replay(&prepared, &planner, black_box(&schedule), plan, &Extractive));
    });
    group.bench_function("score", |bench| {
        bench.iter(|| {
            for trace in &result.cycles {
                black_box(scorer.score(&Cycle {
                    context: &trace.context,
                    held: transcript,
                    began: MessageIdx(0),
                    archive: &[],
                    prefix_end: MessageIdx::new(trace.cut.trigger),
                    compacted_end: MessageIdx::new(trace.cut.cut),
                    metadata: None,
                    writes_lists: true,
                    newest_request: None,
                    opaque: false,
                }));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, stages);
criterion_main!(benches);
