//! `tollgate password`: a line of a users file, for a password that is read from stdin and never shown.
//!
//! Hashing passwords and the format of a line are the gateway's (its users file).

use std::io::{self, BufRead, IsTerminal, Read, Write};

use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tollgate_gateway::auth::{self, PASSWORD_BYTES_MAX};

use crate::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  tollgate password ann --group editors >> users      asks for the password twice, and shows it never
  pass show tollgate/ann | tollgate password ann >> users
  tollgate serve --users users

The line is name:hash:groups; the hash is Argon2id with 19 MiB, 2 passes and 1 lane, the least that OWASP recommends. It takes the gateway some 20 ms to verify. A running gateway reads the file again on SIGHUP.";

/// Arguments of `password`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The user
    #[arg(value_name = "NAME")]
    pub(super) name: String,

    /// A group that the user is of, which rules may name; may be said several times
    #[arg(long = "group", value_name = "GROUP")]
    pub(super) groups: Vec<String>,
}

/// Prints the line.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let password = match io::stdin().is_terminal() {
        true => asked()?,
        false => piped(io::stdin().lock()).map_err(unreadable)?,
    };
    let line = auth::line(&arguments.name, &password, &arguments.groups).map_err(Failure::usage)?;
    writeln!(out, "{line}").map_err(Failure::output)?;
    Ok(Exit::Done)
}

fn unreadable(error: io::Error) -> Failure {
    Failure::failed(format_args!("cannot read the password: {error}"))
}

/// The whole input without its line end. One byte too many is kept, so that the user of the limit reports it.
fn piped(stdin: impl Read) -> io::Result<Vec<u8>> {
    let mut password = Vec::new();
    stdin.take(PASSWORD_BYTES_MAX as u64 + 3).read_to_end(&mut password)?;
    without_line_end(&mut password);
    Ok(password)
}

/// Prompts at a terminal, twice.
fn asked() -> Result<Vec<u8>, Failure> {
    let silence = Silence::begin().map_err(unreadable)?;
    let ask = |prompt: &str| -> io::Result<Vec<u8>> {
        // The result goes to stdout.
        let mut stderr = io::stderr().lock();
        write!(stderr, "{prompt}: ")?;
        stderr.flush()?;
        let mut password = Vec::new();
        io::stdin().lock().take(PASSWORD_BYTES_MAX as u64 + 3).read_until(b'\n', &mut password)?;
        writeln!(stderr)?;
        without_line_end(&mut password);
        Ok(password)
    };
    let first = ask("password").map_err(unreadable)?;
    let second = ask("the same again").map_err(unreadable)?;
    drop(silence);
    match first == second {
        true => Ok(first),
        false => Err(Failure::usage("the two passwords differ")),
    }
}

fn without_line_end(password: &mut Vec<u8>) {
    if password.ends_with(b"\n") {
        password.pop();
        if password.ends_with(b"\r") {
            password.pop();
        }
    }
}

/// A terminal that does not echo input, until this is dropped.
struct Silence {
    before: Termios,
}

impl Silence {
    fn begin() -> io::Result<Silence> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Silence { before })
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // There is nobody to be told on a terminal that is gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_ends_with_its_line_and_keeps_its_blanks() {
        for (bytes, expected) in [
            ("secret", "secret"),
            ("secret\n", "secret"),
            ("secret\r\n", "secret"),
            (" a b \n", " a b "),
            ("a\n\n", "a\n"),
            ("", ""),
        ] {
            assert_eq!(piped(bytes.as_bytes()).unwrap(), expected.as_bytes(), "{bytes:?}");
        }
        let long = vec![b'a'; 4 * PASSWORD_BYTES_MAX];
        assert!(piped(&long[..]).unwrap().len() > PASSWORD_BYTES_MAX);
    }
}
