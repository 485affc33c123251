//! `sylvan serve`: translation over HTTP.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sylvan_serve::{Config, Named, Server, told_to_stop};

use crate::threads::Threads;

/// Translates over HTTP, for clients of LibreTranslate and DeepL.
///
/// Models are opened once and shared by all threads. A model whose file is replaced is opened again, and so are all on a
/// hang-up signal; requests that are under way keep the one that they began with. The server ends when it is told to, after
/// it has answered what was begun. Encryption is left to a proxy.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan serve --model deen.sylvan\n  \
    sylvan serve --model de:en=a.sylvan --model en:de=b.sylvan --port 8000 --api-keys keys.txt\n  \
    curl -d 'q=Guten Tag&source=de&target=en' http://127.0.0.1:5000/translate")]
pub(crate) struct Serve {
    /// A model, with its languages if it does not know them (de:en=MODEL); repeat the option for several.
    #[arg(long, value_name = "MODEL", required = true)]
    model: Vec<Named>,
    /// The port.
    #[arg(long, value_name = "PORT", default_value = "5000")]
    port: u16,
    /// The address to listen at; 0.0.0.0 is all of them.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// A file with a key per line; requests must have one of them.
    #[arg(long, value_name = "FILE")]
    api_keys: Option<PathBuf>,
    /// Where glossaries are kept that clients send; MODEL.glossaries by default.
    #[arg(long, value_name = "DIR")]
    glossaries: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    /// Sentences that may wait; what is beyond is refused.
    #[arg(long, value_name = "N", default_value = "1000")]
    queue: usize,
    /// Characters of a text.
    #[arg(long, value_name = "N")]
    char_limit: Option<usize>,
    /// Texts of a request.
    #[arg(long, value_name = "N")]
    batch_limit: Option<usize>,
    /// Seconds that a request may take; search narrows before they are over.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Bytes of a file.
    #[arg(long, value_name = "BYTES", default_value = "8388608")]
    file_limit: usize,
    /// Seconds that a request with a file may take.
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = clap::value_parser!(u64).range(1..))]
    file_timeout: u64,
}

impl Serve {
    #[allow(clippy::print_stderr)]
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut config = Config::new(self.model, SocketAddr::new(self.host, self.port));
        config.threads = self.threads.count();
        config.keys = self.api_keys;
        config.glossaries = self.glossaries;
        config.limits.queue = self.queue;
        config.limits.characters = self.char_limit;
        config.limits.texts = self.batch_limit;
        config.limits.request = Duration::from_secs(self.timeout);
        config.limits.file = self.file_limit;
        config.limits.file_time = Duration::from_secs(self.file_timeout);
        let server = Server::bind(config)?;
        if let Some(address) = server.address() {
            eprintln!("listening at http://{address}");
        }
        server.run(told_to_stop(), |said| eprintln!("{said}"));
        Ok(())
    }
}
