// Time breakdown of a step: an icicle chart down to operators, and the same as a tree next to it. Zoom and highlight are linked.
import { NumberHead } from '../parts/table-panel'
import { useState } from 'preact/hooks'
import type { Estimate, TimeNode } from '../../api/answers'
import { ChartFrame } from '../../charts/frame'
import { timeColour } from '../../charts/colours'
import { percent, seconds } from '../../charts/format'
import { Icicle } from '../../charts/icicle'
import { change } from '../../state/location'
import { Explained } from '../../ui/why'
import { BUBBLE_WORDS } from '../parts/bubble'
import { Difference, doubtOf } from './headline'
import { kept } from './scenarios'
import { find, flat, merged } from './time-tree'
import * as texts from '../../words/calculator'

interface Props {
  readonly a: Estimate
  readonly b: Estimate | null
  readonly stale: boolean
}

export function Breakdown(props: Props) {
  const [pointed, setPointed] = useState<string | null>(null)
  const zoom = kept.value.part ?? ''
  const onZoom = (id: string) => change({ 'c.part': id === 'step' ? undefined : id })
  const trees = [{ label: props.b ? 'A' : '', root: props.a.time }, ...(props.b ? [{ label: 'B', root: props.b.time }] : [])]
  const critical = props.a.stages.find((stage) => stage.critical)
  return (
    <ChartFrame
      title={texts.whereTheTimeGoes}
      about={props.a.stages.length > 1 && critical ? texts.criticalStage(critical.stage) : undefined}
      name="time-breakdown"
      class="breakdown"
      stale={props.stale}
      rows={() => ({
        columns: ['scenario', 'id', 'part', 'seconds', 'share'],
        rows: trees.flatMap((tree) => flat(tree.root).map((node) => [tree.label || 'A', node.id, node.title, node.time, node.share])),
      })}
    >
      {(width) => (
        <div class="breakdown-grid">
          <div>
            <Icicle trees={trees} width={width} zoom={zoom} onZoom={onZoom} pointed={pointed} onPoint={setPointed} />
            {zoom && (
              <p class="hint-line">
                <button type="button" class="link" onClick={() => onZoom('')}>
                  {texts.showTheWholeStep}
                </button>
              </p>
            )}
          </div>
          <Tree a={props.a} b={props.b} pointed={pointed} onPoint={setPointed} onZoom={onZoom} />
        </div>
      )}
    </ChartFrame>
  )
}

interface Row {
  readonly node: TimeNode
  readonly depth: number
}

/** Minimum seconds of a listed part; smaller ones are rounding errors of the schedule. */
const LEAST = 1e-6

function Tree(props: {
  a: Estimate
  b: Estimate | null
  pointed: string | null
  onPoint: (id: string | null) => void
  onZoom: (id: string) => void
}) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set(['step', 'compute', 'exposed']))
  const other = props.b ? new Map(flat(props.b.time).map((node) => [node.id, node])) : null
  const rows: Row[] = []
  const add = (node: TimeNode, depth: number) => {
    if (Math.max(node.time, other?.get(node.id)?.time ?? 0) < LEAST && node.id !== 'step') return
    rows.push({ node, depth })
    if (opened.has(node.id)) for (const child of node.children) add(child, depth + 1)
  }
  add(merged(props.a.time, props.b?.time), 0)
  // The same for all rows, so its mark is in the head of their column.
  const doubt = props.b ? doubtOf(props.a, props.b) : null
  const toggle = (id: string) => {
    const next = new Set(opened)
    if (!next.delete(id)) next.add(id)
    setOpened(next)
  }
  return (
    <div class="table-holder">
      <table class="table tree" aria-label={texts.partsOfTheStep}>
        <thead>
          <tr>
            <th scope="col">{texts.part}</th>
            <th scope="col" class="right">
              {props.b ? 'A' : 'Time'}
            </th>
            {!props.b && <NumberHead>{texts.share}</NumberHead>}
            {props.b && (
              <th scope="col" class="right">
                B
              </th>
            )}
            {props.b && (
              <th scope="col" class="right">
                {texts.change}
                {doubt?.mark && (
                  <span class="in-doubt" title={doubt.why}>
                    {' '}
                    {doubt.mark}
                  </span>
                )}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ node, depth }) => {
            const before = find(props.a.time, node.id)
            const after = other?.get(node.id)
            return (
              <tr
                key={node.id}
                class={props.pointed === node.id ? 'current' : ''}
                onMouseEnter={() => props.onPoint(node.id)}
                onMouseLeave={() => props.onPoint(null)}
              >
                <th scope="row" style={{ paddingLeft: `calc(${depth} * var(--step, 16px) + 4px)` }}>
                  <span class="tree-name">
                    {node.children.length > 0 ? (
                      <button
                        type="button"
                        class="caret"
                        aria-expanded={opened.has(node.id)}
                        aria-label={`${opened.has(node.id) ? 'Close' : 'Open'} ${node.title}`}
                        onClick={() => toggle(node.id)}
                      >
                        {opened.has(node.id) ? '▾' : '▸'}
                      </button>
                    ) : (
                      <span class="caret" />
                    )}
                    {node.id !== 'step' && (
                      <span class={`swatch ${node.id === 'bubble' ? 'hatched' : ''}`} style={{ background: timeColour(node.id) }} />
                    )}
                    <button type="button" class="plain" tabIndex={-1} onClick={() => props.onZoom(node.children.length > 0 ? node.id : '')}>
                      {node.title}
                    </button>
                  </span>
                </th>
                <td class="right">
                  <Explained id={node.id === 'step' ? 'step_time' : node.id} list={props.a.why}>
                    {before ? seconds(before.time) : '–'}
                  </Explained>
                </td>
                {!props.b && (
                  <td class="right share">
                    <span class="share-bar" aria-hidden="true">
                      <span
                        style={{
                          width: `${Math.max(0, Math.min(node.share, 1)) * 100}%`,
                          background: node.id === 'step' ? 'var(--line-strong)' : timeColour(node.id),
                        }}
                      />
                    </span>
                    {node.id === 'bubble' ? (
                      <Explained id="bubble.critical" list={BUBBLE_WORDS}>
                        {percent(node.share)}
                      </Explained>
                    ) : (
                      percent(node.share)
                    )}
                  </td>
                )}
                {props.b && (
                  <td class="right">
                    <Explained id={node.id === 'step' ? 'step_time' : node.id} list={props.b.why}>
                      {after ? seconds(after.time) : '–'}
                    </Explained>
                  </td>
                )}
                {props.b && (
                  <td class="right">
                    <Difference
                      a={before?.time ?? 0}
                      b={after?.time ?? 0}
                      better="less"
                      step={props.a.step_time}
                      unless={doubt && { ...doubt, mark: '' }}
                    />
                  </td>
                )}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
