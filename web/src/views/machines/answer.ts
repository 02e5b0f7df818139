// What `size --json` says, as far as the view shows it. Refuses to compute.
export interface Row {
  readonly machine: number
  readonly cluster: string
  readonly accelerator: string
  readonly devices: number
  readonly machines: number
  readonly plan_summary: string
  readonly step_time: number
  readonly tokens_per_second: number
  readonly mfu: number
  readonly probability_of_fitting: number
  readonly efficiency: number
  readonly on_hull: boolean
  readonly marginal_efficiency: number | null
  readonly days_saved_per_device: number | null
  readonly dollars_per_day_saved: number | null
  readonly bill: {
    readonly calendar: number
    readonly rent: number
    readonly device_hours: number
    readonly energy: number
    readonly device_price: { readonly amount: number; readonly source: string }
  }
  readonly in_time: boolean
  readonly in_budget: boolean
}

export interface SizeAnswer {
  readonly title: string
  readonly tokens: number
  readonly global_batch: number
  readonly growing_batch: boolean
  readonly complete: boolean
  readonly size: {
    readonly goal: { readonly deadline: number | null; readonly budget: number | null; readonly worth: number }
    readonly machines: readonly { readonly name: string; readonly devices: number }[]
    readonly rows: readonly Row[]
    readonly impossible: readonly { readonly machine: number; readonly devices: number; readonly reason: string }[]
    readonly verdict: {
      readonly chosen: number | null
      readonly is_no: boolean
      readonly nearest: { readonly row: number; readonly late: number; readonly over_budget: number } | null
      readonly stops: readonly { readonly machine: number; readonly row: number; readonly is_reached: boolean }[]
    }
  }
  readonly layouts: readonly string[]
  readonly command: string | null
  readonly chosen: readonly string[]
}
