// The answer of `log` by the names that the view has for it.
export type { Judged, LogAnswer as Log, MeasureCurve, Restart, Segment, SlowStep, Straggler } from '../../api/schema/log'
