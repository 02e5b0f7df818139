// Answer types used by several views, by their names in the web UI. They are generated from the program's schemas.
export type { Accelerator } from './schema/accelerators'
export type { ClusterFields as ClusterEntry } from './schema/clusters'
export type {
  Bill as Money,
  CommunicationRow as Communication,
  EstimateAnswer as Estimate,
  Explanation as Why,
  Fit,
  Input as WhyInput,
  KindBytes,
  Part as TimeNode,
  Plan,
  StageMemory,
  StageRow as Stage,
  Utilization,
  Warning,
} from './schema/estimate'
export type { Key } from './schema/keys'
export type { Item as MemoryItem, MemoryAnswer as Memory } from './schema/memory'
export type { ModelAnswer as ModelShown } from './schema/model'
export type { ModelField as ModelEntry } from './schema/models'
export type { ValuesAnswer as ValidValues } from './schema/values'
