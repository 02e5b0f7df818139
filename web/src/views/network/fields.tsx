// The fields of a design, shared by the desks that draw, price, break or load one.
import { pairsOf, pairsText } from '../../state/settings'
import { Amount } from '../../ui/amounts'
import { Settings } from '../../ui/settings'
import { Choice } from '../parts/controls'
import { runParameters } from '../search/question'
import type { TopologiesAnswer } from './answer'
import { keyName, settingsOf, useTopologies } from './design-keys'
import { ownCluster, usedOfDomain } from './own-cluster'
import { DESIGN_FIELDS, USUAL, chosenDesigns, kind, ofOwnCluster, parameter, setParameter, wholeDomains } from './state'
import { kindOf } from './names'
import * as texts from '../../words/network'

interface FieldsProps {
  readonly withKind?: boolean
  readonly only?: readonly string[]
  /** Keys that have a field of their own elsewhere. */
  readonly without?: readonly string[]
}

export function DesignFields({ withKind = true, only, without = [] }: FieldsProps) {
  const listed = useTopologies()
  const fields = DESIGN_FIELDS.filter((field) => !only || only.includes(field.key))
  const kinds = withKind || only ? [kind()] : chosenDesigns()
  const options = settingsOf(listed, kinds, [...DESIGN_FIELDS.map((field) => field.key), ...without])
  return (
    <>
      {withKind && (
        <Choice
          title={texts.topology}
          value={kind()}
          options={kindsOf(listed).map((id) => [id, kindOf(id).title] as const)}
          onChange={(value) => setParameter('kind', value === USUAL ? undefined : value)}
        />
      )}
      {fields.map((field) => (
        <Amount
          key={field.key}
          title={field.title}
          about={field.about}
          unit={field.unit}
          auto={(field.key === 'gpus' ? runParameters().gpus : ofOwnCluster()[field.key]) ?? defaultOf(listed.keys, field.key)}
          value={parameter(field.key)}
          onChange={(value) => setParameter(field.key, value)}
        />
      ))}
      <Settings
        title={texts.otherKeys}
        about={texts.anyKeyOfADesign}
        options={options}
        find={(name) => options.find((one) => one.name === keyName(name))}
        pairs={pairsOf(parameter('more'), ' ')}
        onChange={(pairs) => setParameter('more', pairsText(pairs, ' '))}
      />
      <OwnCluster />
    </>
  )
}

/** Topologies that the program lists. */
function kindsOf({ topologies }: Pick<TopologiesAnswer, 'topologies'>): readonly string[] {
  return topologies.length > 0 ? topologies.map((one) => one.kind) : [kind()]
}

/** Topologies with their signs, without the ideal that others are compared with. */
export function topologyOptions(listed: Pick<TopologiesAnswer, 'topologies'>) {
  return kindsOf(listed)
    .filter((id) => id !== 'scale-up')
    .map(
      (id) =>
        [
          id,
          <span key={id} class="swatched">
            <Swatch id={id} /> {kindOf(id).title}
          </span>,
        ] as const,
    )
}

/** What the program takes without a key, where that is a value alone. */
function defaultOf(keys: readonly { readonly name: string; readonly default: string }[], field: string): string | undefined {
  const text = keys.find((key) => key.name === keyName(field))?.default
  return text && text.length < 12 ? text : undefined
}

/** What the fields that are empty take from the run's own cluster. */
function OwnCluster() {
  const cluster = ownCluster()
  const own = ofOwnCluster()
  if (!cluster || DESIGN_FIELDS.every(({ key }) => own[key] === undefined || parameter(key))) return null
  const devices = Number(runParameters().gpus)
  const size = cluster.scale_up.domain_size
  const used = usedOfDomain(cluster)
  const whole = wholeDomains(devices, used)
  const changed = ['domain', 'speed', 'gpus'].filter((key) => parameter(key))
  return (
    <p class="muted own-cluster">
      {texts.fromTheRunsCluster} <b>{cluster.name}</b>
      {used < size ? texts.segmentsOfDomains(used, size) : texts.domainsOf(size)}
      {own['domain-bandwidth'] && texts.at2(own['domain-bandwidth'])}, {own.speed} {texts.perDevice}
      {whole > devices && !parameter('gpus') && !parameter('domain') && (
        <>
          {' '}
          {devices.toLocaleString('en')} {texts.gpusLeaveADomainIncomplete} {whole.toLocaleString('en')} {texts.areShown}
        </>
      )}
      {changed.length > 0 && (
        <button type="button" class="button quiet" onClick={() => changed.forEach((key) => setParameter(key, undefined))}>
          {texts.resetToIt}
        </button>
      )}
    </p>
  )
}

/** Designs to compare; the first one is the baseline. */
export function DesignChoice() {
  const chosen = chosenDesigns()
  const listed = useTopologies()
  return (
    <div class="entries picks-row" role="group" aria-label={texts.designs}>
      {topologyOptions(listed).map(([id, title]) => (
        <button
          key={id}
          type="button"
          class="pick"
          aria-pressed={chosen.includes(id)}
          onClick={() => {
            const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]
            if (next.length > 0) setParameter('designs', next.join(','))
          }}
        >
          {title}
        </button>
      ))}
    </div>
  )
}

/** Symbol of a kind: colour and shape. */
export function Swatch({ id }: { id: string }) {
  const { colour, shape } = kindOf(id)
  return (
    <svg class="kind-swatch" width="10" height="10" viewBox="-5 -5 10 10" data-decoration aria-hidden="true" style={{ color: colour }}>
      {shape === 'square' && <rect x="-4" y="-4" width="8" height="8" fill="currentColor" />}
      {shape === 'circle' && <circle r="4" fill="currentColor" />}
      {shape === 'diamond' && <path d="M0-5L5 0L0 5L-5 0Z" fill="currentColor" />}
      {shape === 'triangle' && <path d="M0-5L5 4L-5 4Z" fill="currentColor" />}
      {shape === 'cross' && <path d="M-4-4L4 4M-4 4L4-4" stroke="currentColor" stroke-width="2" />}
    </svg>
  )
}
