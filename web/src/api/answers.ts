// The shapes of the answers that several views read. As the program prints them; fields that no view reads are left out.

export interface TimeNode {
  readonly id: string
  readonly title: string
  readonly time: number
  readonly share: number
  readonly children: readonly TimeNode[]
}

export interface WhyInput {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** Where it comes from; the identifier of another explanation where there is one. */
  readonly source: string
}

export interface Why {
  readonly id: string
  readonly title: string
  readonly value: number
  readonly unit: string
  readonly text: string
  readonly formula: string
  readonly inputs: readonly WhyInput[]
  readonly source: string
}

export interface Warning {
  readonly id: string
  readonly message: string
}

export interface KindBytes {
  readonly kind: string
  readonly bytes: number
}

export interface StageMemory {
  readonly stage: number
  readonly moment: string
  readonly in_flight: readonly (readonly number[] | number)[]
  readonly allocated: number
  readonly reserved: number
  readonly device: number
  readonly kinds: readonly KindBytes[]
}

export interface Utilisation {
  readonly peak_format: string
  readonly peak: number
  readonly share: number
}

export interface Communication {
  readonly dimension: string
  readonly title: string
  readonly operation: string
  readonly bytes: number
  readonly ranks: number
  readonly domains: number
  readonly count: number
  readonly time_each: number
  readonly time: number
  /** Null where it lies in the bubble. */
  readonly exposed: number | null
  readonly bus_bandwidth: number
  readonly algorithm: string
  readonly source: string
}

export interface Stage {
  readonly stage: number
  readonly layers: number
  readonly embedding: boolean
  readonly head: boolean
  readonly forward: number
  readonly backward: number
  readonly recompute: number
  readonly busy: number
  readonly exposed: number
  readonly bubble: number
  readonly gradient_exposed: number
  readonly memory: number
  readonly critical: boolean
}

export interface Plan {
  readonly tensor_parallel: number
  readonly sequence_parallel: boolean
  readonly pipeline_parallel: number
  readonly virtual_stages: number
  readonly context_parallel: number
  readonly context_kind: string
  readonly data_parallel: number
  readonly expert_parallel: number
  readonly expert_tensor_parallel: number
  readonly sharding: { readonly zero_stage: number; readonly group: number | null; readonly reshard_after_forward: boolean }
  readonly micro_batch: number
  readonly global_batch: number
  readonly sequence_length: number
  readonly precision: { readonly compute: string }
  readonly optimizer: string
  readonly recompute: { readonly mode: string; readonly layers?: number | null; readonly modules?: readonly string[] }
  readonly offload: { readonly optimizer: number; readonly activations: number; readonly parameters: number }
  readonly schedule: string
  readonly overlap: Readonly<Record<'gradient_reduce' | 'parameter_gather' | 'tensor' | 'pipeline' | 'expert', boolean>>
  readonly software: string
}

export interface Money {
  readonly tokens: number
  readonly steps: number
  readonly productive: number
  readonly calendar: number
  readonly device_hours: number
  readonly rent: number | null
  readonly device_price: { readonly amount: number; readonly range: readonly [number, number] | null; readonly source: string } | null
  readonly power: number | null
  readonly energy: number | null
  readonly electricity: number | null
  readonly electricity_price: { readonly amount: number; readonly source: string } | null
  readonly warnings: readonly Warning[]
}

export interface Estimate {
  readonly railwright: string
  readonly model: {
    readonly name: string
    readonly family: string
    readonly layers: number
    readonly parameters: { readonly total: number; readonly active: number }
  }
  readonly cluster: {
    readonly name: string
    readonly accelerator: string
    readonly accelerator_name: string
    readonly devices: number
    readonly devices_per_node: number
    readonly domain_size: number
  }
  readonly plan_summary: string
  readonly plan: Plan
  readonly software: { readonly id: string; readonly name: string; readonly source: string }
  readonly step_time: number
  readonly step_time_interval: {
    readonly low: number
    readonly high: number
    readonly coverage: number
    readonly runs: number
    readonly calibrated: boolean
    readonly source: string
  } | null
  readonly throughput: {
    readonly micro_batches: number
    readonly tokens_per_step: number
    readonly tokens_per_second: number
    readonly tokens_per_second_per_device: number
  }
  readonly efficiency: {
    readonly model_flop: readonly { readonly convention: string; readonly rate: number; readonly utilisation: readonly Utilisation[] }[]
    readonly hardware_flop_rate: number
    readonly hardware: readonly Utilisation[]
  }
  readonly time: TimeNode
  readonly stages: readonly Stage[]
  readonly communication: readonly Communication[]
  readonly memory: {
    readonly device_memory: number
    readonly peak: number
    readonly margin: number
    readonly fit: Fit
    readonly probability_of_fitting: number
    readonly near_limit: boolean
    readonly worst: number
    readonly stages: readonly StageMemory[]
  }
  readonly money: Money | null
  readonly provenance: readonly { readonly id: string; readonly title: string; readonly time: number; readonly share: number }[]
  readonly warnings: readonly Warning[]
  readonly why: readonly Why[]
  readonly chosen: readonly string[]
}

/** Whether a plan fits its devices: surely enough, perhaps, or more likely not. */
export type Fit = 'fits' | 'at_risk' | 'does_not_fit'

export interface MemoryItem {
  readonly kind: string
  readonly module: string | null
  readonly layer: number | null
  readonly bytes: number
}

export interface Memory {
  readonly title: string
  readonly memory: {
    readonly stages: readonly (Omit<StageMemory, 'kinds'> & {
      readonly layers: readonly (readonly [number, number])[]
      readonly items: readonly MemoryItem[]
    })[]
    readonly worst: number
    readonly device_memory: number
    readonly fit: Fit
  }
  readonly stage: number
  readonly over_time: {
    readonly duration: number
    readonly highest_bytes: readonly number[]
    /** What each of these is made of; one list per kind of the timeline's memory. */
    readonly parts?: readonly { readonly kind: string; readonly bytes: readonly number[] }[]
    readonly peak: {
      readonly rank: number
      readonly time: number
      readonly bytes: number
      readonly parts: readonly (readonly [string, number])[]
    } | null
  }
}

export interface ModelEntry {
  readonly name: string
  readonly aliases: readonly string[]
  readonly family: string
  readonly parameters: { readonly total: number; readonly active: number }
  readonly layers: number
}

export interface Accelerator {
  readonly id: string
  readonly name: string
  readonly vendor: string
  readonly architecture: string
  readonly year: number
  readonly memory: number
  readonly peak: Readonly<Record<string, number>>
  readonly price: { readonly typical: number | null } | null
}

export interface ClusterEntry {
  readonly name: string
  readonly accelerator: Accelerator
  readonly devices_per_node: number
  readonly scale_up: { readonly domain_size: number; readonly link: string }
  readonly network: { readonly bandwidth: number; readonly kind: string }
}

export interface ModelShown {
  readonly model: {
    readonly name: string
    readonly position: string
    readonly max_positions: number
    readonly layers: readonly number[]
    readonly layer_kinds: readonly {
      readonly mixer: { readonly kind: string; readonly heads?: number; readonly kv_heads?: number }
      readonly feed_forward: {
        readonly kind: string
        readonly intermediate_size?: number
        readonly experts?: number
        readonly expert?: { readonly intermediate_size: number }
        readonly shared_intermediate_size?: number
      }
    }[]
  }
}

export interface Key {
  readonly section: string
  readonly name: string
  readonly kind: string
  readonly choices?: readonly string[]
  readonly doc: string
  readonly default: string
}

/** What `values` prints: the values of each setting that are valid with the rest of the run. */
export interface ValidValues {
  readonly values: readonly { readonly key: string; readonly flag: string; readonly values: readonly string[] }[]
}
