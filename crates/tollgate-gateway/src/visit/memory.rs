//! Memory of one event loop that its requests use one after the other, so that most allocate none.
//!
//! It is empty between two requests, except for the plans of URLs.

use std::cell::RefCell;

use tollgate_net::http1::server::Exchange;
use tollgate_net::stream::Transport;
use tollgate_xml::Workspace;

use super::plans::Plans;
use crate::http::answer::Answer;

/// Memory of one event loop.
#[derive(Default)]
pub(crate) struct LoopMemory {
    // Texts of service roots, used again: a request then allocates none.
    texts: RefCell<Vec<String>>,
    // Answers to requests that write, used again too.
    answers: RefCell<Vec<Answer>>,
    /// Memory of the last message, for the next. Must not be borrowed across a wait.
    pub(crate) workspace: RefCell<Workspace>,
    /// Plans of URLs that come again.
    pub(crate) plans: Plans,
}

/// Texts and answers kept by a loop: more requests seldom wait at once.
const TEXTS_MAX: usize = 16;

/// Largest kept answer.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

impl LoopMemory {
    /// `http://host/root/`, or `https://…`, as the client sees it: from its `Host`, which the engine has checked to be
    /// a name or an address; without one (HTTP/1.0) from the socket. `X-Forwarded-*` is ignored, since any client can
    /// send it.
    pub(crate) fn service_root(&self, exchange: &Exchange<'_>, root: &str) -> String {
        let mut text = self.texts.borrow_mut().pop().unwrap_or_default();
        text.push_str(match exchange.transport() {
            Transport::Plain => "http://",
            Transport::Tls { .. } => "https://",
        });
        match exchange.request().host() {
            Some(host) => text.push_str(host),
            None => text.push_str(&exchange.local().to_string()),
        }
        text.push_str(root);
        text
    }

    /// Keeps a text for the next request.
    pub(crate) fn give_text(&self, mut text: String) {
        text.clear();
        let mut texts = self.texts.borrow_mut();
        if texts.len() < TEXTS_MAX {
            texts.push(text);
        }
    }

    /// An empty answer for a writing request.
    pub(crate) fn take_answer(&self) -> Answer {
        self.answers.borrow_mut().pop().unwrap_or_default()
    }

    /// Keeps an answer for the next request.
    pub(crate) fn give_answer(&self, mut answer: Answer) {
        if answer.body.capacity() > ANSWER_BYTES_MAX {
            return;
        }
        answer.clear();
        let mut answers = self.answers.borrow_mut();
        if answers.len() < TEXTS_MAX {
            answers.push(answer);
        }
    }
}
