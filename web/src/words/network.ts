// Words of the network view.
import type { Part } from './part'

// codesign.tsx
export const searchNetworksAndStrategies = 'Search networks and layouts'
export const stop = 'Stop'
export const scope = 'Scope'
export const domains = 'Domains'
export const sizesOfScaleUpDomains = 'Sizes of scale-up domains to compare'
export const topologies = 'Topologies'
export const oversubscription = 'Oversubscription'
export const nicSpeeds = 'NIC speeds'
export const scaleUpPrices = 'Scale-up prices'
export const answer = 'Answer'
export const stoppedNoNetworkIsRecommended = 'Stopped before the end of the search: no network is recommended.'
export const theModelFitsOnNoNetwork = 'The model fits on none of these networks.'
export const noNetworkHasACostPerToken = 'The cost per token is unknown for all networks, because their domains or devices have no price.'
export const domainsWithoutAPrice = (sizes: Part) => `Domains of ${sizes} have no known price and are not compared by cost.`
export const notOnTheFront = (sizes: Part) => `domains of ${sizes}: without a price, not on the front`
export const priceList = 'Price list'
export const ownPriceList = 'Own prices and watts instead of the catalogue’s: a CSV file with the columns item, part, usd and watts'
export const openAPriceList = 'Open a price list…'
export const addTheirPrices = 'Add their prices'
export const lowestCostPerToken = 'Lowest cost per token:'
export const withDomainsOfAt = (size: Part, speed: Part) => `with domains of ${size} at ${speed}`
export const perMTokens = (cost: Part) => `$${cost} per million tokens`
export const forTheNetwork = (cost: Part, device: Part) => `${cost} for the network (${device} per device).`
export const theseCannotBeDistinguished = 'Their step time and price are equal, so the model cannot distinguish them.'
export const equalWithinTheIntervals = (tied: Part, more: Part) =>
  `${tied} networks have equal cost per token within their intervals; the second-cheapest of these costs ${more} to buy.`
export const theSame = 'the same'
export const more = (cost: Part) => `${cost} more`
export const theNextCosts = (name: Part, size: Part, speed: Part, by: Part) =>
  `The second-cheapest network per token, ${name} with domains of ${size} at ${speed}, costs ${by} more per token.`
export const noOtherWasSimulated = 'No other network was simulated.'
export const loadItsStrategy = 'Load its layout'
export const equalCheapest = 'tied for cheapest'
export const unknown = 'unknown'
export const topologiesOfEqualFigures = 'Topologies with equal results'
export const dollarsForAMillionTokens =
  'Dollars per million tokens for network and devices; simulated for networks that may be the cheapest'
export const networksOffTheFronts = 'Networks off the Pareto fronts'
export const otherNetworks = (rows: Part, lines: Part) =>
  `${rows} dominated networks in ${lines} rows: for each, another network is as fast and as cheap or better`
export const domainsOf3 = 'domains of'
export const domainsOfSize = (size: Part) => `domains of ${size}`
export const costPerDevice = 'extra price per device, $'
export const priceOfSize = (size: Part) => `Extra price per device in domains of ${size}`
export const removePrice = (size: Part) => `Remove the price of ${size}`
export const addAPrice = 'Add a price'
export const addPricesOf = (sizes: Part) => `Add prices of ${sizes}`
export const addedPricePerDeviceOf = 'Extra price per device of domains larger than the cluster’s'
export const narrowStrategiesTo = 'Restrict layouts to'
export const tp8Vp12 = 'tp=8 vp=1,2'
export const theScopeHasChangedSince = 'The search space has changed since this result.'
export const searchAgain = 'Search again'
export const searchNetworksAndStrategiesTogether = 'Search networks and layouts together'
export const topologiesDomainSizesOversubscriptionAnd =
  'Topologies, domain sizes, oversubscription and speeds, each with the best layout on it: step time against dollars.'
export const search = 'Search'
export const aDevice2 = (dollars: Part, dollarsPerDevice: Part) => `${dollars}, ${dollarsPerDevice} per device`
export const perMillionTokens = 'per million tokens'
export const networksEachWithTheBest = (value: Part) => `${value} networks, each with the best layout on it`
export const stepTimeAgainstDollars = 'Step time vs. dollars'
export const networkDollarsPerDevice = 'network, dollars per device'
export const stepTimeS = 'step time (s)'
export const labelsDomainNicSpeedOf = 'labels: domain × NIC speed on the Pareto front'
export const stoppedEarlyResultsSoFar = 'Stopped early: partial results.'
export const topology = 'Topology'
export const domain = 'Domain'
export const oversub = 'Oversub.'
export const bandwidthBelowALeafOver = 'Downlink over uplink bandwidth of a leaf'
export const nic = 'NIC'
export const step = 'Step'
export const perDevice2 = 'Per device'
export const power = 'Power'
export const ofCluster = 'Share of cluster'
export const mTokens = '$/M tokens'
export const mark = 'Mark'
export const cheapestToken = 'cheapest token'
export const frontOfItsDomain = 'front of its domain size'
export const strategy = 'Layout'
export const networks = 'Networks'
export const clickOrEnterLoadsA = 'click or Enter loads a layout into the calculator'
export const filterNetworks = 'Filter networks'
export const filterRailOnly64 = 'Filter: rail-only 64'
export const networksWithTheirStrategies = 'Networks with their layouts'

// cost-bars.tsx
export const switchPorts = 'switch ports'
export const transceivers = 'transceivers'
export const cables = 'cables'
export const nics = 'NICs'
export const whereTheDollarsGo = 'Cost breakdown'
export const devices = (bars: Part) => `${bars} devices`
export const stackedBars = 'stacked bars'
export const dollarsByDesignAndPart = 'Dollars by design and part. Arrow keys move.'
export const ofTheNetwork = 'of the network'
export const metresAndCables = 'metres and cables'
export const perDevice3 = 'per device'

// cost.tsx
export const against = (choice: Part) => `vs. ${choice}`
export const designsAndPrices = 'Designs and prices'
export const accelerator = 'Accelerator'
export const h100Sxm580gb = 'h100-sxm5-80gb'
export const forTheNetworksShareOf = 'For the network’s share of the cluster'
export const years2 = 'Years'
export const yearsOverWhichTheNetwork = 'Depreciation period of the network in years'
export const design = 'Design'
export const switches = 'Switches'
export const withNics = 'With NICs'
export const saves = 'Saving'
export const theFirst = 'the first'
export const portsTransceivers = 'Ports, transceivers'
export const savingOfPortsAndTransceivers = 'Saving on ports and transceivers at current prices, as in the chart'
export const shareOfTheDollarsOf = 'Share of the price of network and devices'
export const perYear = 'Per year'
export const networkPaidOverTheYears = 'Network and electricity over the depreciation period'
export const costs = 'Costs'
export const savingsAgainst = 'savings against'
export const linksShareACable = (links: Part, speed: Part, price: Part, ofALink: Part) =>
  `${links} links share a cable: a transceiver of ${speed} costs ${price}, ${ofALink} per link.`
export const costsOfDesigns = 'Costs of designs'
export const devices3 = 'Devices:'
export const at = 'at'
export const eachOver = 'each, over'
export const years = 'years ('
export const breakEven = 'Break-even'
export const savingByThePriceOf = 'Saving by switch-port price'
export const priceOfSwitchPortsOver = 'price of switch ports over the catalogue’s'
export const saved = 'saving (%)'
export const today = 'today'
export const portPrices = 'port prices'
export const notDrawn = (designs: Part) => `Not drawn, because the price is always more than twice as high: ${designs}.`
export const breakEvenAt = (factor: Part, ports: Part, transceivers: Part, several: boolean) =>
  `At ${factor} the current port prices, ${transceivers} costs the same as ${several ? 'each of ' : ''}${ports}; it is cheaper below.`
export const and = 'and'
export const theOrderOfTheseDesigns = 'Port prices do not affect the order of these designs.'
export const bySize = 'By size'
export const dollarsOfNetworkForEach = 'network cost per device in dollars, including NICs'
export const dollarsPerDeviceBySize = 'Dollars per device by size'
export const devices2 = 'devices'
export const dollarsPerDevice = 'dollars per device'
export const cheapestHere = 'cheapest at this size'

// drawing.tsx
export const loadOfLinksByLayer = 'Load of links by layer'
export const busiest = 'busiest'
export const mean = ', mean'

// failures.tsx
export const designsAndJob = 'Designs and job'
export const exposedShare = 'Exposed share'
export const shareOfTheStepThat = 'Exposed network time as a share of the step'
export const ofTheRun = 'run’s'
export const slowdownsAreThoseOfTheRun = 'Slowdowns are those of the run’s step at reduced bandwidth.'
export const slowdownsFollowTheShare = (reason: string | undefined) =>
  `Slowdowns follow from the exposed share${reason ? `, without the run: ${reason}` : ''}.`
export const trafficMovesTo = 'Traffic moves to'
export const theWholeDomain = 'the whole domain'
export const oneNeighbour = 'one neighbour'
export const theDeviceItself = 'the device itself'
export const failuresOf = (design: Part) => `Failures of ${design}`
export const failuresPerMonth = 'Failures per month'
export const stopTheJob2 = (interruptionsPerMonth: Part) => `${interruptionsPerMonth} stop the job`
export const byPart = 'by part'
export const lostPerMonth = 'Lost per month'
export const gpuHours = 'GPU-hours'
export const asIfGpusWereMissing = (meanLostDevices: Part) => `equivalent to ${meanLostDevices} lost GPUs`
export const stopTheJob = 'Stop the job'
export const gpuHoursLostPerMonth = 'GPU-hours lost per month'
export const ofTheMost = 'Relative to the maximum'
export const ofAll = 'Share of all GPU-hours'
export const asIfMissing = 'Equivalent GPUs lost'
export const gpus = 'GPUs'
export const stepOnAverage = 'Mean step time'
export const interruptionsAside = 'Without interruptions'
export const designsCompared = 'Designs compared'
export const lossesByFailuresOfSingle = 'losses by failures of individual parts'
export const lossesOfDesigns = 'Losses by design'
export const runsOn = 'continues'
export const goesWithout = 'drops affected domains'
export const onePartFails = 'One part fails'
export const parts = 'Parts'
export const cutOff = 'Disconnected'
export const devicesWhoseOwnNicReaches = 'Devices with a disconnected NIC'
export const exposedNetworkTimeGrowsBy = 'Exposed network time grows with the lost bandwidth; empty: the step cannot finish'
export const stops = 'stops'
export const thenIt = 'Action'
export const perMonth = 'Per month'
export const failuresOfAllPartsOf = 'Failures of all parts of this kind'
export const gpuHoursPerMonth = 'GPU-hours per month'
export const ofTheWorst = 'Relative to the worst'
export const failuresOfByPart = (name: Part) => `Failures of ${name} by part`

// fields.tsx
export const otherKeys = 'Other keys'
export const anyKeyOfADesign = 'Any other design key of this topology'
export const fromTheRunsCluster = 'From the run’s cluster'
export const domainsOf = (size: Part) => `: domains of ${size}`
export const segmentsOfDomains = (used: Part, size: Part) => `: the plan uses segments of ${used} in domains of ${size}`
export const at2 = (value: Part) => ` at ${value}`
export const perDevice = 'per device.'
export const gpusLeaveADomainIncomplete = 'GPUs do not fill the last domain:'
export const areShown = 'are shown.'
export const resetToIt = 'Reset to it'
export const designs = 'Designs'

// index.tsx
export const network = 'Network'
export const partsOfTheNetworkView = 'Parts of the network view'

// names.ts
export const clos = 'Clos'
export const railOptimized = 'rail-optimized'
export const railOnly = 'rail-only'
export const trimmed = 'trimmed'
export const dualPlane = 'dual-plane'
export const multiPlane = 'multi-plane'
export const dragonfly2 = 'dragonfly'
export const dragonfly = 'dragonfly+'
export const torus = 'torus'
export const slimFly = 'slim fly'
export const oneScaleUpDomain = 'one scale-up domain'
export const gbitS = (value: Part) => `${value} Gbit/s`
export const nicToLeaf = 'NIC to leaf'
export const leafToSpine = 'leaf to spine'
export const spineToCore = 'spine to core'
export const deviceToNic = 'device to NIC'

// needs-run.tsx
export const run = 'Run'
export const noRunYet = 'No run yet'
export const trafficNeedsARunName = 'Traffic requires a run. Set one above, create one in the calculator, or start with an example.'

// paper.tsx
export const sizeOfTheDomainK = 'Size of the domain (K)'
export const iterationTimeOnRailOnly = 'iteration time on rail-only; dashed: one domain for all, the ideal'
export const iterationTimeByDomainSize = 'Iteration time by domain size'
export const iterationTimeS = 'iteration time (s)'
export const onGpus = (workload: Part, devices: Part) => `${workload} on ${devices} GPUs`
export const overTheIdeal = 'slower than ideal'
export const ideal2 = (workload: Part) => `${workload} ideal`
export const sizeOfTheBatch = 'Size of the batch'
export const palmOnRailOnlyPerformance = 'PaLM on rail-only: performance relative to one domain for all'
export const relativePerformanceByDomainSize = 'Relative performance by domain size and batch'
export const gpusInOneScaleUp = 'GPUs in one scale-up domain'
export const ofTheIdeal2 = 'of the ideal (%)'
export const ideal = 'ideal'
export const sequences = (sequences: Part) => `${sequences} sequences`
export const ofTheIdeal = 'of the ideal'
export const byConstruction = 'by construction'
export const inAVariant = 'with a variant'
export const notReproduced = 'not reproduced'
export const notAttempted = 'not attempted'
export const points = (choice: Part, abs: Part) => `${choice}${abs} points`
export const claim = 'Claim'
export const paper = 'Paper'
export const here = 'Here'
export const inVariants = 'In variants'
export const withModelParallelGroupsOf = 'With model-parallel groups of twice the optimum, and with six all-reduces per layer'
export const error = 'Error'
export const pointsWhereTheClaimIs = 'Percentage points if the claim is a percentage, else percent'
export const status = 'Status'
export const remark = 'Remark'
export const targets = 'Targets'
export const paperHereErrorStatus = 'Paper, reproduced, error, status'
export const ofText = 'of'
export const claimsReproduced = 'claims reproduced'
export const filterClaims = 'Filter claims'
export const filterFigure7 = 'Filter: figure 7'
export const claimsOfThePaper = 'Claims of the paper'
export const savings = 'Savings'
export const savingsAgainstAClos = 'Savings against a Clos'
export const byTheRatioOfThe = 'by the price ratio of port to transceiver'
export const savingsBySizeAndRadixTable = 'Savings by size and radix: table'
export const savingsBySizeAndRadix = 'Savings by size and radix'
export const radix = 'Radix'
export const switchesClos = 'Switches, Clos'
export const forwarding = 'Forwarding'
export const allToAllThroughDomains = 'All-to-all through domains'
export const costOfForwardingBetweenRails = 'cost of forwarding between separate rails'
export const overheadOfForwardingTable = 'Overhead of forwarding: table'
export const overheadOfForwarding = 'Overhead of forwarding'
export const scaleUp = 'Scale-up'
export const overhead = 'Overhead'

// links-over-time.tsx
export const linksOverTheStep = 'Links over the step'
export const shareOfCapacityInIntervals = (length: Part) =>
  `share of the capacity in intervals of ${length}, coloured from 0% to 100%; traffic of this run only`
export const meanOfLayer = (name: Part) => `${name}, mean`
export const linksOfEachLayer = 'Links of each layer'
export const busiestLink = 'busiest'
export const allListedLinks = 'all listed'
export const interval = 'interval'
export const fromTo = (from: Part, to: Part) => `${from} to ${to}`
export const load = 'load'

// simulate.tsx
export const runAndNetwork = 'Run and network'
export const routing = 'Routing'
export const theDesigns = 'the design’s'
export const brokenParts = 'Failed parts'
export const removePart = (kind: Part, number: Part) => `Repair ${kind} ${number}`
export const failAPart = 'fail a part'
export const partOfKind = (kind: Part) => `Number of the failed ${kind}`
export const ofCount = (count: Part) => `of ${count}, from 0`
export const linkOf = (layer: Part) => `link, ${layer}`
export const partsThatAreBrokenSeparated = 'Failed parts by index'
export const otherJobsLoad = 'Background load'
export const none = 'none'
export const everyDeviceSendsWithThis = 'Background load of every device as a share of its bandwidth'
export const simulating = 'simulating'
export const stepWithFlows = 'Simulated step'
export const onRouting = (topology: Part, routing: Part) => `on ${topology}, ${routing} routing`
export const aNetworkThatNeverBlocks = 'a non-blocking network'
export const difference = 'Difference'
export const flows = (flows: Part, choice: Part) => `${flows} flows${choice}`
export const fromTheClosedFormTo = 'change from closed form to simulation'
export const timeLostToTheNetwork = 'Time lost to the network'
export const perStepIn = (unit: Part) => `${unit} per step`
export const stepThen = 'step during the failure'
export const loadOfTheLinks = 'Load of the links'
export const busiestLinkOfEachLayer = 'busiest link of each layer over the step, on the topology'
export const loadOfTheLinksOn = (topology: Part) => `Load of the links on ${topology}`
export const exchanges = 'Communication'
export const closedFormAboveInThe =
  'closed form above, simulated step below; on the stage with the longest communication, overlapped or not'
export const exchangesByDimensionTable = 'Communication by dimension: table'
export const exchangesByDimension = 'Communication by dimension'
export const forText = 'Purpose'
export const bars = 'Bars'
export const closedForm = 'Closed form'
export const alone = 'Alone'
export const inTheStep = 'In the step'
export const slower = 'Slowdown'
export const shareOfTheStepsTime =
  'share of the step in which traffic of this run occupies the links, at attained rates (below the capacity)'
export const linksByLayerTable = 'Links by layer: table'
export const linksByLayer = 'Links by layer'
export const layer = 'Layer'
export const links = 'Links'
export const used = 'Used'
export const each = 'Capacity'
export const busy = 'Busy'
export const bar = 'Bar'
export const busiest2 = 'Busiest'
export const link = 'Link'

// state.ts
export const railOnlyPaper = 'Rail-only paper'
export const acceleratorsThatTheNetworkJoins = 'Accelerators connected by the network'
export const acceleratorsInOneScaleUp = 'Accelerators in one scale-up domain'
export const nicSpeed = 'NIC speed'
export const networkBandwidthOfOneDevice = 'Network bandwidth of one device, one direction'
export const switchPorts2 = 'Switch ports'
export const portsOfASwitchCounted = 'Ports of a switch, counted at NIC speed'
export const gbS = (value: Part) => `${value} GB/s`

// topology.tsx
export const devicesInDomainsOf = (devices: Part, size: Part) => `${devices} devices in domains of ${size}`
export const ports2 = (ports: Part) => `${ports} ports`
export const cables2 = (cables: Part) => `${cables} cables`
export const perDeviceOneDirection = 'per device, one direction'
export const rails = 'Rails'
export const capacity = 'Capacity'
export const devicesWithTheseSwitches = 'devices with these switches'
export const pictureOf = (name: Part, value: Part) => `Diagram of ${name}: ${value}`
export const bothDirectionsOfACable = 'both directions of a cable count once'
export const switchesAndCablesTable = 'Switches and cables: table'
export const switchesByTier = 'Switches by tier'
export const tier = 'Tier'
export const ports = 'Ports'
export const inUse = 'In use'
export const cablesByLayer = 'Cables by layer'
export const medium = 'Medium'
export const transceivers2 = 'Transceivers'
export const reach = 'Reach'
export const fromOneDeviceToAll = 'from one device to all others'
export const reachFromOneDeviceTable = 'Reach from one device: table'
export const reachFromOneDevice = 'Reach from one device'
export const devices4 = 'Devices'
export const latency = 'Latency'
export const shortestPaths = 'Shortest paths'

// traffic-tables.tsx
export const inOneDomain = 'in one domain'
export const onOneRail = 'on one rail'
export const onDifferentRails = 'on different rails'
export const trafficInFigures = 'Traffic in numbers'
export const by = 'Traffic by'
export const ranks = 'Ranks'
export const oneCall = 'One call'
export const bytesByTheConventionOf = 'Bytes as defined by nccl-tests'
export const calls = 'Calls'
export const inside = 'Within domains'
export const shareThatStaysInScale = 'Share within scale-up domains'
export const exchangesOfAStep = 'Operations of a step'
export const pairs = 'Pairs'
export const number = 'Number'
export const communicating = 'Communicating'
export const share = 'Share'
export const meanOfCommunicating = 'Mean per communicating pair'
export const pairsOfRanks = 'Pairs of ranks'
export const staysInside = 'Within domains'
export const scaleUpDomains = 'Scale-up domains'
export const rail = 'Rail'
export const alongTheRail = 'Along the rail'
export const toOtherRails = 'To other rails'
export const fromOtherRails = 'From other rails'
export const busyTimeOfTheBusiest = 'Busy time of the busiest link at full bandwidth, a lower bound on the step'
export const to = (from: Part, to: Part) => `${from} to ${to}`

// traffic.tsx
export const aStep = (bytes: Part, choice: Part) => `${bytes} per step${choice}`
export const gathersAndReductions = 'Gathers and reductions'
export const ringsAlongRails = 'rings along rails'
export const allToAll2 = 'all-to-all'
export const allToAll = 'All-to-all'
export const throughDomains = 'through domains'
export const onANetwork = 'On a network'
export const domainsRailsAndLinksOf = 'Use domains, rails and links of the design instead of the cluster’s'
export const trafficMatrix = 'Traffic matrix'
export const bytesAStepThatLeave = 'bytes per step that leave domains, from rail to rail, on a logarithmic scale'
export const bytesAStepFromA = 'bytes per step from one rank to another, on a logarithmic scale'
export const cells = 'Cells'
export const dimension = 'Dimension'
export const ofAll2 = (bytes: Part) => `, ${bytes} of all`
export const trafficFromRankToRank = 'Traffic from rank to rank'
export const sending = (value: Part) => `sending ${value}`
export const receiving = (value: Part) => `receiving ${value}`
export const to2 = (value: Part, row: Part, value2: Part, column: Part) => `${value} ${row} to ${value2} ${column}`
export const aRankToARank = 'one rank to another'
export const rank = (first: Part) => `rank ${first}`
export const ranksTo = (first: Part, last: Part) => `ranks ${first} to ${last}`
export const sums = 'Totals'
export const sentPerStep = 'Sent per step'
export const byEachRank = (sentPerRank: Part) => `${sentPerRank} by each rank`
export const staysInDomains = 'Within domains'
export const domainsOf2 = (ceil: Part, domain: Part) => `${ceil} domains of ${domain}`
export const silentPairs = 'Pairs without traffic'
export const exchangeNoBytes = 'of all pairs'
export const bytesByDimension = 'Bytes by dimension'
export const portsAndTransceiversSavedAgainst = (other: Part) =>
  `ports and transceivers, saved against ${other}; catalogue prices, ports scaled`

export const waitsOfStages = 'Stage waits'
export const computeOfEachStageAnd = (unit: Part) => `compute and waits of each stage, by cause, in ${unit}`
export const stageAxis = 'stage'
export const workOfStage = (work: Part, stage: Part) => `${work} of stage ${stage}`
export const stageWaits = (stage: Part, time: Part, share: Part) => `Stage ${stage} waits ${time}, ${share} of the step: `
export const andMore = (count: Part) => ` and ${count} more`
export const otherStages = 'other stages'
export const compute = 'compute'
