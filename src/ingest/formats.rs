//! The log formats by name: what is said of each in options, results and documentation.

/// A log format this program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Claude Code session files, its stream and web sessions.
    ClaudeCode,
    /// Codex CLI rollouts, bare or in envelopes.
    Codex,
    /// The events that `codex exec --json` prints.
    CodexExec,
    /// pi sessions, versions 1 to 3, and those of its derivatives.
    Pi,
    /// Records of pi's sub-agent extension.
    PiSubagents,
    /// OpenAI chat messages, one message or one conversation a line, or one document.
    OpenaiChat,
    /// Items of OpenAI's Responses API.
    OpenaiResponses,
    /// Anthropic Messages API messages, one message or one request a line, or one document.
    AnthropicMessages,
    /// Gemini CLI chats and its stream.
    GeminiCli,
    /// Qwen Code sessions.
    QwenCode,
    /// opencode: storage trees, exports, databases.
    Opencode,
    /// Goose sessions and databases.
    Goose,
    /// Cline and Roo tasks: the history of the API and the messages of the interface.
    Cline,
    /// Sessions of the Cline SDK.
    ClineSdk,
    /// Event logs of the GitHub Copilot CLI.
    CopilotCli,
    /// Continue sessions.
    Continue,
    /// Crush databases and dumps of them.
    Crush,
    /// Amp threads.
    Amp,
    /// Factory Droid sessions and its stream.
    Droid,
    /// Kiro and Amazon Q conversations.
    Kiro,
    /// Kimi Code wire logs.
    Kimi,
    /// Grok CLI histories and updates.
    Grok,
    /// Antigravity transcripts.
    Antigravity,
    /// Hermes sessions.
    Hermes,
    /// Cursor agent transcripts and databases.
    Cursor,
    /// Aider chat histories.
    Aider,
    /// sven conversations: lines, YAML, Markdown.
    Sven,
    /// Entire's normalised transcripts.
    EntireTranscript,
    /// SpecStory histories.
    Specstory,
    /// ChatGPT account exports.
    ChatgptExport,
    /// claude.ai account exports.
    ClaudeAiExport,
    /// ShareGPT conversations.
    Sharegpt,
    /// SWE-agent trajectories.
    SweAgent,
    /// mini-swe-agent trajectories.
    MiniSweAgent,
    /// OpenHands events and logs of its model calls.
    Openhands,
    /// Trajectories in the interchange format of Harbor.
    Atif,
    /// Trajectories in the Agent Data Protocol.
    Adp,
    /// Logs of Inspect evaluations.
    Inspect,
    /// OpenTelemetry spans of generative AI.
    OtelGenai,
    /// tau-bench and tau2-bench runs.
    TauBench,
    /// Our own: everything a transcript holds ([`canonical`](super::canonical)).
    Canonical,
}

/// What to do where no format fits: names none of them, so that it is never behind the table.
pub const READS: &str = "`compactor inspect --help` lists the formats that are read";

impl Format {
    /// Every format, in the order of documentation.
    pub const ALL: [Self; 41] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::CodexExec,
        Self::Pi,
        Self::PiSubagents,
        Self::OpenaiChat,
        Self::OpenaiResponses,
        Self::AnthropicMessages,
        Self::GeminiCli,
        Self::QwenCode,
        Self::Opencode,
        Self::Goose,
        Self::Cline,
        Self::ClineSdk,
        Self::CopilotCli,
        Self::Continue,
        Self::Crush,
        Self::Amp,
        Self::Droid,
        Self::Kiro,
        Self::Kimi,
        Self::Grok,
        Self::Antigravity,
        Self::Hermes,
        Self::Cursor,
        Self::Aider,
        Self::Sven,
        Self::EntireTranscript,
        Self::Specstory,
        Self::ChatgptExport,
        Self::ClaudeAiExport,
        Self::Sharegpt,
        Self::SweAgent,
        Self::MiniSweAgent,
        Self::Openhands,
        Self::Atif,
        Self::Adp,
        Self::Inspect,
        Self::OtelGenai,
        Self::TauBench,
        Self::Canonical,
    ];

    /// The name used in options and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::CodexExec => "codex-exec",
            Self::Pi => "pi",
            Self::PiSubagents => "pi-subagents",
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
            Self::GeminiCli => "gemini-cli",
            Self::QwenCode => "qwen-code",
            Self::Opencode => "opencode",
            Self::Goose => "goose",
            Self::Cline => "cline",
            Self::ClineSdk => "cline-sdk",
            Self::CopilotCli => "copilot-cli",
            Self::Continue => "continue",
            Self::Crush => "crush",
            Self::Amp => "amp",
            Self::Droid => "droid",
            Self::Kiro => "kiro",
            Self::Kimi => "kimi",
            Self::Grok => "grok",
            Self::Antigravity => "antigravity",
            Self::Hermes => "hermes",
            Self::Cursor => "cursor",
            Self::Aider => "aider",
            Self::Sven => "sven",
            Self::EntireTranscript => "entire-transcript",
            Self::Specstory => "specstory-md",
            Self::ChatgptExport => "chatgpt-export",
            Self::ClaudeAiExport => "claude-ai-export",
            Self::Sharegpt => "sharegpt",
            Self::SweAgent => "swe-agent",
            Self::MiniSweAgent => "mini-swe-agent",
            Self::Openhands => "openhands",
            Self::Atif => "atif",
            Self::Adp => "adp",
            Self::Inspect => "inspect",
            Self::OtelGenai => "otel-genai",
            Self::TauBench => "tau-bench",
            Self::Canonical => "canonical",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_listed_once_under_its_own_name() {
        let mut names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Format::ALL.len());
    }
}
