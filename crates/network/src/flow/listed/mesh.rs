//! Scale-up domains that are a full mesh of links, as those of MI300X: two devices have one link, regardless
//! of their other ports.
//!
//! Responsible for: a link for each ordered pair of devices of a domain, in addition to the ports of both
//! into the domain. Does not know machines: the caller provides the bandwidth of a link.

use super::{DomainPorts, Routes};
use crate::flow::LinkPath;
use crate::simulate::LayerLoad;
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};

/// Routes on which two devices of a domain have at most the bandwidth of one link.
#[derive(Debug)]
pub struct MeshRoutes<'a, R> {
    routes: &'a R,
    /// Number of links without those of pairs.
    links: u32,
    capacity: Option<BytesPerSecond>,
}

impl<'a, R: DomainPorts> MeshRoutes<'a, R> {
    /// `capacity` is that of a link in one direction; `None` for domains behind a switch.
    pub fn new(routes: &'a R, capacity: Option<BytesPerSecond>) -> Self {
        Self { routes, links: routes.capacities().len() as u32, capacity }
    }

    fn pairs(&self) -> usize {
        self.routes.device_count() as usize * self.routes.domain_size() as usize
    }

    fn pair(&self, from: u32, to: u32) -> u32 {
        let size = self.routes.domain_size();
        self.links + from * size + to % size
    }

    /// Load of the links between pairs, from the bytes that each link carried in a time.
    pub fn load(&self, carried: &[Bytes], time: Seconds) -> Option<LayerLoad> {
        let capacity = self.capacity.filter(|_| time > Seconds::ZERO)?;
        let size = self.routes.domain_size();
        let pairs = carried.get(self.links as usize..self.links as usize + self.pairs())?;
        let busy = |bytes: Bytes| bytes / (capacity * time);
        let links = (self.pairs() - self.routes.device_count() as usize).max(1);
        let busiest =
            pairs.iter().enumerate().max_by(|a, b| a.1.get().total_cmp(&b.1.get()).then(b.0.cmp(&a.0)))?;
        let (from, to) = (busiest.0 as u32 / size, busiest.0 as u32 % size);
        Some(LayerLoad {
            layer: "scale-up pair",
            links,
            used: pairs.iter().filter(|bytes| **bytes > Bytes::ZERO).count(),
            capacity,
            mean: busy(pairs.iter().fold(Bytes::ZERO, |sum, bytes| sum + *bytes)) / links as f64,
            busiest: busy(*busiest.1),
            link: format!("device {from} to device {}", from / size * size + to),
        })
    }
}

impl<R: DomainPorts> Routes for MeshRoutes<'_, R> {
    fn capacities(&self) -> Vec<f64> {
        let mut all = self.routes.capacities();
        if let Some(capacity) = self.capacity {
            all.extend(std::iter::repeat_n(capacity.get(), self.pairs()));
        }
        all
    }

    /// Within a domain one device sends to several, or several send to one. The share of a pair is that of
    /// the several.
    fn link_path(&self, from: u32, to: u32, label: u64) -> Option<LinkPath> {
        let mut link_path = self.routes.link_path(from, to, label)?;
        if self.capacity.is_none() {
            return Some(link_path);
        }
        let mut ports: [Vec<(u32, f64)>; 2] = Default::default();
        for (link, share) in &link_path.links {
            if let Some((device, is_into)) = self.routes.domain_port(*link) {
                ports[usize::from(!is_into)].push((device, *share));
            }
        }
        let [into, out] = &ports;
        let domain = |device: u32| device / self.routes.domain_size();
        for (sender, sent) in into {
            for (receiver, received) in out {
                if domain(*sender) == domain(*receiver) && sender != receiver {
                    link_path.links.push((self.pair(*sender, *receiver), sent.min(*received)));
                }
            }
        }
        Some(link_path)
    }
}
