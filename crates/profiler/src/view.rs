//! One rank's device activities with derived properties of every row: family, role, launch, phase.
//!
//! Responsible for: deriving these once, so that all analyses of a trace agree. A trace without a device (CPU
//! training over gloo) gets device rows: the outermost operators of its threads, and its communication.
//! Excludes sums.

mod host_device;

use crate::RankTrace;
use crate::communication::NameTable;
use crate::kernels::KernelTable;
use crate::launches::launches;
use crate::phases::{FoundBy, host_phases, phases};
#[cfg(doc)]
use crate::trace::NONE;
use crate::trace::{GpuActivities, GpuKind, Source};
use railwright_step::{OperatorFamily, Phase};
use std::borrow::Cow;

/// Tables of names.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    /// Names of communication; checked first.
    pub communication: NameTable,
    /// Families of other kernels.
    pub kernels: KernelTable,
}

impl Tables {
    /// The shipped tables.
    pub fn shipped() -> Self {
        Self { communication: NameTable::shipped().clone(), kernels: KernelTable::shipped().clone() }
    }
}

/// Role of a device row in the analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Arithmetic.
    Compute,
    /// Communication.
    Communication,
    /// Copying or filling memory.
    Copy,
    /// No device work: annotations, waits.
    None,
}

/// One rank's rows with their derived properties.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The trace.
    pub trace: &'a RankTrace,
    /// Device rows.
    pub gpu: Cow<'a, GpuActivities>,
    /// True if the rows are from the host, because there was no device.
    pub from_host: bool,
    /// The role of every row.
    pub role: Vec<Role>,
    /// The family of every row.
    pub family: Vec<OperatorFamily>,
    /// The phase of every row.
    pub phase: Vec<Phase>,
    /// Host row that launched it, or [`NONE`]; for rows derived from the host, the host row itself.
    pub launch: Vec<u32>,
    /// Number of rows by method of phase detection.
    pub found_by: FoundBy,
}

impl<'a> View<'a> {
    /// Tests whether the recording is of JAX or another program on XLA.
    pub fn is_of_xla(&self) -> bool {
        self.trace.identity.source == Source::XPlane
    }

    /// Time of the host call that launched a row, in nanoseconds; `None` if it is not recorded.
    pub fn launched(&self, at: usize) -> Option<i64> {
        // An absent launch is beyond the host's rows.
        self.trace.host.starts().get(self.launch[at] as usize).copied()
    }

    /// End of the call that launched a row, in nanoseconds: by then the device has the work.
    pub fn returned(&self, at: usize) -> Option<i64> {
        self.trace.host.ends().get(self.launch[at] as usize).copied()
    }

    /// Derives the properties of a rank's rows.
    pub fn new(trace: &'a RankTrace, tables: &Tables) -> Self {
        let busy = |kind: &GpuKind| !matches!(kind, GpuKind::Annotation | GpuKind::Sync);
        if !trace.gpu.kinds().iter().any(busy) && !trace.host.is_empty() {
            let (gpu, hosts) = host_device::device(trace, &tables.communication);
            let phase_of = host_phases(trace);
            let phase =
                hosts.iter().map(|&at| phase_of.get(at as usize).copied().flatten().unwrap_or_default());
            let phase: Vec<Phase> = phase.collect();
            let (role, mut family) = classes(trace, &gpu, tables);
            lists_of_models(trace, &gpu, &phase, &mut family);
            return Self {
                trace,
                phase,
                found_by: FoundBy { launch: gpu.len() as u64, ..FoundBy::default() },
                gpu: Cow::Owned(gpu),
                from_host: true,
                launch: hosts,
                role,
                family,
            };
        }
        let launch = launches(trace, &trace.gpu);
        let found = phases(trace, &trace.gpu, &launch);
        let (role, mut family) = classes(trace, &trace.gpu, tables);
        lists_of_models(trace, &trace.gpu, &found.gpu, &mut family);
        Self {
            trace,
            gpu: Cow::Borrowed(&trace.gpu),
            from_host: false,
            role,
            family,
            phase: found.gpu,
            launch,
            found_by: found.by,
        }
    }

    /// From the start of the first kernel to the end of the last, in nanoseconds; of the copies without
    /// kernels. `None` without either.
    pub fn extent(&self) -> Option<(i64, i64)> {
        let over = |wanted: fn(Role) -> bool| {
            let rows = self.role.iter().zip(self.gpu.starts()).zip(self.gpu.ends());
            let rows = rows.filter(|((role, _), _)| wanted(**role)).map(|((_, start), end)| (*start, *end));
            rows.reduce(|all, row| (all.0.min(row.0), all.1.max(row.1)))
        };
        over(|role| matches!(role, Role::Compute | Role::Communication))
            .or_else(|| over(|role| role == Role::Copy))
    }
}

/// Role and family of every row; each name is looked up once.
fn classes(trace: &RankTrace, gpu: &GpuActivities, tables: &Tables) -> (Vec<Role>, Vec<OperatorFamily>) {
    let mut known: Vec<Option<(Role, OperatorFamily)>> = vec![None; trace.names.len()];
    gpu.iter()
        .map(|row| {
            if matches!(row.kind, GpuKind::Annotation | GpuKind::Sync) {
                return (Role::None, OperatorFamily::Other);
            }
            if row.collective.is_some() {
                return (Role::Communication, OperatorFamily::Collective);
            }
            let class = || {
                let name = trace.names.get(row.name);
                if tables.communication.class(name).is_some() {
                    (Role::Communication, OperatorFamily::Collective)
                } else if row.kind == GpuKind::Kernel {
                    (Role::Compute, tables.kernels.family(name))
                } else {
                    (Role::Copy, OperatorFamily::Copy)
                }
            };
            match known.get_mut(row.name.0 as usize) {
                Some(cell) => *cell.get_or_insert_with(class),
                None => class(),
            }
        })
        .unzip()
}

/// Sets the family of operations on lists of tensors in a forward pass, such as moving averages of weights.
/// Without an update in its name, the kernel belongs to the optimizer only by its place in the step.
fn lists_of_models(
    trace: &RankTrace,
    gpu: &GpuActivities,
    phases: &[Phase],
    families: &mut [OperatorFamily],
) {
    let mut known: Vec<Option<bool>> = vec![None; trace.names.len()];
    for ((name, phase), family) in gpu.names().iter().zip(phases).zip(families) {
        if *phase == Phase::Forward
            && *family == OperatorFamily::Optimizer
            && let Some(cell) = known.get_mut(name.0 as usize)
            && !*cell.get_or_insert_with(|| updates(trace.names.get(*name)))
        {
            *family = OperatorFamily::Elementwise;
        }
    }
}

/// Tests whether a kernel or an operator updates parameters: any but general ones on lists of tensors.
fn updates(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_general = ["multi_tensor", "_foreach"].iter().any(|word| lower.contains(word));
    !is_general || ["adam", "sgd", "adagrad", "lamb", "novograd"].iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{GpuActivity, HostActivity, HostKind};

    #[test]
    fn rows_have_roles_and_annotations_have_none() {
        let mut trace = RankTrace::default();
        for (start, name, kind) in [
            (5, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", GpuKind::Kernel),
            (7, "volta_sgemm_128x32_nn", GpuKind::Kernel),
            (9, "Memcpy HtoD (Pageable -> Device)", GpuKind::Copy),
            (11, "ProfilerStep#3", GpuKind::Annotation),
        ] {
            let name = trace.names.intern(name);
            trace.gpu.push(GpuActivity { start, end: start + 3, name, kind, ..GpuActivity::default() });
        }
        let view = View::new(&trace, &Tables::shipped());
        assert_eq!(view.role, [Role::Communication, Role::Compute, Role::Copy, Role::None]);
        assert_eq!(view.family[1], OperatorFamily::MatrixProduct);
        assert_eq!(view.extent(), Some((5, 10)));
    }

    #[test]
    fn lists_of_tensors_in_a_forward_pass_are_no_update() {
        let list = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TernaryOpListAlphaFunctor<float, 3>>";
        let adam = "void multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>(int)";
        let of = |around: &str, kernel: &str| {
            let mut trace = RankTrace::default();
            let mut push = |start, end, name: &str, kind, correlation| {
                let name = trace.names.intern(name);
                trace.host.push(HostActivity {
                    start,
                    end,
                    name,
                    kind,
                    correlation,
                    ..HostActivity::default()
                });
            };
            push(0, 20, around, HostKind::Annotation, None);
            push(2, 10, "aten::_foreach_lerp_", HostKind::Operator, None);
            push(4, 6, "cudaLaunchKernel", HostKind::Runtime, Some(1));
            trace.host.sort();
            let (name, correlation) = (trace.names.intern(kernel), Some(1));
            trace.gpu.push(GpuActivity { start: 7, end: 15, name, correlation, ..GpuActivity::default() });
            View::new(&trace, &Tables::shipped()).family[0]
        };
        assert_eq!(of("## forward ##", list), OperatorFamily::Elementwise);
        assert_eq!(of("Optimizer.step#Adam.step", list), OperatorFamily::Optimizer);
        assert_eq!(of("unknown", list), OperatorFamily::Optimizer);
        assert_eq!(of("## forward ##", adam), OperatorFamily::Optimizer);
    }

    #[test]
    fn operators_that_the_table_names_communicate_where_nothing_else_does() {
        let host = |names: &[(&str, HostKind)]| {
            let mut trace = RankTrace::default();
            for (at, (name, kind)) in names.iter().enumerate() {
                let (name, start) = (trace.names.intern(name), 10 * at as i64);
                trace.host.push(HostActivity {
                    start,
                    end: start + 5,
                    name,
                    kind: *kind,
                    ..HostActivity::default()
                });
            }
            View::new(&trace, &Tables::shipped()).role
        };
        let message = ("SenRdmaSend_1 [sync=AllReduce] DmaO", HostKind::Operator);
        let issue = ("c10d::allreduce_", HostKind::Operator);
        assert_eq!(
            host(&[("add_11 Cmpt Exec", HostKind::Operator), message, issue]),
            [Role::Compute, Role::Communication]
        );
        assert_eq!(host(&[message, ("gloo:all_reduce", HostKind::Annotation), issue]), [Role::Communication]);
    }

    #[test]
    fn without_a_device_the_outermost_operators_are_it() {
        use HostKind::{Annotation, Collective, Operator};
        let mut trace = RankTrace::default();
        for (start, end, kind, name, thread) in [
            (0, 100, Annotation, "ProfilerStep#1", 0),
            (10, 30, Operator, "aten::linear", 0),
            (12, 25, Operator, "aten::addmm", 0),
            (40, 60, Operator, "c10d::recv_", 0),
            (41, 59, Collective, "gloo:recv", 0),
            (50, 70, Collective, "gloo:all_reduce", 1),
        ] {
            let name = trace.names.intern(name);
            trace.host.push(HostActivity { start, end, name, kind, thread, ..HostActivity::default() });
        }
        let view = View::new(&trace, &Tables::shipped());
        assert!(view.from_host);
        let rows: Vec<(i64, i64, Role)> =
            view.gpu.iter().zip(&view.role).map(|(row, role)| (row.start, row.end, *role)).collect();
        assert_eq!(
            rows,
            [(10, 30, Role::Compute), (41, 59, Role::Communication), (50, 70, Role::Communication)]
        );
    }
}
