// Types of the answer of `log` by their names in the view.
export type { Judged, LogAnswer as Log, MeasureCurve, Restart, Segment, SlowStep, Straggler } from '../../api/schema/log'
