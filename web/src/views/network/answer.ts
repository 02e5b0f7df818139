// Types of the answers of the network commands by their names in the views.
export type { CountsFields as Counts, Design as DesignFacts, NetworkAnswer as ShowAnswer } from '../../api/schema/network'
export type { Bill, NetworkCostAnswer as CostAnswer } from '../../api/schema/network_cost'
export type { NetworkDesignAnswer as DesignAnswer, Row as DesignRow } from '../../api/schema/network_design'
export type { ClassLoss as FailureClass, NetworkFailuresAnswer as FailuresAnswer } from '../../api/schema/network_failures'
export type { NetworkSimulateAnswer as SimulateAnswer } from '../../api/schema/network_simulate'
export type { NetworkTrafficAnswer as TrafficAnswer } from '../../api/schema/network_traffic'
export type { RailOnlyAnswer as PaperAnswer, Target } from '../../api/schema/rail_only'
export type { TopologiesAnswer } from '../../api/schema/topologies'
