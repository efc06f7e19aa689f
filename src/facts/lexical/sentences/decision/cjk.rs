//! Choices in Chinese, Japanese and Korean.

use super::super::contains_any;
use crate::facts::Author;

/// The words and forms of a choice in Chinese, Japanese and Korean.
pub(super) fn chooses_cjk(sentence: &str, author: Author) -> bool {
    contains_any(
        sentence,
        &[
            "决定用",
            "选用",
            "我选",
            "就按",
            "选方案",
            "用方案",
            "でいきま",
            "で行きま",
            "使いましょう",
            "にしましょう",
            "を採用",
            "로 하자",
            "로 가자",
            "로 하겠",
            "就选",
            "决定使用",
            "决定采用",
            "我们决定",
            "最终决定",
            "决定了",
            "就用",
            "改用",
            "我们采用",
            "最终采用",
            "选择使用",
            "选用了",
            "定为",
            "就这么定",
            "にします",
            "に決め",
            "を採用し",
            "ことにし",
            "に設定し",
            "を選び",
            "を選択し",
            "に決定",
            "決定です",
            "로 결정",
            "하기로 했",
        ],
    ) || takes_cjk(sentence, author)
}

/// The forms of a choice in Chinese and Japanese: one thing against another, a parameter fixed, a reason given.
fn takes_cjk(sentence: &str, author: Author) -> bool {
    let user = author == Author::User;
    let has = |list: &[&str]| contains_any(sentence, list);
    let against = (user || has(&["我", "现在", "改", "选", "采用", "にし", "使っ", "使い"]))
        && has(&["而不是", ",不是", ",不要", ",先不", "ではなく", "せず、", "せず,"]);
    let fixed =
        user && has(&[
            "改成",
            "改为",
            "默认",
            "既定値",
            "上限",
            "封顶",
            "最多",
            "超时",
            "每次",
            "设为",
            "设成",
            "设置为",
            "定为",
            "用 ",
            "时间：",
            "时间:",
            "阈值",
            "最大",
            "最小",
            "にして",
            "に設定",
            "タイムアウト",
            "間隔",
        ]) && (has(&["改成", "改为", "设为", "设成"]) || !has(&["现在是", "了 ", "目前"]))
            && has_number(sentence);
    let reason = has(&["因为", "以便", "这样", "所以", "以免", "免得", "为了", "避免", "ため", "ので"])
        || !user && has(&["ように"]);
    let made = has(&[
        "我把",
        "我用",
        "我将",
        "我会",
        "我改",
        "我加",
        "我保留",
        "我只",
        "我让",
        "我在",
        "加入了",
        "改用",
        "采用",
        "设为",
        "改成了",
        "换成了",
        "移到了",
        "拆成了",
        "合并成",
        "去掉了",
        "に変え",
        "に移し",
        "不用在",
        "にしました",
        "にしておきます",
    ]) || user && has(&["ないで", "してください", "にして"]);
    // ので and its like before the verb that makes: "一度だけ読み、引数で渡します。"
    let told = !user
        && has(&["ので、", "ため、", "ように、"])
        && has(&["ます。", "ました。"])
        && !has(&[
            "失敗",
            "エラー",
            "落ち",
            "なります",
            "ています",
            "やり直",
            "ません",
            "壊れ",
            "確認",
            "調べ",
            "実行し",
            "見ます",
            "思い",
        ]);
    let defaults = user && has(&["默认用", "默认使用", "默认为", "默认关闭", "默认开启", "默认不"]);
    against || fixed || reason && made || told || defaults
}

/// A number that is no piece of a name.
fn has_number(sentence: &str) -> bool {
    let bytes = sentence.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| {
        byte.is_ascii_digit()
            && !at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(u8::is_ascii_alphanumeric)
    })
}
