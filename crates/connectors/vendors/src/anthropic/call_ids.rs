//! Ids of tool calls as Anthropic wants them: of letters, digits, `_` and `-`, and each only once in a conversation.
//! Calls that came from other vendors may have ids that are unique in their turn alone.

use std::{borrow::Cow, collections::HashMap};

/// The ids given to a conversation's calls so far.
#[derive(Debug, Default)]
pub(super) struct CallIds<'a> {
    /// The latest by the id that the call came with.
    given: HashMap<&'a str, Cow<'a, str>>,
    /// Every id given, with the last number that was tried to tell another call from it.
    tried: HashMap<Cow<'a, str>, u32>,
}

impl<'a> CallIds<'a> {
    /// The id for the next call.
    pub(super) fn of_call(&mut self, id: &'a str) -> Cow<'a, str> {
        let wish = clean(id);
        let mut again = self.tried.get(&wish).copied().unwrap_or(0);
        let mut unique = wish.clone();
        while self.tried.contains_key(&unique) {
            again += 1;
            unique = Cow::Owned(format!("{wish}_{again}"));
        }
        // Where the search ended is where it goes on: no id is tried twice for one wish.
        self.tried.insert(wish, again.max(1));
        self.tried.entry(unique.clone()).or_insert(1);
        self.given.insert(id, unique.clone());
        unique
    }

    /// The id of the latest call that came with this one.
    pub(super) fn of_result(&self, id: &'a str) -> Cow<'a, str> {
        self.given.get(id).cloned().unwrap_or_else(|| clean(id))
    }
}

fn clean(id: &str) -> Cow<'_, str> {
    let taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.is_empty() && id.chars().all(taken) {
        return Cow::Borrowed(id);
    }
    let replaced = id.chars().map(|c| if taken(c) { c } else { '_' }).collect::<String>();
    Cow::Owned(if replaced.is_empty() { "call".to_owned() } else { replaced })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_used_again_in_a_later_turn_gets_one_of_its_own() {
        let mut ids = CallIds::default();
        assert_eq!(ids.of_call("call_0"), "call_0");
        assert_eq!(ids.of_result("call_0"), "call_0");
        assert_eq!(ids.of_call("call_0"), "call_0_2");
        assert_eq!(ids.of_result("call_0"), "call_0_2");
        assert_eq!(ids.of_call("call_0"), "call_0_3");
    }

    #[test]
    fn an_id_that_another_got_is_passed_over() {
        let mut ids = CallIds::default();
        let given = ["a", "a_2", "a", "a", "a_2"].map(|id| ids.of_call(id).into_owned());
        assert_eq!(given, ["a", "a_2", "a_3", "a_4", "a_2_2"]);
    }

    #[test]
    fn a_hundred_thousand_calls_of_one_id_are_told_apart_in_one_go() {
        let mut ids = CallIds::default();
        let given = (0..100_000).map(|_| ids.of_call("call_0")).collect::<std::collections::HashSet<_>>();
        assert_eq!(given.len(), 100_000);
        assert_eq!(ids.of_result("call_0"), "call_0_100000");
    }

    #[test]
    fn characters_that_are_refused_are_replaced_alike_in_call_and_result() {
        let mut ids = CallIds::default();
        assert_eq!(ids.of_call("fc:1/é"), "fc_1__");
        assert_eq!(ids.of_result("fc:1/é"), "fc_1__");
        assert_eq!(ids.of_call(""), "call");
    }
}
