// Words of the snapshot view.
import type { Part } from './part'

// index.tsx
export const overInOrderOfEvents = (name: Part, choice: Part) => `${name}, over ${choice}in event order`
export const openAMemorySnapshot = 'Open a memory snapshot'
export const what = 'Output of'
export const torchCudaMemoryDumpSnapshot = 'torch.cuda.memory._dump_snapshot()'
export const writesAPickleOrA =
  '(a pickle), or a trace with memory events: peak by module and line of code, fragmentation, growth. Drop it anywhere on this page.'
export const orAPathInThe = 'or a path in the served folder'
export const readingTheSnapshot = 'reading the snapshot'
export const noDeviceHoldsMemoryIn = 'This snapshot contains no device memory and no history.'
export const device = 'Device'
export const kinds = 'Kinds'
export const modules = 'Modules'
export const atThePeak = 'at the peak'
export const peakAllocated = 'peak allocated'
export const byTensors = 'by tensors'
export const peakReserved = 'peak reserved'
export const byTheAllocator = 'by the allocator'
export const freeInSegmentsWithTensors = 'free, in segments with tensors'
export const freeSegments = 'free segments'
export const largestFreeBlock = 'largest free block'
export const cache = (cacheFlushes: Part, choice: Part) => `${cacheFlushes} cache ${choice}`
export const outOfMemory = 'out of memory'
export const times = (outOfMemory: Part) => `${outOfMemory} times`
export const firstFor = (firstFailure: Part) => `first for ${firstFailure}`
export const ms = (choice: Part) => `${choice} ms, `
export const memoryOverTheHistory = 'Memory over the history'
export const event = (near: Part) => `event ${near}`
export const peak = (allocatedBytes: Part) => `peak ${allocatedBytes}`
export const allocated = 'allocated'
export const reservedNotAllocated = 'reserved, not allocated'
export const byMemory = (title: Part) => `${title} by memory`
export const share = 'Share'
export const places = 'Places'
export const placesInTheCode = 'Allocation sites'
export const innermostFrameOutsideOfThe = '; innermost frame outside the framework, with the full stack'
export const growth = 'Growth'
export const allocatedOverTheHistoryAnd = 'allocated over the history and never freed'
export const memoryThatGrows = 'Memory growth'
export const place = 'Place'
export const memory = 'Memory'
export const blocks = 'Blocks'
export const perSecond = 'Per second'
export const measuredAndPredicted = 'Measured and predicted'
export const stage = 'stage'
export const memoryByKindMeasuredAnd = 'Memory by kind, measured and predicted'
export const kind = 'Kind'
export const measured = 'Measured'
export const predicted = 'Predicted'
export const atTheEndWithoutHistory = 'at the end; the snapshot has no history'
