//! Ids of tool calls as Anthropic wants them: of letters, digits, `_` and `-`, and each only once in a conversation.
//! Calls that came from other vendors may have ids that are unique in their turn alone.

use std::borrow::Cow;

/// The ids given to a conversation's calls so far.
#[derive(Debug, Default)]
pub(super) struct CallIds<'a> {
    given: Vec<(&'a str, Cow<'a, str>)>,
}

impl<'a> CallIds<'a> {
    /// The id for the next call.
    pub(super) fn of_call(&mut self, id: &'a str) -> Cow<'a, str> {
        let mut unique = clean(id);
        let mut again = 1;
        while self.given.iter().any(|(_, given)| *given == unique) {
            again += 1;
            unique = Cow::Owned(format!("{}_{again}", clean(id)));
        }
        self.given.push((id, unique.clone()));
        unique
    }

    /// The id of the latest call that came with this one.
    pub(super) fn of_result(&self, id: &'a str) -> Cow<'a, str> {
        let call = self.given.iter().rfind(|(call, _)| *call == id);
        call.map_or_else(|| clean(id), |(_, given)| given.clone())
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
    fn characters_that_are_refused_are_replaced_alike_in_call_and_result() {
        let mut ids = CallIds::default();
        assert_eq!(ids.of_call("fc:1/é"), "fc_1__");
        assert_eq!(ids.of_result("fc:1/é"), "fc_1__");
        assert_eq!(ids.of_call(""), "call");
    }
}
