//! Who writes the summaries of a run, by the command line, the profiles and the environment.

use super::args::{AskArgs, Cassette, ModelArgs, Writer};
use super::exit::Failure;
use super::show::template;
use super::ui::Ui;
use crate::profile::Profile;
use crate::report::text::{count, thousands};
use crate::results::WriterSettings;
use crate::summarize::cassette::Cassettes;
use crate::summarize::extractive::Extractive;
use crate::summarize::llm::{
    Endpoint, Key, Limits, Model, ModelRules, ModelSettings, OnMiss, Provider, Retries, Spent, Tapes,
    Temperature, Ways, variable,
};
use crate::summarize::{Flaw, Summarizer};
use std::collections::BTreeSet;

/// The summarizer of a run.
#[derive(Debug)]
pub enum Scribe {
    /// The embedded one.
    Embedded,
    /// A model.
    Model(Box<Model>),
    /// A model that is not asked.
    Dry(Box<Model>, Vec<ModelRules>),
}

/// The key for any server.
const ANY_KEY: &str = "COMPACTOR_API_KEY";

impl Scribe {
    /// The summarizer that the arguments name; `profiles` may say of the model what they do not.
    ///
    /// # Errors
    ///
    /// The arguments do not go together, or lead nowhere.
    pub fn of(args: &ModelArgs, profiles: &[&Profile], ui: &Ui) -> Result<Self, Failure> {
        if args.summarizer == Writer::Extractive {
            return match args.of_a_model().as_slice() {
                [] => Ok(Self::Embedded),
                names => {
                    let cause = format!("{} means nothing to the embedded summarizer", names.join(", "));
                    Err(Failure::new(cause, "give --summarizer llm with it"))
                }
            };
        }
        let rules = rules(&args.ask);
        let all: Vec<ModelRules> = profiles.iter().map(|profile| rules.over(&profile.llm)).collect();
        for (rules, profile) in all.iter().zip(profiles) {
            if rules.model.is_none() {
                let cause = format!("no model is named for the profile {}", profile.name);
                return Err(Failure::new(
                    cause,
                    "give --model NAME, or `model` in the [llm] section of the profile",
                ));
            }
        }
        // One model for all profiles names the rows; else each profile has its own.
        let mut first = ModelRules { base_url: rules.base_url.clone(), ..ModelRules::UNSAID };
        if let Some(one) = all.first().filter(|one| all.iter().all(|other| other == *one)) {
            first.model.clone_from(&one.model);
        }
        let settings = ModelSettings {
            rules: ModelRules { model: rules.model.or(first.model), ..rules },
            template: args.prompt.as_deref().map(template).transpose()?,
            ..asked(&args.ask, args.on_miss.unwrap_or(super::args::Miss::Fail).into())?
        };
        let model = Box::new(open(&args.ask, &all, settings, "summaries are asked of", ui)?);
        Ok(if args.ask.dry_run { Self::Dry(model, all) } else { Self::Model(model) })
    }

    /// It, as a run knows it.
    pub fn summarizer(&self) -> &dyn Summarizer {
        match self {
            Self::Embedded => &Extractive,
            Self::Model(model) | Self::Dry(model, _) => model.as_ref(),
        }
    }

    /// Threads for a run: as many as asked for, and at least as many as requests may be on their way.
    pub fn threads(&self, args: &ModelArgs, jobs: usize) -> usize {
        match self {
            Self::Model(_) => {
                let cores = if jobs == 0 {
                    std::thread::available_parallelism().map_or(1, usize::from)
                } else {
                    jobs
                };
                cores.max(args.ask.places())
            }
            Self::Embedded | Self::Dry(..) => jobs,
        }
    }

    /// What results say of it.
    pub fn told(&self, args: &ModelArgs) -> Option<WriterSettings> {
        if matches!(self, Self::Embedded) {
            return None;
        }
        let rules = rules(&args.ask);
        Some(WriterSettings {
            provider: rules.provider.map(|provider| provider.name().to_owned()).unwrap_or_default(),
            model: rules.model.unwrap_or_default(),
            max_output_tokens: rules.max_output_tokens,
            temperature: match rules.temperature {
                None => String::new(),
                Some(Temperature::Unsaid) => "none".to_owned(),
                Some(Temperature::Of(number)) => number.to_string(),
            },
            prompt_hash: match self {
                Self::Model(model) | Self::Dry(model, _) => model
                    .instructions()
                    .map_or_else(String::new, |text| blake3::hash(text.as_bytes()).to_hex().to_string()),
                Self::Embedded => String::new(),
            },
            on_miss: match args.on_miss {
                Some(super::args::Miss::Extractive) if args.ask.replays() => "extractive".to_owned(),
                _ => String::new(),
            },
        })
    }

    /// Names of the cassettes that hold its replies, in order; `earlier`: those of sessions that an earlier run finished.
    pub fn cassettes(&self, args: &ModelArgs, earlier: Vec<String>) -> Vec<String> {
        if args.ask.cassettes.is_none() {
            return Vec::new();
        }
        let names: BTreeSet<String> = self.summarizer().answered(0).into_iter().chain(earlier).collect();
        names.into_iter().collect()
    }

    /// Says what was asked and what it came to, and why nobody was asked any more.
    pub fn report(&self, ui: &Ui) {
        let Self::Model(model) = self else { return };
        for (why, times) in model.troubles() {
            ui.complain(&format!(
                "{} did not come from the model: {why}",
                count(times as u64, "summary text")
            ));
        }
        replies(model, ui);
    }

    /// Some texts did not come for reasons that are none of the policy's: figures are then those of something else, too.
    pub fn is_troubled(&self) -> bool {
        // Who asked for a stand-in got what they asked for.
        let stood_in = Flaw::StandIn.to_string();
        matches!(self, Self::Model(model) if model.troubles().iter().any(|(why, _)| *why != stood_in))
    }
}

/// What was asked, in a line.
fn sum(spent: &Spent, priced: bool) -> String {
    let mut parts = vec![format!("{} requests", thousands(spent.requests))];
    if spent.repeated > 0 {
        parts.push(format!("{} of them repeated", thousands(spent.repeated)));
    }
    if spent.replayed > 0 {
        parts.push(format!("{} replies from cassettes", thousands(spent.replayed)));
    }
    if spent.requests > 0 {
        parts.push(format!("{} tokens in, {} out", thousands(spent.input), thousands(spent.output)));
    }
    if priced {
        parts.push(format!("{:.4} dollars", spent.cost));
    }
    parts.join(", ")
}

/// What would be asked, as the product of a dry run; `behind` stands at its end.
pub fn plan(model: &Model, all: &[ModelRules], behind: &str) -> String {
    let spent = model.spent();
    let limits = model.limits();
    let mut out = String::new();
    for rules in all {
        let (host, name) = (host(rules), rules.model.as_deref().unwrap_or_default());
        let line = format!("host          {host}\nmodel         {name}\n");
        if !out.contains(&line) {
            out.push_str(&line);
        }
    }
    out.push_str(&format!("requests      {}\n", thousands(spent.requests)));
    if spent.replayed > 0 {
        out.push_str(&format!("replies kept  {}\n", thousands(spent.replayed)));
    }
    out.push_str(&format!(
        "tokens in     {} (counted here; providers count otherwise)\n",
        thousands(spent.input)
    ));
    out.push_str(&format!(
        "tokens out    at most {}, where no request is repeated or shortened\n",
        thousands(spent.output)
    ));
    match limits.price {
        Some(_) => out.push_str(&format!("price         about {:.4} US dollars\n", spent.cost)),
        None => out.push_str("price         not known: give --price IN,OUT\n"),
    }
    if let Some(why) = model.ended() {
        out.push_str(&format!("not all       {why}\n"));
    }
    out.push_str("Nothing was sent.");
    out.push_str(behind);
    out.push('\n');
    out
}

/// What the plan of a run with summaries does not know.
pub const LATER: &str =
    " Requests of later cycles hold summaries that are not written yet; their sizes are estimates.";

/// A model to be asked for anything but summaries, and what is said of it.
///
/// # Errors
///
/// The arguments lead nowhere.
pub fn asker(args: &AskArgs, ui: &Ui) -> Result<(Model, ModelRules), Failure> {
    let rules = rules(args);
    if rules.model.is_none() {
        return Err(Failure::new("no model is named", "give --model NAME"));
    }
    let settings = ModelSettings { rules: rules.clone(), ..asked(args, OnMiss::Fail)? };
    let model = open(args, std::slice::from_ref(&rules), settings, "answers are asked of", ui)?;
    Ok((model, rules))
}

/// Says what was asked and what it came to, and why nobody was asked any more.
pub fn replies(model: &Model, ui: &Ui) {
    let spent = model.spent();
    if spent.requests + spent.replayed > 0 {
        ui.say(&sum(&spent, model.limits().price.is_some()));
    }
    if let Some(why) = model.ended() {
        ui.complain(&format!("nothing more was asked for: {why}"));
    }
}

/// How a model is asked, by the command line; of the model itself nothing.
fn asked(args: &AskArgs, on_miss: OnMiss) -> Result<ModelSettings, Failure> {
    if let Some(dir) = args.cassettes.as_ref().filter(|dir| args.replays() && !dir.is_dir()) {
        let cause =
            format!("--cassettes {}: no such directory, so there is nothing to replay", dir.display());
        return Err(Failure::new(cause, "record with --cassette-mode record or auto, or check the path"));
    }
    let retries = Retries::default();
    Ok(ModelSettings {
        tapes: args.cassettes.as_ref().map(|dir| Tapes {
            cassettes: Cassettes::new(dir),
            mode: args.cassette_mode.unwrap_or(Cassette::Auto).into(),
            on_miss,
        }),
        limits: Limits { requests: args.max_requests, cost: args.max_cost, price: args.price },
        retries: Retries { tries: args.tries.unwrap_or(retries.tries), ..retries },
        concurrency: args.places(),
        ..ModelSettings::default()
    })
}

/// A model that can be asked, or one that only counts; `all`: what is said of it, for each use that it has.
fn open(
    args: &AskArgs,
    all: &[ModelRules],
    settings: ModelSettings,
    doing: &str,
    ui: &Ui,
) -> Result<Model, Failure> {
    if args.dry_run {
        return Ok(Model::dry(settings));
    }
    if !args.replays() {
        for rules in all {
            reachable(rules, args)?;
        }
        for host in hosts(all) {
            ui.say(&format!("{doing} {host}"));
        }
    }
    let mut own_keys = Vec::new();
    for provider in [Provider::OpenAi, Provider::Anthropic] {
        own_keys.extend(key(variable(provider))?.map(|key| (provider, key)));
    }
    if let Some(tapes) = settings.tapes.as_ref().filter(|_| !args.replays()) {
        tapes.cassettes.prepare().map_err(|error| Failure::new(error.to_string(), ""))?;
    }
    let ways = Ways { key: key(ANY_KEY)?, own_keys, timeout: args.patience(), allow_http: args.allow_http };
    Model::new(settings, ways).map_err(|cause| Failure::new(cause, ""))
}

/// What the command line says of the model.
fn rules(args: &AskArgs) -> ModelRules {
    ModelRules {
        provider: args.provider.map(Provider::from),
        base_url: args.base_url.clone(),
        model: args.model.clone(),
        max_output_tokens: args.max_output_tokens,
        temperature: args.temperature,
    }
}

fn address(rules: &ModelRules) -> &str {
    let provider = rules.provider.unwrap_or(Provider::OpenAi);
    rules.base_url.as_deref().unwrap_or(provider.home())
}

fn host(rules: &ModelRules) -> String {
    Endpoint::parse(address(rules)).map_or_else(|_| address(rules).to_owned(), |endpoint| endpoint.host)
}

fn hosts(all: &[ModelRules]) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for rules in all {
        let one = format!("{} (model {})", host(rules), rules.model.as_deref().unwrap_or_default());
        if !hosts.contains(&one) {
            hosts.push(one);
        }
    }
    hosts
}

/// Refuses addresses and missing keys before anything is read.
fn reachable(rules: &ModelRules, args: &AskArgs) -> Result<(), Failure> {
    let base = address(rules);
    let endpoint = Endpoint::parse(base).map_err(|cause| Failure::new(cause, ""))?;
    if !endpoint.secure && !endpoint.local && !args.allow_http {
        let cause =
            format!("--base-url {base}: logs and key would be sent to {} without encryption", endpoint.host);
        return Err(Failure::new(cause, "give an https address, or --allow-http"));
    }
    let provider = rules.provider.unwrap_or(Provider::OpenAi);
    if base == provider.home() && key(ANY_KEY)?.is_none() && key(variable(provider))?.is_none() {
        let cause = format!("no key for {}", endpoint.host);
        let hint = format!("set {} or {ANY_KEY} in the environment, or give --base-url", variable(provider));
        return Err(Failure::new(cause, hint));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "keys come from the environment alone")]
fn key(variable: &str) -> Result<Option<Key>, Failure> {
    let Some(text) = std::env::var_os(variable) else { return Ok(None) };
    // What is no text is no ASCII either.
    Key::new(&text.to_string_lossy()).map_err(|cause| {
        Failure::new(format!("{variable} {cause}"), "set it again without line ends and spaces")
    })
}
