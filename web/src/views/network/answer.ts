// What the commands below `network` say with `--json`, as far as the view shows it. Refuses to compute.
export interface Counts {
  readonly tiers: readonly { readonly name: string; readonly switches: number; readonly ports_used: number; readonly ports: number }[]
  readonly layers: readonly {
    readonly layer: string
    readonly links: number
    readonly cables: number
    readonly cabling: { readonly medium: string; readonly length: number }
    readonly transceivers: number
    readonly bandwidth: number
  }[]
  readonly nics: number
  readonly switches: number
  readonly ports: number
  readonly links: number
  readonly cables: number
  readonly transceivers: number
}

export interface DesignFacts {
  readonly name: string
  readonly kind: string
  readonly devices: number
  readonly domain: { readonly size: number; readonly bandwidth: number }
  readonly nic_bandwidth: number
  readonly rails: number
  readonly planes: number
  readonly routing: string
  readonly forwarding: string
}

export interface ShowAnswer {
  readonly design: DesignFacts
  readonly counts: Counts
  readonly oversubscription: readonly number[]
  readonly largest: number | null
  readonly reach: readonly {
    readonly how: string
    readonly devices: number
    readonly links: number
    readonly latency: number
    readonly ways: number
  }[]
}

export interface Bill {
  readonly counts: Pick<Counts, 'tiers' | 'layers' | 'nics'>
  readonly devices: number
  readonly lines: readonly {
    readonly item: string
    readonly place: string
    readonly count: number
    readonly dollars: number
    readonly price: { readonly dollars: number; readonly dollars_source: string }
  }[]
  readonly fabric: number
  readonly nics: number
  readonly total: number
  readonly watts: number
}

export interface CostAnswer {
  readonly designs: readonly {
    readonly name: string
    readonly design: DesignFacts
    readonly bill: Bill
    readonly saving: number
    readonly saving_ports_and_transceivers: number
    readonly share: { readonly of_dollars: number; readonly of_watts: number; readonly dollars_per_year: number }
  }[]
  readonly refused: readonly { readonly name?: string; readonly problem?: { readonly message: string } }[]
  /** Savings over a factor on the catalogue's port prices; at 1 they are `saving_ports_and_transceivers`. */
  readonly saving_by_port_price: readonly { readonly ratio: number; readonly savings: readonly (number | null)[] }[]
  readonly break_even_by_port_price: readonly { readonly dear_ports: string; readonly dear_transceivers: string; readonly ratio: number }[]
  readonly names: readonly string[]
  readonly cheapest_by_devices: readonly {
    readonly devices: number
    readonly name: string
    readonly per_device: readonly (number | null)[]
  }[]
  readonly cluster: {
    readonly accelerator: string
    readonly device_price: number
    readonly device_price_source: string
    readonly years: number
  }
}

type ByClass = { readonly same_domain: number; readonly same_rail: number; readonly other_rail: number }

export interface TrafficAnswer {
  readonly title: string
  readonly place: { readonly ranks: number; readonly domain: number; readonly rails: number }
  readonly sent: number
  readonly sent_per_rank: number
  readonly inside_share: number
  readonly silent_share: number
  readonly pairs: readonly {
    readonly class: string
    readonly pairs: number
    readonly talking: number
    readonly bytes: number
    readonly share: number
    readonly mean: number
    readonly most: number
  }[]
  readonly dimensions: readonly { readonly dimension: string; readonly bytes: number; readonly share: number; readonly by_class: ByClass }[]
  readonly exchanges: readonly {
    readonly dimension: string
    readonly purpose: string
    readonly phases: readonly string[]
    readonly kind: string
    readonly ranks: number
    readonly groups: number
    readonly bytes: number
    readonly count: number
    readonly sent: number
    readonly share: number
    readonly by_class: ByClass
  }[]
  readonly domains?: readonly { readonly domain: number; readonly inside: number; readonly sent: number; readonly received: number }[]
  readonly rails?: readonly {
    readonly rail: number
    readonly devices: number
    readonly along: number
    readonly sent: number
    readonly received: number
  }[]
  readonly links?: readonly {
    readonly layer: string
    readonly direction: string
    readonly links: number
    readonly used: number
    readonly bytes: number
    readonly mean: number
    readonly most: number
    readonly busy: number
    readonly busiest: { readonly from: string; readonly to: string } | null
  }[]
  readonly ranks?: number
  readonly per_cell?: number
  readonly side?: number
  readonly squares?: readonly {
    readonly dimension: string | null
    readonly bytes: number
    readonly cells: readonly (readonly [number, number, number])[]
  }[]
}

export interface SimulateAnswer {
  readonly title: string
  readonly topology: string
  readonly routing: string
  readonly devices: number
  readonly step_time: number
  readonly closed_form: number
  readonly changes: readonly { readonly what: string; readonly step_time: number; readonly cost: number }[]
  readonly dimensions: readonly {
    readonly dimension: string
    readonly stage: number
    readonly exchanges: number
    readonly closed_form: number
    readonly alone: number
    readonly in_step: number
    readonly slowdown: number
  }[]
  readonly layers: readonly {
    readonly layer: string
    readonly links: number
    readonly used: number
    readonly capacity: number
    readonly mean: number
    readonly busiest: number
    readonly link: string
  }[]
  readonly is_exact: boolean
  readonly flows: number
}

export interface FailureClass {
  readonly part: string
  readonly count: number
  readonly cut_off: number
  readonly stranded: number
  readonly slowed: number
  readonly remark: string
  readonly rate: { readonly fit: number; readonly repair_hours: number; readonly fit_source: string }
  readonly failures_per_month: number
  readonly interrupts: boolean
  readonly slowdown: number | null
  readonly response: string
  readonly lost_hours: number
  readonly lost_hours_per_month: number
}

export interface FailuresAnswer {
  readonly designs: readonly {
    readonly expected: {
      readonly design: string
      readonly devices: number
      readonly classes: readonly FailureClass[]
      readonly failures_per_month: number
      readonly interruptions_per_month: number
      readonly lost_hours_per_month: number
      readonly lost_share: number
      readonly mean_slowdown: number
      readonly mean_lost_devices: number
    }
  }[]
}

export interface DesignRow {
  readonly topology: string
  readonly domain: number
  readonly oversubscription: number
  readonly speed: number
  readonly switches: number
  readonly dollars: number
  readonly dollars_per_device: number
  readonly watts: number
  readonly step_time: number | null
  readonly network_share: number | null
  readonly share: { readonly of_dollars: number; readonly cluster: { readonly dollars_per_million_tokens: number | null } } | null
  readonly class: number
  readonly on_front: boolean
  readonly on_whole_front: boolean
  readonly cheapest_token: boolean
}

export interface DesignAnswer {
  readonly rows: readonly DesignRow[]
  readonly classes: readonly { readonly layout: string; readonly reason: string }[]
  readonly warnings: readonly { readonly id: string; readonly message: string }[]
  readonly chosen: readonly string[]
  readonly complete: boolean
}

export interface Target {
  readonly id: string
  readonly claim: string
  readonly paper: number | null
  readonly unit: string
  readonly kind: string
  readonly tolerance: number
  /** With groups of twice the optimum, with six all-reduces a layer, or with domains of 64. */
  readonly variants: readonly number[]
  readonly configuration: string
  readonly reason: string
  readonly here: number | null
  readonly error: number | null
  readonly status: 'reproduced' | 'by_construction' | 'variant' | 'not_reproduced' | 'not_attempted'
}

export interface PaperAnswer {
  readonly targets: readonly Target[]
  readonly domain_sweep: readonly {
    readonly workload: string
    readonly devices: number
    readonly domains: readonly number[]
    readonly times: readonly (number | null)[]
    readonly ideal: number
  }[]
  readonly batch_sweep: readonly { readonly sequences: number; readonly relative: readonly (number | null)[] }[]
  readonly price_ratios: readonly number[]
  readonly costs: readonly {
    readonly devices: number
    readonly radix: number
    readonly clos: { readonly switches: number; readonly transceivers: number }
    readonly rail_only: { readonly switches: number; readonly transceivers: number }
    readonly savings: readonly (number | null)[]
  }[]
  readonly forwarding: readonly {
    readonly domain: number
    readonly network: number
    readonly scale_up: number
    readonly overhead: number
  }[]
}
