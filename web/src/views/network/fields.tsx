// Fields of a design, shared by the desks for diagrams, costs, failures and loads.
import { Choice, Text } from '../parts/controls'
import { runParameters } from '../search/question'
import { ownCluster } from './own-cluster'
import { DESIGN_FIELDS, USUAL, chosenDesigns, kind, ofOwnCluster, parameter, setParameter, wholeDomains } from './state'
import { KINDS, kindOf } from './names'
import * as texts from '../../words/network'

export function DesignFields({ withKind = true, only }: { withKind?: boolean; only?: readonly string[] }) {
  return (
    <>
      {withKind && (
        <Choice
          title={texts.topology}
          value={kind()}
          options={KINDS.map((one) => [one.id, one.title] as const)}
          onChange={(value) => setParameter('kind', value === USUAL ? undefined : value)}
        />
      )}
      {DESIGN_FIELDS.filter((field) => !only || only.includes(field.key)).map((field) => (
        <Text
          key={field.key}
          title={field.title}
          about={field.about}
          placeholder={(field.key === 'gpus' ? runParameters().gpus : ofOwnCluster()[field.key]) ?? field.placeholder}
          value={parameter(field.key)}
          onChange={(value) => setParameter(field.key, value)}
        />
      ))}
      <Text
        title={texts.otherKeys}
        wide
        placeholder={texts.tiers2RoutingSpray}
        about={texts.anyKeyOfADesign}
        value={parameter('more')}
        onChange={(value) => setParameter('more', value)}
      />
      <OwnCluster />
    </>
  )
}

/** Values from the run's own cluster for empty fields. */
function OwnCluster() {
  const cluster = ownCluster()
  const own = ofOwnCluster()
  if (!cluster || DESIGN_FIELDS.every(({ key }) => own[key] === undefined || parameter(key))) return null
  const devices = Number(runParameters().gpus)
  const whole = wholeDomains(devices, cluster.scale_up.domain_size)
  const changed = ['domain', 'speed', 'gpus'].filter((key) => parameter(key))
  return (
    <p class="muted own-cluster">
      {texts.fromTheRunsCluster} <b>{cluster.name}</b>
      {texts.domainsOf} {cluster.scale_up.domain_size}
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
  return (
    <div class="entries picks-row" role="group" aria-label={texts.designs}>
      {KINDS.filter((one) => one.id !== 'scale-up').map((one) => (
        <button
          key={one.id}
          type="button"
          class="pick"
          aria-pressed={chosen.includes(one.id)}
          onClick={() => {
            const next = chosen.includes(one.id) ? chosen.filter((id) => id !== one.id) : [...chosen, one.id]
            if (next.length > 0) setParameter('designs', next.join(','))
          }}
        >
          <Swatch id={one.id} /> {one.title}
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
