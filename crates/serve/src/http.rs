//! Connections: taken, limited in number and time, and let go when the server stops.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use sylvan::{Error, Result};
use sylvan_base::InputError;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::Config;
use crate::api::{Counts, Shared, router};
use crate::glossaries::Glossaries;
use crate::hosts::Hosts;
use crate::pool::Pool;
use crate::shelf::Shelf;
use crate::stream::Patient;

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    shared: Arc<Shared>,
}

impl Server {
    /// Opens the models and listens. Nobody is answered before [`run`](Self::run).
    pub fn bind(config: Config) -> Result<Self> {
        let keys = config.keys.as_ref().map(|path| {
            let text = std::fs::read_to_string(path).map_err(InputError::io(path, "read"))?;
            let keys = text.lines().map(str::trim).filter(|key| !key.is_empty() && !key.starts_with('#'));
            let keys: Vec<String> = keys.map(str::to_string).collect();
            if keys.is_empty() {
                return Err(Error::from(InputError::Format {
                    path: path.clone(),
                    found: "no keys".into(),
                    expected: "a key per line".into(),
                    advice: "leave the option out to need none".into(),
                }));
            }
            Ok(keys)
        });
        let keys = keys.transpose()?;
        let beside = || {
            let first = config.models.first().map(|model| model.path.clone()).unwrap_or_default();
            let mut name = first.into_os_string();
            name.push(".glossaries");
            PathBuf::from(name)
        };
        let glossaries = Glossaries::open(config.glossaries.unwrap_or_else(beside))?;
        let hosts = Hosts::open(config.models)?;
        // Connections cost little: the work is done by the pool.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let name = config.address.to_string();
        let failed = |error: std::io::Error| InputError::io(name.as_str(), "listen at")(error);
        let runtime = runtime.map_err(failed)?;
        let listener = runtime.block_on(TcpListener::bind(config.address)).map_err(failed)?;
        let pool = Pool::new(config.threads, config.limits.queue);
        let shared = Shared {
            learns: keys.is_some() || config.address.ip().is_loopback(),
            hosts,
            glossaries,
            pool,
            limits: config.limits,
            keys,
            stopping: AtomicBool::new(false),
            counts: Counts::default(),
            files: Shelf::default(),
        };
        Ok(Self { runtime, listener, shared: Arc::new(shared) })
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Answers until it is told to stop; requests that were begun then get some more time. Models whose files are replaced,
    /// or all of them on a hang-up signal, are opened again beside those in use; `say` gets what there is to tell about that.
    pub fn run(self, stop: impl Future<Output = ()> + Send, say: fn(&str)) {
        let Self { runtime, listener, shared } = self;
        runtime.block_on(async {
            let (open, closing) = watch::channel(());
            let router = router(Arc::clone(&shared));
            let places = Arc::new(Semaphore::new(shared.limits.connections));
            let watching = tokio::spawn(keep_up(Arc::clone(&shared), say));
            tokio::pin!(stop);
            loop {
                let (stream, place) = tokio::select! {
                    accepted = accept(&listener, &places) => accepted,
                    () = &mut stop => break,
                };
                tokio::spawn(converse(
                    stream,
                    place,
                    router.clone(),
                    Arc::clone(&shared),
                    Some(closing.clone()),
                ));
            }
            shared.stopping.store(true, Ordering::Relaxed);
            watching.abort();
            drop(closing);
            // Connections let go when their receivers hear this, and the sender hears when all have.
            let _ = open.send(());
            // Who comes meanwhile is told that the server stops.
            let others = async {
                loop {
                    let (stream, place) = accept(&listener, &places).await;
                    tokio::spawn(converse(stream, place, router.clone(), Arc::clone(&shared), None));
                }
            };
            tokio::select! {
                _ = tokio::time::timeout(shared.limits.stopping, open.closed()) => {}
                () = others => {}
            }
        });
        runtime.shutdown_background();
    }
}

/// The next connection, and its place among those that there may be. Whoever comes when all places are taken waits in the
/// system's own queue.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    let place = Arc::clone(places).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, place),
            // Out of file handles, most likely: others will be closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Answers the requests of a connection, until it ends, or after the one that it is at if the server stops.
async fn converse(
    stream: TcpStream,
    place: Option<OwnedSemaphorePermit>,
    router: Router,
    shared: Arc<Shared>,
    closing: Option<watch::Receiver<()>>,
) {
    let _place = place;
    // Answers are written at once; they are not kept back to wait for more.
    let _ = stream.set_nodelay(true);
    let stream = Patient::new(stream, shared.limits.answer);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(shared.limits.header);
    // The router takes requests as they come from a connection.
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    tokio::pin!(connection);
    if let Some(mut closing) = closing {
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = closing.changed() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    } else {
        let _ = connection.await;
    }
}

/// Opens models again whose files have changed.
async fn keep_up(shared: Arc<Shared>, say: fn(&str)) {
    let mut hang_up = HangUp::new();
    // Files that could not be opened are not tried again before they change.
    let mut tried = None;
    loop {
        let told = tokio::select! {
            () = tokio::time::sleep(LOOK) => false,
            () = hang_up.heard() => true,
        };
        let newer = shared.hosts.newer();
        if !told && (newer.is_none() || newer == tried) {
            continue;
        }
        tried = newer;
        let shared = Arc::clone(&shared);
        // Opening a model takes longer than connections should wait.
        let opened = tokio::task::spawn_blocking(move || shared.hosts.reload(told)).await;
        match opened {
            Ok(Ok(count)) => say(&format!("opened again: {count} of the models")),
            Ok(Err(error)) => say(&format!("the models stay as they were: {error}")),
            Err(_) => {}
        }
    }
}

/// Signals to open files again, where there are signals.
#[cfg(unix)]
struct HangUp(Option<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl HangUp {
    fn new() -> Self {
        Self(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok())
    }

    async fn heard(&mut self) {
        match &mut self.0 {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
struct HangUp;

#[cfg(not(unix))]
impl HangUp {
    fn new() -> Self {
        Self
    }

    async fn heard(&mut self) {
        std::future::pending().await
    }
}

/// Waits until the system or the user wants the program to end.
pub async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut end) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = end.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
