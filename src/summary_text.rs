//! Texts that the code of a system, and no model, writes in place of a summary or around one.

use crate::harness::text::fill;
use crate::harness::{Entry, Role};
use serde::Deserialize;

/// How those texts read. Nothing is written by default.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct SummaryText {
    /// Put in front of every summary that enters the context.
    pub prefix: String,
    /// Put behind it.
    pub suffix: String,
    /// Put in front of the summary of the session before, where it comes along; else it does not.
    pub parent_prefix: Option<String>,
    /// How the entry begins that holds an earlier summary; none where an earlier one cannot be recognised by its text.
    pub recognise: Option<String>,
    /// What stands in place of a summary where no model writes one.
    pub truncate: Option<TruncateForm>,
    /// How the summaries of a history and of the beginning of a turn are joined.
    pub split: Option<SplitForm>,
    /// Lists of files behind a summary; none where the code writes none.
    pub files: Option<FilesForm>,
    /// What stands in place of everything that was dropped in an emergency.
    pub emergency: Option<String>,
}

/// A text that only counts what was there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TruncateForm {
    /// `{count}` messages, `{roles}`.
    pub form: String,
    /// One of the roles: `{count}` and `{role}`.
    pub role: String,
    /// Between two.
    pub join: String,
    /// Roles that come first, in this order; the others follow by name.
    #[serde(default)]
    pub order: Vec<String>,
    /// Names of the roles.
    pub names: RoleNames,
}

/// Names of roles in a count. A role that the harness does not know is named by the entry itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoleNames {
    /// System messages.
    pub system: String,
    /// The person; commands of the person too.
    pub user: String,
    /// The model.
    pub assistant: String,
    /// Results.
    pub tool: String,
    /// Put in by an extension.
    pub custom: String,
    /// Summary of a branch.
    pub branch: String,
    /// Summary of a compaction.
    pub summary: String,
}

impl Default for RoleNames {
    fn default() -> Self {
        Self {
            system: "system".to_owned(),
            user: "user".to_owned(),
            assistant: "assistant".to_owned(),
            tool: "tool".to_owned(),
            custom: "custom".to_owned(),
            branch: "branch".to_owned(),
            summary: "summary".to_owned(),
        }
    }
}

/// How two summaries are joined.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitForm {
    /// With a history: `{history}` and `{turn}`.
    pub both: String,
    /// Without one: `{turn}`.
    pub turn_only: String,
    /// An earlier summary stands for a history that is empty; else it is lost.
    #[serde(default)]
    pub previous_for_history: bool,
}

/// Lists of files. A list without entries is left out with its tags.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesForm {
    /// In front of each list.
    pub gap: String,
    /// Files that were read: `{files}`, one in a line.
    pub read: String,
    /// Files that were modified: `{files}`, one in a line.
    pub modified: String,
}

impl SummaryText {
    /// The lines of its texts that say something of their own. Headings are none: what stands below them is told by
    /// them.
    pub fn own_lines(&self) -> OwnLines {
        let split = self.split.iter().flat_map(|split| [&split.both, &split.turn_only]);
        let texts = split
            .chain(self.truncate.iter().map(|truncate| &truncate.form))
            .chain(&self.emergency)
            .chain(&self.parent_prefix)
            .chain([&self.prefix, &self.suffix]);
        let lines = texts.flat_map(|text| text.lines()).map(str::trim);
        let heading = |line: &str| line.starts_with('#') || (line.starts_with("**") && line.ends_with("**"));
        let own = lines.filter(|line| {
            let literal = line.split('{').next().unwrap_or_default();
            literal.contains(char::is_alphanumeric) && !heading(line)
        });
        OwnLines(own.map(str::to_owned).collect())
    }

    /// A summary as it enters the context.
    pub fn wrap(&self, summary: &str) -> String {
        format!("{}{summary}{}", self.prefix, self.suffix)
    }

    /// Takes the wrapper off a text that has all of it; any other text comes back unchanged.
    pub fn unwrap<'t>(&self, text: &'t str) -> &'t str {
        let inner = text.strip_prefix(self.prefix.as_str());
        inner.and_then(|inner| inner.strip_suffix(self.suffix.as_str())).unwrap_or(text)
    }

    /// The summary of the session before as it enters the context; none where it does not, or where it is empty.
    pub fn wrap_parent(&self, summary: &str) -> Option<String> {
        let prefix = self.parent_prefix.as_ref().filter(|_| !summary.is_empty())?;
        Some(format!("{prefix}{summary}"))
    }

    /// The earlier summary that the first entry holds, wrapper included, recognised by how it begins. Who speaks there
    /// does not matter.
    pub fn previous<'e>(&self, entries: &'e [Entry<'_>]) -> Option<&'e str> {
        let start = self.recognise.as_deref()?;
        let entry = entries.first()?;
        let result = || entry.results().next().and_then(|result| result.texts.first()).map(AsRef::as_ref);
        entry.texts().next().or_else(result).filter(|text| text.starts_with(start))
    }

    /// The text that counts entries and lists files, where the system has one.
    pub fn truncated<S: AsRef<str>>(
        &self,
        entries: &[Entry<'_>],
        read: &[S],
        modified: &[S],
    ) -> Option<String> {
        let form = self.truncate.as_ref()?;
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for entry in entries {
            let name = form.names.of(entry);
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
        let place = |name: &str| form.order.iter().position(|first| first == name).unwrap_or(usize::MAX);
        counts.sort_by_key(|(name, _)| (place(name), *name));
        let roles: Vec<String> = counts
            .iter()
            .map(|(name, count)| fill(&form.role, &[("count", &count.to_string()), ("role", name)]))
            .collect();
        let count = entries.len().to_string();
        let text = fill(&form.form, &[("count", &count), ("roles", &roles.join(&form.join))]);
        Some(text + &self.footer(read, modified))
    }

    /// The file lists as they stand behind a summary; empty where there is nothing to list.
    pub fn footer<S: AsRef<str>>(&self, read: &[S], modified: &[S]) -> String {
        let Some(form) = &self.files else { return String::new() };
        let mut out = String::new();
        for (template, files) in [(&form.read, read), (&form.modified, modified)] {
            if !files.is_empty() {
                let files: Vec<&str> = files.iter().map(AsRef::as_ref).collect();
                out.push_str(&form.gap);
                out.push_str(&fill(template, &[("files", &files.join("\n"))]));
            }
        }
        out
    }

    /// The summaries of a split turn as one text. `history` is none where nothing lies before the turn; `previous` is an
    /// earlier summary.
    pub fn joined(&self, history: Option<&str>, previous: Option<&str>, turn: &str) -> Option<String> {
        let form = self.split.as_ref()?;
        let history = history.or(previous.filter(|_| form.previous_for_history));
        Some(match history {
            Some(history) => fill(&form.both, &[("history", history), ("turn", turn)]),
            None => fill(&form.turn_only, &[("turn", turn)]),
        })
    }
}

/// Lines that the code of a system writes into summaries, as templates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnLines(Vec<String>);

impl OwnLines {
    /// Whether a line is one of them. What stands between their braces may be anything.
    pub fn holds(&self, line: &str) -> bool {
        let line = line.trim();
        let Some(first) = line.as_bytes().first() else { return false };
        let may_be = |template: &&String| {
            template.as_bytes().first().is_some_and(|begins| begins == first || *begins == b'{')
        };
        self.0.iter().filter(may_be).any(|template| is_of(line, template))
    }
}

/// Whether a text is what a template gives with some values.
fn is_of(text: &str, template: &str) -> bool {
    let Some((before, behind)) = template.split_once('{') else { return text == template };
    let Some(rest) = text.strip_prefix(before) else { return false };
    let Some((_, behind)) = behind.split_once('}') else { return text == template };
    if !behind.contains('{') {
        return rest.ends_with(behind);
    }
    rest.char_indices().any(|(at, _)| rest.get(at..).is_some_and(|rest| is_of(rest, behind)))
}

impl RoleNames {
    fn of<'e>(&'e self, entry: &'e Entry<'_>) -> &'e str {
        match entry.role {
            Role::System => &self.system,
            Role::User | Role::Shell => &self.user,
            Role::Assistant => &self.assistant,
            Role::Tool => &self.tool,
            Role::Custom => &self.custom,
            Role::Branch => &self.branch,
            Role::Summary => &self.summary,
            Role::Unknown => &entry.label,
        }
    }
}

#[cfg(test)]
mod tests;
