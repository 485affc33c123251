//! `sylvan completions`: what the shell offers when the tabulator key is pressed.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use sylvan_base::InputError;

/// Writes the completions of a shell to standard output.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sylvan completions bash > ~/.local/share/bash-completion/completions/sylvan\n  \
    sylvan completions zsh > ~/.zfunc/_sylvan\n  sylvan completions fish > ~/.config/fish/completions/sylvan.fish"
)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Arguments::command(), "sylvan", &mut text);
        std::io::Write::write_all(&mut std::io::stdout(), &text).map_err(InputError::io("-", "write"))?;
        Ok(())
    }
}
