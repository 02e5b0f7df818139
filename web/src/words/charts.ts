// Words of the charts.
import type { Part } from './part'

// area.tsx
export const wholeStep = 'whole step'

// source.ts
export const without = (name: Part) => `no ${name}`

// colours.ts
export const weightGradient = 'weight gradient'
export const tensorParallel = 'tensor parallel'
export const contextParallel = 'context parallel'
export const dataParallel = 'data parallel'
export const pipelineTransfer = 'pipeline transfer'
export const expertParallel = 'expert parallel'

// export.ts
export const theBrowserReturnedNoImage = 'the browser returned no image'

// format.ts
export const days = (value: Part) => `${value} days`
export const hMin = (value: Part, value2: Part) => `${value} h ${value2} min`
export const minS = (value: Part, value2: Part) => `${value} min ${value2} s`

// frame.tsx
export const saveAsPng = 'Save as PNG'
export const saveAsSvg = 'Save as SVG'
export const saveAsCsv = 'Save as CSV'
export const thereIsNoChartYet = 'no chart yet'

// heat-table.tsx
export const noValue = 'no value'
export const enterShowsThePlaceOn = 'Enter jumps to this point on the timeline'
export const heatMap = 'heat map'

// heatmap.tsx
export const byCellsWithAValue = (title: Part, side: Part, side2: Part, value: Part) =>
  `${title}: ${side} by ${side2} cells, ${value} with a value. Arrow keys move; Control with an arrow goes to the next cell with a value.`

// icicle.tsx
export const theStep = 'the step'
export const partsOfByTime = (whole: Part) => `parts of ${whole} by time`
export const ofText2 = 'of'
export const ofText = (title: Part, time: Part, share: Part, whole: Part) => `${title}, ${time}, ${share} of ${whole}`

// legend.tsx
export const colours = 'colours'

// lines.tsx
export const lineChart = 'line chart'

// scatter.tsx
export const scatterPlot = 'scatter plot'
export const enterPicksOne = ', Enter selects a point'
export const pointPicked = 'selected point'

// source.ts
export const railwright = (value: Part, value2: Part) => `${value} (Railwright, ${value2})`
export const noRun = 'no run'

// tornado.tsx
export const tornadoChart = 'tornado chart'
export const shorterStep = '← shorter step'
export const longerStep = 'longer step →'

// heat-table.tsx
export const leastOfItsRow = 'minimum of its row'
export const mostOfItsRow = 'maximum of its row'
