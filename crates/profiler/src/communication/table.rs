//! The table of names that communicate.
//!
//! Responsible for: reading it, checking the user's entries before the shipped ones, and caching the answer
//! for each interned name. Patterns are limited to "starts with" and "contains", because users read and edit
//! them.

use crate::memo::Memo;
use crate::trace::{GpuActivity, GpuKind};
use crate::{NameId, Names};
use railwright_spec::problem::Problem;
use railwright_step::CollectiveKind;
use serde::Deserialize;
use std::sync::OnceLock;

const SHIPPED: &str = include_str!("../../data/communication_kernels.toml");

/// The table entry of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Index of the library in [`NameTable::libraries`].
    pub library: u16,
    /// Its operation, if part of the name.
    pub operation: Option<CollectiveKind>,
}

/// Names of communication kernels and operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameTable {
    libraries: Vec<Library>,
    operations: Vec<(String, CollectiveKind)>,
    known: Memo<Option<Class>>,
}

/// One entry of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Library {
    name: String,
    #[serde(default)]
    starts: Vec<String>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    excludes: Vec<String>,
    #[serde(default)]
    host: bool,
    #[serde(default = "yes")]
    communicates: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    library: Vec<Library>,
    #[serde(default)]
    operation: Vec<Words>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    words: Vec<String>,
    is: CollectiveKind,
}

fn yes() -> bool {
    true
}

impl NameTable {
    /// The shipped table.
    pub fn shipped() -> &'static Self {
        static TABLE: OnceLock<NameTable> = OnceLock::new();
        TABLE.get_or_init(|| Self::read(SHIPPED).unwrap_or_default())
    }

    /// Reads a table.
    pub fn read(text: &str) -> Result<Self, Problem> {
        let file: File = toml::from_str(text).map_err(|error| {
            let problem = Problem::new(format!("not a table of kernel names: {}", error.message().trim()));
            let problem = problem.hint(
                "an entry is `[[library]]` with `name` and lists `starts`, `contains`, `excludes`, or `[[operation]]` with `words` and `is`",
            );
            match error.span() {
                Some(span) => problem.at_offset(text, span.start),
                None => problem,
            }
        })?;
        let mut table = Self::default();
        for mut library in file.library {
            if library.starts.is_empty() && library.contains.is_empty() {
                let message = format!(
                    "library `{}` has neither `starts` nor `contains`, so no name matches",
                    library.name
                );
                return Err(Problem::new(message));
            }
            for words in [&mut library.starts, &mut library.contains, &mut library.excludes] {
                for word in words.iter_mut() {
                    if word.is_empty() {
                        let message =
                            format!("library `{}` has an empty word, which matches every name", library.name);
                        return Err(Problem::new(message));
                    }
                    word.make_ascii_lowercase();
                }
            }
            table.libraries.push(library);
        }
        for entry in file.operation {
            table.operations.extend(entry.words.iter().map(|word| (plain(word), entry.is)));
        }
        Ok(table)
    }

    /// Combines this table with another one, which is checked later.
    #[must_use]
    pub fn before(mut self, later: &Self) -> Self {
        self.libraries.extend(later.libraries.iter().cloned());
        self.operations.extend(later.operations.iter().cloned());
        self.known = Memo::default();
        self
    }

    /// Communication class of a name; `None` if the name does not communicate.
    pub fn class(&self, name: &str) -> Option<Class> {
        self.known.get(name, || self.class_by_words(name))
    }

    fn class_by_words(&self, name: &str) -> Option<Class> {
        let lower = name.replace("(anonymous namespace)", "").to_ascii_lowercase();
        // Names of kernel arguments are irrelevant.
        let head = lower.split('(').next().unwrap_or_default();
        let fits = |library: &Library| {
            (library.starts.iter().any(|word| head.starts_with(word))
                || library.contains.iter().any(|word| head.contains(word)))
                && !library.excludes.iter().any(|word| head.contains(word))
        };
        let library = self.libraries.iter().position(fits)?;
        self.libraries[library]
            .communicates
            .then(|| Class { library: library as u16, operation: self.operation(head) })
    }

    /// Operation for a recorder's word (`_allgather_base`, `nccl:all_reduce`); `None` if unknown.
    pub fn operation(&self, label: &str) -> Option<CollectiveKind> {
        let text = plain(label);
        self.operations.iter().find(|(word, _)| text.contains(word)).map(|&(_, operation)| operation)
    }

    /// Tests whether a host operation of this class is the communication itself (as in Gloo) rather than the
    /// call that starts it.
    pub fn on_host(&self, class: Class) -> bool {
        self.libraries.get(usize::from(class.library)).is_some_and(|library| library.host)
    }

    /// The name of a library.
    pub fn library(&self, class: Class) -> &str {
        self.libraries.get(usize::from(class.library)).map_or("", |library| library.name.as_str())
    }

    /// Names of all libraries, in the order of the checks.
    pub fn libraries(&self) -> impl Iterator<Item = &str> {
        self.libraries.iter().map(|library| library.name.as_str())
    }

    /// Classifies every name of a trace.
    pub fn classes(&self, names: &Names) -> Classes {
        Classes { of: names.iter().map(|name| self.class(name)).collect() }
    }
}

/// The table entries of all names of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    of: Vec<Option<Class>>,
}

impl Classes {
    /// Communication class of a name; `None` if the name does not communicate.
    pub fn get(&self, name: NameId) -> Option<Class> {
        self.of.get(name.0 as usize).copied().flatten()
    }

    /// Tests whether a name communicates.
    pub fn communicates(&self, name: NameId) -> bool {
        self.get(name).is_some()
    }

    /// Tests whether a row is a compute kernel: neither its name nor its record is communication.
    pub fn computes(&self, row: &GpuActivity) -> bool {
        row.kind == GpuKind::Kernel && row.collective.is_none() && !self.communicates(row.name)
    }
}

/// Reduces a name to lowercase letters and digits.
fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(name: &str) -> Option<(String, Option<CollectiveKind>)> {
        let table = NameTable::shipped();
        table.class(name).map(|class| (table.library(class).to_owned(), class.operation))
    }

    #[test]
    fn names_as_traces_have_them() {
        let cases = [
            (
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "NCCL",
                Some(CollectiveKind::AllReduce),
            ),
            (
                "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
                "NCCL",
                Some(CollectiveKind::SendReceive),
            ),
            (
                "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "NCCL",
                Some(CollectiveKind::ReduceScatter),
            ),
            (
                "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)",
                "NCCL",
                Some(CollectiveKind::Broadcast),
            ),
            ("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "NCCL", None),
            ("nccl:_all_gather_base", "NCCL", Some(CollectiveKind::AllGather)),
            ("gloo:recv", "Gloo", Some(CollectiveKind::Receive)),
            ("gloo:send 0->1", "Gloo", Some(CollectiveKind::Send)),
            (
                "void dpsk::ep::internode::dispatch<false, 4, true>(int4*, float*)",
                "DeepEP",
                Some(CollectiveKind::Dispatch),
            ),
            ("void deep_ep::internode::cached_notify<false, 2>(int)", "DeepEP", Some(CollectiveKind::Notify)),
            (
                "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(__nv_bfloat16*)",
                "DeepEP",
                Some(CollectiveKind::Combine),
            ),
            (
                "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
                "custom all-reduce",
                Some(CollectiveKind::AllReduce),
            ),
            (
                "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
                "symmetric memory",
                Some(CollectiveKind::AllReduce),
            ),
            ("Memcpy PtoP (Device -> Device)", "peer copy", Some(CollectiveKind::Copy)),
            ("hcom_allReduce__500_0", "HCCL", Some(CollectiveKind::AllReduce)),
            ("nvshmemi_transfer_rma_p2p", "NVSHMEM", None),
        ];
        for (name, library, operation) in cases {
            assert_eq!(read_back(name), Some((library.to_owned(), operation)), "{name}");
        }
    }

    #[test]
    fn what_does_not_communicate() {
        for name in [
            "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)",
            "void cub::DeviceReduceByKeyKernel<cub::DispatchReduceByKey<long*>>(long*)",
            "Memcpy DtoD (Device -> Device)",
            "void at::native::reduce_kernel<512, 1>(ncclDevKernelArgs)",
            "ampere_bf16_s16816gemm_bf16_128x128",
            "aten::scatter",
        ] {
            assert_eq!(read_back(name), None, "{name}");
        }
    }

    #[test]
    fn a_table_of_the_user_comes_first() {
        let own = "[[library]]\nname = \"ours\"\ncontains = [\"my_ring\"]\n\
                   [[library]]\nname = \"not\"\nstarts = [\"ncclDevKernel_Generic\"]\ncommunicates = false\n\
                   [[operation]]\nwords = [\"my_ring\"]\nis = \"all_reduce\"\n";
        let table = NameTable::read(own).unwrap().before(NameTable::shipped());
        let class = table.class("my_ring_v2").unwrap();
        assert_eq!((table.library(class), class.operation), ("ours", Some(CollectiveKind::AllReduce)));
        assert_eq!(table.class("ncclDevKernel_Generic(x)"), None);
        assert!(table.class("ncclDevKernel_AllGather_RING_LL(x)").is_some());
    }

    #[test]
    fn a_bad_table_is_reported() {
        for (text, word) in [
            ("[[library]]\nname = 3\n", "string"),
            ("[[library]]\nname = \"x\"\n", "neither"),
            ("[[library]]\nname = \"x\"\nstarts = [\"\"]\n", "empty word"),
            ("[[operation]]\nwords = [\"x\"]\nis = \"sum\"\n", "sum"),
            ("[[libary]]\nname = \"x\"\n", "libary"),
        ] {
            let problem = NameTable::read(text).unwrap_err();
            assert!(problem.message.contains(word), "{text}: {problem:?}");
        }
    }
}
