// Types of the answers of `sensitivity`, `whatif`, `recompute` and `balance` by their names in the view.
export type { BalanceAnswer as Balance, Division } from '../../api/schema/balance'
export type { RecomputeAnswer as Recompute, Variant } from '../../api/schema/recompute'
export type { Figure, SensitivityAnswer as Sensitivity } from '../../api/schema/sensitivity'
export type {
  Outcome,
  ChangeResult as Change,
  Summary as RunState,
  TimePart as Part,
  Warning as Warned,
  WhatifAnswer as WhatIf,
} from '../../api/schema/whatif'
