//! Connections: unauthenticated ones (without the token so far) and authenticated ones.
//!
//! Responsible for: limits that prevent unauthenticated connections from blocking authenticated ones. Few
//! unauthenticated connections are allowed, a new one evicts the oldest, and authenticated ones have a
//! separate limit. Independent of the content of a connection.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Grace period of an evicted unauthenticated connection: its request may have arrived but not been read.
const LAST_WORD: Duration = Duration::from_millis(250);
/// Factor of the limit while evicted connections are closing.
const CROWD: usize = 3;

/// All connections.
#[derive(Debug)]
pub(crate) struct Clients {
    table: Mutex<Table>,
    /// Permits of unauthenticated connections, including closing ones.
    door: Arc<Semaphore>,
    strangers: usize,
    guests: usize,
}

#[derive(Debug, Default)]
struct Table {
    last: u64,
    /// Connections that are not evicted, by sequence number; each has a notification.
    strangers: BTreeMap<u64, Arc<Notify>>,
    guests: usize,
}

/// A connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct Client {
    all: Arc<Clients>,
    number: u64,
    bell: Arc<Notify>,
    guest: AtomicBool,
    place: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Clients {
    /// Creates the table with the limits of both kinds.
    pub(crate) fn new(strangers: usize, guests: usize) -> Arc<Self> {
        let strangers = strangers.max(1);
        let door = Arc::new(Semaphore::new(CROWD * strangers));
        Arc::new(Self { table: Mutex::default(), door, strangers, guests })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another connection is allowed: at most the grace period.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        Arc::clone(&self.door).acquire_owned().await.ok()
    }

    /// Registers an unauthenticated connection; evicts the oldest above the limit.
    pub(crate) fn enter(self: &Arc<Self>, place: Option<OwnedSemaphorePermit>) -> Client {
        let bell = Arc::new(Notify::new());
        let mut table = self.table();
        table.last += 1;
        let number = table.last;
        while table.strangers.len() >= self.strangers {
            let Some((_, first)) = table.strangers.pop_first() else { break };
            first.notify_one();
        }
        table.strangers.insert(number, Arc::clone(&bell));
        drop(table);
        let place = Mutex::new(place);
        Client { all: Arc::clone(self), number, bell, guest: AtomicBool::new(false), place }
    }
}

impl Client {
    /// Marks the connection as authenticated. False if the limit of authenticated connections is reached.
    pub(crate) fn shows_token(&self) -> bool {
        if self.is_guest() {
            return true;
        }
        let mut table = self.all.table();
        if table.guests >= self.all.guests {
            return false;
        }
        table.guests += 1;
        table.strangers.remove(&self.number);
        self.guest.store(true, Ordering::SeqCst);
        drop(table);
        self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
        true
    }

    /// True if the connection is authenticated.
    pub(crate) fn is_guest(&self) -> bool {
        self.guest.load(Ordering::SeqCst)
    }

    /// Waits until an unauthenticated connection must close: evicted, or after `patience`. Never for
    /// authenticated ones.
    pub(crate) async fn has_to_go(&self, patience: Duration) {
        let rung = self.bell.notified();
        if tokio::time::timeout(patience, rung).await.is_ok() {
            tokio::time::sleep(LAST_WORD.min(patience)).await;
        }
        if self.is_guest() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut table = self.all.table();
        if self.is_guest() {
            table.guests = table.guests.saturating_sub(1);
        } else {
            table.strangers.remove(&self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(all: &Clients) -> (usize, usize) {
        let table = all.table();
        (table.strangers.len(), table.guests)
    }

    async fn goes(client: &Client) -> bool {
        let soon = LAST_WORD + Duration::from_millis(200);
        tokio::time::timeout(soon, client.has_to_go(Duration::from_secs(60))).await.is_ok()
    }

    #[tokio::test]
    async fn the_first_stranger_goes_and_no_guest() {
        let all = Clients::new(2, 2);
        let guest = all.enter(all.place().await);
        assert!(guest.shows_token() && guest.shows_token());
        let (first, second) = (all.enter(all.place().await), all.enter(all.place().await));
        assert_eq!(counts(&all), (2, 1));
        let third = all.enter(all.place().await);
        assert_eq!(counts(&all), (2, 1));
        assert!(goes(&first).await && !goes(&second).await && !goes(&third).await && !goes(&guest).await);
        // Authenticated connections are also limited; a permit is free after one closes.
        assert!(second.shows_token());
        assert!(!third.shows_token());
        drop(guest);
        assert!(third.shows_token());
        drop((first, second, third));
        assert_eq!(counts(&all), (0, 0));
        assert_eq!(all.door.available_permits(), CROWD * 2);
    }

    #[tokio::test]
    async fn a_stranger_has_only_so_long() {
        let all = Clients::new(2, 2);
        let (stranger, guest) = (all.enter(None), all.enter(None));
        assert!(guest.shows_token());
        let short = Duration::from_millis(5);
        let waits = Duration::from_millis(50);
        assert!(tokio::time::timeout(waits, stranger.has_to_go(short)).await.is_ok());
        assert!(tokio::time::timeout(waits, guest.has_to_go(short)).await.is_err());
        // Evicted while it authenticates: it stays.
        let late = all.enter(None);
        let _others = (all.enter(None), all.enter(None));
        assert!(late.shows_token());
        assert!(!goes(&late).await);
    }

    #[tokio::test]
    async fn a_crowd_waits_at_the_door() {
        let all = Clients::new(1, 4);
        let mut crowd = Vec::new();
        for _ in 0..CROWD {
            crowd.push(all.enter(all.place().await));
        }
        let waits = Duration::from_millis(20);
        assert!(tokio::time::timeout(waits, all.place()).await.is_err());
        // An authenticated connection needs no permit of an unauthenticated one.
        assert!(crowd[0].shows_token());
        assert!(tokio::time::timeout(waits, all.place()).await.is_ok());
    }
}
