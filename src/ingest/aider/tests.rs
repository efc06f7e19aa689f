use super::super::ingest;
use super::super::sketch::check;
use crate::fileops;
use crate::transcript::{Outcome, Part};

const ORDINARY: &str = "
# aider chat started at 2026-01-02 03:04:05

> Aider v0.60.0  
> Main model: m-1 with diff edit format  
> Git working dir: /w  

#### /add src/a.rs  
> Added src/a.rs to the chat  

#### please fix  
####   
#### the bug  

I fix it:

src/a.rs
```rust
<<<<<<< SEARCH
fn a() {}
=======
fn a() { b() }
>>>>>>> REPLACE
```

and the other:

```
src/b.rs
<<<<<<< SEARCH
x
=======
y
>>>>>>> REPLACE
<<<<<<< SEARCH
z
=======
>>>>>>> REPLACE
```
That is all.

> Tokens: 1k sent, 2k received.  
> Applied edit to src/a.rs  
> # 1 SEARCH/REPLACE block failed to match!  
> in src/b.rs  

# aider chat started at 2026-01-03 03:04:05
> Aider v0.60.0  

#### /ask why?  

> a quotation is taken for the program's
Because.
";

#[test]
fn sessions_prompts_edits_and_their_results() {
    let read = ingest(ORDINARY.as_bytes(), "dir/.aider.chat.history.md");
    assert_eq!(read.evidence, "has the header of an aider chat");
    assert_eq!((read.raw.messages, read.raw.tool_calls), (7, 3));
    let [first, second] = read.sessions.as_slice() else { panic!("{read:#?}") };
    assert_eq!(first.check(), Vec::<String>::new());
    assert_eq!(first.model.as_deref(), Some("m-1"));
    assert_eq!(first.main_cwd(), Some("/w"));
    let sizes = |index: usize| first.messages[index].parts.len();
    assert_eq!((first.messages.len(), sizes(3), sizes(4)), (5, 6, 3));
    assert_eq!(first.messages[2].authored_text(), "please fix\n\nthe bug");
    let outcomes: Vec<_> =
        first.links.iter().map(|link| first.result(link).map(|result| result.outcome)).collect();
    assert_eq!(outcomes, [Some(Outcome::Ok), Some(Outcome::Failed), Some(Outcome::Failed)]);
    let paths: Vec<String> = first
        .links
        .iter()
        .filter_map(|link| first.call(link))
        .flat_map(|call| fileops::of_call(&call.name, &call.arguments, None).ops)
        .map(|op| op.path.clone())
        .collect();
    assert_eq!(paths, ["src/a.rs", "src/b.rs", "src/b.rs"]);
    assert_eq!(second.messages[0].authored_text(), "/ask why?");
    assert_eq!(second.id, ".aider.chat.history#2");
}

#[test]
fn whole_files_patches_and_edits_not_found() {
    let log = "> Applied edit to old  \n\n#### do\n\na.txt\n```\nnew\n```\n\n```diff\n--- b.txt\n+++ b.txt\n@@ @@\n-x\n+y\n```\n\n\
               c.txt\n```\nonly shown\n```\n\n> Applied edit to a.txt  \n> Applied edit to b.txt  \n> Applied edit to d.txt  \n";
    let (session, _) = check(
        log,
        &[
            r#"U "do""#,
            r#"A write_file#L6.0 apply_diff#L10.1 "c.txt\n```\nonly shown\n```" edit_file#L5.2"#,
            r#"T L6.0=ok "Applied edit to a.txt" L10.1=ok "Applied edit to b.txt" L5.2=ok "Applied edit to d.txt""#,
        ],
    );
    let Part::Call(call) = &session.messages[1].parts[0] else { panic!("{session:?}") };
    assert_eq!(call.arguments, r#"{"path":"a.txt","content":"new"}"#);
}

#[test]
fn cut_off_anywhere() {
    for cut in 0..ORDINARY.len() {
        for session in ingest(&ORDINARY.as_bytes()[..cut], "x.md").sessions {
            assert_eq!(session.check(), Vec::<String>::new(), "cut at {cut}");
        }
    }
}
