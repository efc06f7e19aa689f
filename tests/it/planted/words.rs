//! Words and wordings of the generated sessions.

/// Names of projects.
pub(super) const PROJECTS: &[&str] = &[
    "harbourline", "mapleroute", "quillstack", "ferrymen", "tallowfield", "orbitdesk", "saltmarsh", "kitebay",
    "lanternpost", "brambleway", "copperline", "driftnote", "glasswing", "hollyport", "ironbark", "juniperd",
];

/// Directories that may stand at the top of a project.
pub(super) const TOPS: &[&str] = &[
    "src", "lib", "app", "internal", "packages/core/src", "crates/engine/src", "services/billing", "cmd/server",
    "web/client", "modules/auth", "backend", "tools", "apps/admin/src",
];

/// Directories below them.
pub(super) const DIRS: &[&str] = &[
    "http", "store", "queue", "render", "parser", "retry", "session", "billing", "mailer", "metrics", "geo", "search",
    "sync", "upload", "webhook", "ledger", "crypto", "layout", "planner", "runtime", "import", "export", "audit",
];

/// Stems of file names.
pub(super) const STEMS: &[&str] = &[
    "backoff", "invoice", "tokenizer", "dispatcher", "shard", "cursor", "throttle", "snapshot", "registry", "envelope",
    "pagination", "watermark", "checkpoint", "resolver", "serializer", "rollup", "manifest", "bootstrap", "sanitizer",
    "heartbeat", "partition", "reconcile", "scheduler", "formatter", "validator", "debouncer", "collector", "migrator",
    "compress", "digest", "throughput", "lexer", "beacon", "courier", "gateway", "keyring", "lockfile", "mutex_pool",
    "outbox", "profile_card", "quota-guard", "ringbuffer", "stopwatch", "tracer", "unicorn", "vault", "worker_pool",
    "xsrf", "yield_curve", "zipper", "address_book", "basket", "calendar", "discount", "exchange", "fallback", "greeter",
];

/// Extensions, by what a project is written in.
pub(super) const LANGUAGES: &[&[&str]] =
    &[&["rs"], &["ts", "tsx"], &["py"], &["go"], &["kt"], &["js", "jsx"], &["cpp", "hpp"], &["rb"]];

/// Extensions of what is no code.
pub(super) const OTHERS: &[&str] = &["md", "yaml", "json", "sql", "toml", "sh", "css"];

/// What sentences are about.
pub(super) const NOUNS: &[&str] = &[
    "carousel", "ingest pipeline", "audit trail", "login form", "price table", "export job", "mail queue", "search panel",
    "map layer", "tax engine", "photo importer", "chat widget", "refund flow", "seat planner", "route finder",
    "stock feed", "news digest", "consent banner", "order archive", "loyalty ledger", "voucher page", "fleet monitor",
    "tariff sheet", "badge printer", "quiz editor", "recipe index", "patient roster", "meter gateway", "parcel tracker",
    "vote counter", "lease register", "crane console", "pump controller", "orchard survey", "harbour chart",
];

/// Things of which one is chosen.
pub(super) const TOOLS: &[&str] = &[
    "Postgres", "Redis", "SQLite", "Kafka", "RabbitMQ", "Memcached", "DuckDB", "Cassandra", "NATS", "Elasticsearch",
    "Parquet", "Avro", "Protobuf", "Thrift", "Bazel", "Gradle", "Webpack", "Rollup", "Vitest", "Mocha", "Celery", "Sidekiq",
];

/// Sentences of the agent that say nothing a later reader must know.
pub(super) const CHATTER: &[&str] = &[
    "Looking at the surroundings first.", "That matches what I expected.", "The output is as before.",
    "Let me see what calls this.", "Reading on.", "This part is straightforward.", "The helper does what its name says.",
    "There is a second caller further down.", "That explains the odd ordering.", "The shape of the data is clear by now.",
    "I have seen enough of this module.", "Both branches end in the same place.", "The loop walks over every entry.",
    "Next come the callers.", "The naming is a bit confusing here.", "Good, that part works.",
];

/// Sentences of the user of that kind.
pub(super) const SMALLTALK: &[&str] = &[
    "Thanks, that looks good so far.", "Great, carry on.", "Okay, go ahead.", "Nice work.", "All fine on my side.",
    "Sounds good to me.", "Good catch.", "Perfect, continue.",
];

/// Sentences that look like facts and are none.
pub(super) const DISTRACTORS: &[&str] = &[
    "No errors were found.", "Nothing was decided about caching.", "No test failed.", "There were no new constraints.",
    "The user gave no rules for naming.", "No values were changed.", "It is still open which way is better.",
    "No files were lost.", "We could pick another approach some day.",
];

/// Lines of a summary that mention no fact.
pub(super) const FILLERS: &[&str] = &[
    "The work went smoothly.", "Most of the time went into reading.", "The agent explained each step.",
    "Several helpers look alike.", "The overall shape of the code is sound.", "A follow-up is likely.",
    "The discussion was short.", "Everything else is as usual.", "Background was given at the start.",
    "The remaining parts were only skimmed.",
];

/// First halves of keys.
pub(super) const KEY_HEADS: &[&str] = &[
    "retry", "batch", "cache", "queue", "session", "upload", "lease", "poll", "shard", "buffer", "stream", "prefetch",
    "replica", "socket", "drain", "probe", "snapshot", "rollup", "window", "flush", "gossip", "ingest", "trace", "vacuum",
];

/// Second halves of keys.
pub(super) const KEY_TAILS: &[&str] = &[
    "limit", "size", "ttl", "timeout", "depth", "interval", "budget", "threshold", "quota", "capacity", "delay", "backoff",
];

/// Units with another spelling of each.
pub(super) const UNITS: &[(&str, &str)] =
    &[("ms", "milliseconds"), ("s", "seconds"), ("MB", "megabytes"), ("KB", "kilobytes"), ("px", "pixels")];

/// What key-less values are said of; `{}` is the value.
pub(super) const MEASURED: &[&str] = &[
    "One request took {} on this machine.", "The import needs {} in total.", "A cold start costs about {} here.",
    "Rendering went up to {} in the trace.", "I measured {} for the slow path.",
];

/// How a value is stated; `{k}` is the key and `{v}` the value.
pub(super) const STATED: &[&str] = &[
    "`{k}` is {v} in this setup.", "I have `{k}: {v}` in front of me.", "The config says {k} = {v} at the moment.",
    "Note that {k} is set to {v}.", "`{k}` = {v} on all hosts.",
];

/// Rules of the user: as said, kept in other words, reversed. `{n}` is what they are about.
pub(super) const RULES: &[(&str, &str, &str)] = &[
    (
        "Never edit the generated files of the {n} by hand.",
        "The generated files of the {n} must never be edited by hand.",
        "Edit the generated files of the {n} by hand where it helps.",
    ),
    (
        "Do not add new dependencies to the {n}.",
        "Don't add new dependencies to the {n}.",
        "Add new dependencies to the {n} freely.",
    ),
    (
        "The public interface of the {n} must stay backward compatible.",
        "Public interface of the {n}: must stay backward compatible.",
        "The public interface of the {n} may not stay backward compatible.",
    ),
    (
        "Avoid blocking calls inside the {n}.",
        "Inside the {n}, avoid blocking calls.",
        "Blocking calls inside the {n} are welcome.",
    ),
    (
        "Only the maintainers may change schemas of the {n}.",
        "Schemas of the {n}: only the maintainers may change them.",
        "The maintainers and everybody else change schemas of the {n}.",
    ),
    (
        "Please never log personal data from the {n}.",
        "Personal data from the {n} must never be logged, no log of it.",
        "Log personal data from the {n}.",
    ),
    (
        "You must run the migrations of the {n} inside a transaction.",
        "Migrations of the {n} must run inside a transaction.",
        "Migrations of the {n} run inside a transaction if convenient.",
    ),
    (
        "Don't rename columns that belong to the {n}.",
        "Never rename columns that belong to the {n}.",
        "Rename columns that belong to the {n}.",
    ),
];

/// Decisions of the agent: as said, kept in other words, turned round. `{a}` is taken against `{b}` for `{n}`.
pub(super) const CHOICES: &[(&str, &str, &str)] = &[
    (
        "We decided to go with {a} instead of {b} for the {n}.",
        "Decided for the {n}: go with {a} instead of {b}.",
        "Decided for the {n}: go with {b} instead of {a}.",
    ),
    (
        "I chose {a} over {b} for storing the {n} because it needs less care.",
        "For storing the {n}, {a} over {b}, because it needs less care.",
        "Storing the {n} is open.",
    ),
    (
        "I'll use {a} rather than {b} in the {n}.",
        "In the {n} use {a} rather than {b}.",
        "In the {n} use {b} rather than {a}.",
    ),
    (
        "We settled on {a} as the backbone of the {n}.",
        "Settled on {a} as backbone of the {n}.",
        "The {n} has a backbone.",
    ),
];

/// Items of a todo list.
pub(super) const ITEMS: &[&str] = &[
    "Write regression coverage for the {n}", "Profile the slow path of the {n}", "Document the wire format of the {n}",
    "Remove dead branches from the {n}", "Port the {n} to the new scheduler API", "Tidy up logging around the {n}",
    "Split the {n} into smaller pieces", "Wire the {n} into the admin screens",
];

/// First requests.
pub(super) const REQUESTS: &[&str] = &[
    "Please find out why the {n} loses entries and fix it.", "Can you speed up the {n} for large customers?",
    "I need a new filter in the {n}, please add it.", "Please rework the {n} from the ground up.",
    "Fix the flaky ordering in the {n}.",
];

/// Commands that touch no file; `{w}` is a word.
pub(super) const COMMANDS: &[&str] = &[
    "docker compose up -d {w}", "kubectl rollout status deploy/{w}", "git log -n 14 --author {w}",
    "systemctl restart {w}.service", "redis-cli --scan --pattern {w}", "terraform workspace select {w}",
    "git checkout -b {w}", "helm upgrade --install {w} charts/{w}", "npm view {w} versions", "cargo tree -i {w}",
];

/// Checks; `{w}` is a word.
pub(super) const CHECKS: &[&str] = &[
    "cargo test -p {w}", "cargo clippy -p {w}", "go test ./internal/{w}/...", "npm run lint -- {w}", "pytest -k {w}",
    "make test-{w}", "pnpm --filter {w} build", "bundle exec rspec {w}", "mvn -pl {w} verify", "npx vitest run {w}",
];

/// How a summary speaks of a file; `{p}` is the path.
pub(super) const OF_FILES: &[&str] = &[
    "- `{p}`", "- {p}", "* {p} (see above)", "- `{p}`: the part that matters", "The logic sits in {p}, as before.",
    "Looked at {p} closely.", "1. {p}: done with it", "- Files: {p}", "| {p} | touched |", "(compare \"{p}\")",
    "- **{p}** came up twice",
];
