//! What an error text of a provider says, by rules on its sentences.
//!
//! The rules know what is sent (prompt, input, messages, ...), what it has to fit (context window, maximum length, token limit,
//! ...) and the ways to say that it does not. They hold no provider's sentences, so that the next wording is understood too.
//! Order decides where a text says several things: a wrong output setting, billing, an overflow with figures or the code of
//! one, rates, sizes in bytes, an overflow in words alone. A limit of tokens *per time* is a rate, also where waiting cannot
//! help because one request asks for more than the limit (then `used` is above `limit`).

use super::numbers::{self, Named};
use super::reading::{patterns, plain};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// What kind of error a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The request is more than the model takes; a smaller one would pass.
    Overflow,
    /// Too much at once or per time: requests, tokens, or the provider's own load. Waiting helps.
    Rate,
    /// Credit, plan or payment.
    Billing,
    /// The request or a part of it is too large in bytes, characters or pixels.
    Bytes,
    /// The output that was asked for is none the model can be set to; the input is not the matter.
    OutputSetting,
    /// Anything else.
    None,
}

impl Class {
    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Rate => "rate",
            Self::Billing => "billing",
            Self::Bytes => "bytes",
            Self::OutputSetting => "output-setting",
            Self::None => "none",
        }
    }
}

/// What an error text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The kind of error.
    pub class: Class,
    /// Tokens that are allowed, where the text names them: per request, per time for [`Class::Rate`], of output for
    /// [`Class::OutputSetting`].
    pub limit: Option<u64>,
    /// Tokens of this request in the same measure, where the text names them; parts are added up.
    pub used: Option<u64>,
}

macro_rules! sent {
    () => {
        r"(?:prompts?|inputs?|requests?|messages?|conversations?|history|chat|sequences?|transcript|session|tokens?|query)"
    };
}
/// What a request has to fit.
macro_rules! room {
    () => {
        r"(?:(?:contexts?|sequence|prompt|model|input) (?:windows?|lengths?|len|sizes?|limits?|budget|capacity)|(?:token|tokens) (?:limits?|maximum)|max(?:imum)? (?:(?:allowed|permitted|supported|total|possible|number|of|the|model|models|input|prompt|context|sequence|seq|request|messages?|token|tokens) )*(?:windows?|lengths?|len|sizes?|limits?|tokens?)|(?:n|num) ctx|max position embeddings|(?:models?|token|allowed) (?:\w+ )?maximum|最大)"
    };
}
macro_rules! over {
    () => {
        r"(?:exceed(?:s|ed|ing)?|surpass(?:es|ed)?|overflow(?:s|ed)|(?:longer|larger|bigger|greater|more|higher) than|(?:is|are|was|goes|went|grown) (?:over|above|beyond|past)|(?:too (?:long|large|big)) (?:for|to fit)|(?:not|nt|longer|cannot|wont) fit|no longer fits)"
    };
}
/// Up to so many words of one sentence.
macro_rules! gap {
    ($n:literal) => {
        concat!(r"(?:[^ .;!?]+ ){0,", $n, "}")
    };
}

patterns! {
    // Names of the error: a code, a type, a stop reason.
    CODE = r" (?:context (?:window|length|size) (?:was )?exceeded|exceed context (?:size|length|window)|(?:prompt|input|context) tokens exceeded|tokens limit reached|context overflow(?:ed)?(?: error| detected)? [.;:!] )";
    SAID = concat!(
        " (?:",
        sent!(), " ", gap!("10"), over!(), " ", gap!("6"), room!(), " ",
        "|", room!(), " ", gap!("4"), "exceeded ",
        "|", room!(), " (?:(?:is|was|has been|has) )?(?:overflowed|reached|full|exhausted) ",
        "|(?:context|prompt|input|token) (?:window|length|size|limit)s? exceeds? ", gap!("3"), "(?:limit|max|maximum) ",
        "|reached ", gap!("3"), "(?:context|input|prompt) (?:window|length|size|limit) ",
        "|(?:prompts?|inputs?|conversation|chat|messages|history|transcript|context) ", gap!("4"), "too (?:long|large|big) ",
        "|(?:prompts?|inputs?|context|conversation|messages|tokens) ", gap!("6"), "exceed(?:s|ed)? (?:the )?(?:models? )?(?:maximum|max|limits?)(?: allowed)? ",
        "|(?:prompts?|inputs?|context|conversation|messages|history) ",
        gap!("4"),
        "exceeds? ",
        gap!("4"),
        "model ",
        "|(?:context|conversation|history) (?:is |was )?full ",
        "|too (?:long|large|big) for (?:this |the )?(?:\\w+ )?model ",
        "|too many (?:input|prompt|context) tokens ",
        "|too many tokens (?:per|for|in|within) ", gap!("3"), "(?:request|prompt|input|model|message|messages|conversation|context) ",
        "|max(?:imum)? (?:context|prompt|input|sequence) (?:length|window|size) (?:is|of|:) \\d+ ",
        "|(?:reduce|shorten|shortening|trim) ", gap!("3"), "(?:length|size) of ", gap!("3"), sent!(), " ",
        "|range of (?:input|prompt|context|messages?) ",
        "|(?:ran|run|running) out of (?:room|space|context) ", gap!("4"), "(?:context|window|model) ",
        "|(?:ran|run|running) out of context ",
        "|", sent!(), " ", gap!("8"), "(?:must|should|cannot|can|may|has|have|needs?) (?:not |to )?(?:be |have |exceed )", gap!("2"), "(?:<=?|less|fewer|shorter|smaller|at most|no more|more|below|under) ", gap!("3"), "\\d+ ", gap!("1"), "tokens? ",
        "|(?:grown|is|are|does|do|no|not|can|cannot) ", gap!("3"), "(?:beyond|fit|fits|past|larger than) ", gap!("3"), "(?:model|context|window) ",
        ")"
    );
    // What makes a statement a condition, a question or a subject of talk.
    TALK = r" (?:if|when|whenever|unless|whether|how|why|what|avoid|avoids|prevent|prevents|until|before|once|in case|does not|doesnt|did not|never|minimum|investigate|unknown|could not (?:read|find|open|update|parse)|no such) ";
    // The same behind it.
    TALKED = r"^(?:(?:is|are|was|were) )?(?:not |never )?(?:handled|handling|tested|tests?|documented|detection|errors? (?:are|is)|bugs?|issues?|settings?|options?|checks?) ";
    // An object other than the model's room.
    ELSEWHERE = concat!(
        " (?:(?:exceed\\w*|too (?:long|large|big)|(?:larger|longer|greater|more) than|fit) ",
        gap!("5"),
        "(?:memory|vram|ram|gpu|disk|batch|fields?|columns?|upload|database|header|url|screen) |too (?:large|long) to process )"
    );
    CHINESE = r"(?:输入|提示词?|上下文|消息|内容|对话|请求|[Tt]okens?|prompt|长度)[^;.!?]{0,24}(?:超过|超出|超长|过长|太长|超限|超\s?长)|(?:超过|超出|大于)[^;.!?]{0,16}(?:最大|上下文|模型)[^;.!?]{0,8}(?:长度|限制|上限|窗口)";
    CHINESE_RATE = r"频率|并发|限流|速率|请求过多|请求数|访问量|稍后|配额";
    CHINESE_BILLING = r"余额|额度不足|欠费|充值|付费|账户.{0,6}不足|套餐";
    PER_TIME = r" (?:(?:per|each) (?:minute|min|day|hour|second|sec|month|week)|an? (?:minute|day|hour|month|week)|tpm|rpm|tpd|rpd|qps|qpm|itpm|otpm|daily|hourly|monthly) ";
    RATE = r" (?:rate (?:token )?limit(?:s|ed|ing)?|(?:token|request|tokens|requests) rate|throttl\w+|too many (?:\w+ )?(?:requests|calls)|quota|usage limits|please wait|wait (?:before|a|for|and|until)|(?:try|retry) (?:again )?(?:in|after) \d\S*|slow down|concurren\w+|overloaded|(?:at|over|tier) capacity|capacity exceeded|rate (?:\w+ ){0,3}(?:increased|too high|too fast)|resource exhausted|(?:usage|request|requests) limits? (?:\w+ )?(?:reached|exceeded|hit)|rate exceeded|tokens processed) ";
    RETRY = r" (?:(?:try|retry) (?:again )?(?:in|after) \d\S*|resource exhausted|rate limit(?:s|ed)?) ";
    BILLING = r" (?:payment required|insufficient (?:\w+ )?(?:quota|funds|balance|credits?)|credits?|balance is|afford|recharge|top up|spend(?:ing)? limit|prepaid|extra usage|payment method|free trial|arrears|overdue|premium requests?|requires? (?:a )?(?:paid|subscription)) ";
    PLAN = r" (?:(?:your|current) (?:plan|subscription)|paid (?:plan|account)) ";
    ACCOUNT = r" billing ";
    STATUS = r"^[ ;\[(]*(?:(?:error|http|status|code|api|client|server|request failed) [: ]*)*(\d{3}) |(?:status|code|error code|status code|statuscode) : (\d{3}) ";
    NO_BODY = r"^ (?:error )?413 (?:status code )?\( no body \) $";
    SIZE = concat!(
        " (?:(?:entity|payload|body|upload|images?|attachment|pdf|document|media|audio|video|string|image dimensions|request size|payload size) ",
        gap!("5"), "(?:too (?:large|long|big)|exceeds?|exceeded|larger than|bigger than|over the|above the) ",
        "|(?:message|request|input|prompt|content) ", gap!("6"), "(?:exceeds?|exceeded|larger than|too (?:large|long|big)) ", gap!("8"), "(?:bytes|[kmg]i?b|characters|pixels|upload limit) ",
        "|files? (?:size )?(?:is |was )?(?:too (?:large|big)|exceeds?|larger than) |message larger than max |(?:request|message|payload|total) size (?:\\d+ )?exceeds |request (?:is|was) too (?:large|big) ",
        "|(?:request|body|message|size|payload) ", gap!("8"), "\\d*[kmg]i?b ", gap!("5"), "(?:over|limit|max|maximum|most) ",
        "|(?:request|content|payload) too large ",
        "|(?:request|payload|content) exceeds ", gap!("2"), "(?:maximum|max|allowed) (?:allowed )?(?:size|number of bytes) )"
    );
    TOKENS = r" (?:tokens?|context|tpm|tpd|itpm) ";
    LOOSE = r" (?:too many tokens |(?:token|tokens|context) limit (?:\w+ )?(?:exceeded|reached)|request too large for (?:this |the )?model )";
    NOUN = r" (?:context (?:window|length|size|limit)|(?:n|num) ctx|max (?:model|seq) len|max position embeddings|max(?:imum)? (?:allowed |model )?(?:input|prompt|sequence|model|context)? ?(?:length|len)|prompt is too long|(?:prompt|input) tokens?) ";
    ANY_SENT = concat!(" ", sent!(), " ");
    SETTING = r" (?:range of |invalid |value of |value for )?(?:max(?:imum)? (?:(?:output|completion|new|generated|response) )?|number of (?:output|completion|new|generated|response) )tokens? ";
    SET_WRONG = concat!(
        "^(?:(?:or|value|values|parameter|setting|you|requested|for|this|model|in|the|request|of|:|=|is|was|set|to|\\d+|max|completion|output|new|tokens?|\\(|\\)) ){0,10}",
        "(?:too (?:large|high|big|small|low)|(?:must|should|has to) (?:not exceed|be (?:<|>|less|more|at |between|within|in |a |positive|greater|smaller|lower|higher|no |\\[))|cannot (?:be|exceed)|can not (?:be|exceed)|exceeds?|invalid|(?:integer )?(?:above|below) (?:the )?(?:maximum|minimum)|> \\d|>=|is not|but the supported range|range|\\[ \\d|larger than|greater than|between)"
    );
    SUPPORTS = r" (?:supports?|allows?|accepts?) (?:at most|up to|only|a maximum of|max) \d+ (?:completion|output) tokens? ";
    BEFORE_SETTING = concat!(" (?:", sent!(), " ", gap!("4"), r"(?:and|\+|plus|or)|exceed\w*|more than|than|larger|greater|reduce|decrease|fewer|lower|less|input) $");
}

/// Reads an error text of a provider: plain, JSON, JSON in JSON, with a status or a name in front. What a user, an agent or a
/// tool says must not come here.
pub fn classify(error: &str) -> Verdict {
    let text = plain(error);
    let of_output = is_output_setting(&text);
    let named = numbers::read(&text, of_output);
    let class = if of_output { Class::OutputSetting } else { class(&text, named) };
    let (limit, used) = match class {
        Class::Overflow | Class::Billing | Class::OutputSetting => (named.limit, named.used),
        Class::Rate if TOKENS.is_match(&text) => (named.limit, named.requested),
        Class::Rate | Class::Bytes | Class::None => (None, None),
    };
    Verdict { class, limit, used }
}

fn class(text: &str, named: Named) -> Class {
    let status = status(text);
    let above = matches!((named.limit, named.used), (Some(limit), Some(used)) if limit < used);
    let per_time = PER_TIME.is_match(text);
    let rate = per_time || RATE.is_match(text) || CHINESE_RATE.is_match(text);
    let elsewhere = ELSEWHERE.is_match(text);
    if status == Some(402) || BILLING.is_match(text) || CHINESE_BILLING.is_match(text) {
        return Class::Billing;
    }
    let of_account = ACCOUNT.is_match(text) || rate && PLAN.is_match(text);
    if of_account && !per_time && !RETRY.is_match(text) {
        return Class::Billing;
    }
    if asserted(&CODE, text) || NO_BODY.is_match(text) {
        return Class::Overflow;
    }
    let in_tokens = TOKENS.is_match(text);
    let sized = SIZE.is_match(text);
    if above && !per_time && !elsewhere && NOUN.is_match(text) && (in_tokens || !sized) {
        return Class::Overflow;
    }
    if rate {
        return Class::Rate;
    }
    let limited = named.limit.is_some() && in_tokens;
    let said = asserted(&SAID, text) || CHINESE.is_match(text);
    if sized && !limited && !(said && in_tokens) {
        return Class::Bytes;
    }
    let figures = in_tokens && ANY_SENT.is_match(text) && (above || limited && sized);
    if !elsewhere && (said || figures || asserted(&LOOSE, text)) {
        return Class::Overflow;
    }
    match status {
        Some(413) => Class::Bytes,
        Some(429 | 529) => Class::Rate,
        _ => Class::None,
    }
}

/// The HTTP status a text begins with or names as its code.
fn status(text: &str) -> Option<u16> {
    let found = STATUS.captures(text)?;
    found.get(1).or(found.get(2))?.as_str().parse().ok()
}

/// Whether a pattern stands in the text as a statement, not as a condition or a subject of talk.
fn asserted(pattern: &Regex, text: &str) -> bool {
    pattern.find_iter(text).any(|found| {
        let before = text.get(..=found.start()).unwrap_or("");
        let start = before.rfind([';', '.', '!', '?']).map_or(0, |at| at + 1);
        let behind = text.get(found.end()..).unwrap_or("");
        !TALK.is_match(before.get(start..).unwrap_or("")) && !TALKED.is_match(behind.trim_start())
    })
}

/// Whether the error is about the output setting alone.
fn is_output_setting(text: &str) -> bool {
    let wrong = SETTING.find_iter(text).any(|found| {
        let before = text.get(..=found.start()).unwrap_or("");
        let start = before.rfind([';', '.', '!', '?']).map_or(0, |at| at + 1);
        let behind = text.get(found.end()..).unwrap_or("");
        let is_said = ["range of", "invalid"].iter().any(|word| found.as_str().contains(word));
        (is_said || SET_WRONG.is_match(behind)) && !BEFORE_SETTING.is_match(before.get(start..).unwrap_or(""))
    });
    wrong || SUPPORTS.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, class: Class) {
        assert_eq!(classify(text).class, class, "{text}");
    }

    #[test]
    fn what_a_text_says_first_is_not_always_what_it_is() {
        check("429 Too many requests: prompt is too long", Class::Rate);
        check("429 prompt is too long: 210000 tokens > 200000 maximum", Class::Overflow);
        check("Throttled. context_length_exceeded", Class::Overflow);
        check("context size exceeded, too many tokens in one request", Class::Overflow);
        check("too many tokens, please wait", Class::Rate);
        check("prompt is too long after a second attempt", Class::Overflow);
        check("402: prompt tokens limit exceeded: 9 > 8", Class::Billing);
        check("monthly spend limit hit, raise it in the settings", Class::Billing);
        check("413 Payload Too Large", Class::Bytes);
        check("413 request too large, the limit is 8000 tokens", Class::Overflow);
        check("prompt is too long, see https://a.example/rate-limits/billing", Class::Overflow);
        check("max_tokens is too large: 9000", Class::OutputSetting);
        check("prompt and max_tokens exceed the context window", Class::Overflow);
        check("the prompt exceeds the memory of the GPU", Class::None);
        check("400 status code (no body)", Class::None);
    }

    #[test]
    fn amounts_of_rates_are_those_of_the_request() {
        let verdict = classify("tokens per minute: limit 8,000, used 7,000, requested 1,500");
        assert_eq!(verdict, Verdict { class: Class::Rate, limit: Some(8_000), used: Some(1_500) });
        let verdict = classify("requests per minute: limit 80, requested 90");
        assert_eq!(verdict, Verdict { class: Class::Rate, limit: None, used: None });
    }

    #[test]
    fn names_are_those_of_the_wire() {
        let of_output = Class::OutputSetting;
        assert_eq!(serde_json::to_string(&of_output).unwrap(), format!("\"{}\"", of_output.name()));
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in any::<String>(), signs in "[a-z0-9 {}\\[\\]\":\\\\,.'_<>/+-]{0,60}") {
            let text = text + &signs;
            prop_assert_eq!(classify(&text), classify(&text));
            prop_assert_eq!(classify(&format!(" {text} ")).class, classify(&text).class);
        }
    }
}
