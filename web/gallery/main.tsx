// Every component in every state, for `npm run gallery` and e2e/tests/gallery.mjs. Development only: no part of dist.
import { render } from 'preact'
import { useState } from 'preact/hooks'
import '../src/styles/tokens.css'
import '../src/styles/base.css'
import '../src/styles/shell.css'
import '../src/styles/states.css'
import '../src/styles/fields.css'
import '../src/styles/table.css'
import '../src/styles/why.css'
import '../src/styles/chart.css'
import '../src/charts/plot.css'
import '../src/views/parts/layout.css'
import '../src/views/calculator/calculator.css'
import '../src/state/theme'
import { CLASSES, CLASS_TITLES, KINDS, classColour, kindColour, words } from '../src/charts/colours'
import { inkOn } from '../src/charts/ink'
import { Legend } from '../src/charts/legend'
import { dark } from '../src/state/theme'
import { COUNT, GIGABITS, PERCENT } from '../src/state/amounts'
import type { Pair } from '../src/state/settings'
import { Amount, Amounts } from '../src/ui/amounts'
import { Chips } from '../src/ui/chips'
import { Combobox } from '../src/ui/combobox'
import { Choice, Segments, Switch, TextField } from '../src/ui/fields'
import { Menu } from '../src/ui/menu'
import { type Setting, Settings } from '../src/ui/settings'
import { Empty, Problems } from '../src/ui/states'
import { Stepper } from '../src/ui/stepper'
import { Table } from '../src/ui/table'

const nothing = () => {}
const VARIANTS = ['', 'primary', 'quiet', 'icon', 'quiet icon'] as const

function Buttons() {
  return (
    <section aria-label="Buttons">
      <h2>Buttons</h2>
      {VARIANTS.map((variant) => (
        <p key={variant}>
          <code>{variant || 'plain'}</code>{' '}
          <button type="button" class={`button ${variant}`} aria-label={variant.includes('icon') ? 'More' : undefined}>
            {variant.includes('icon') ? '⋯' : 'Run'}
          </button>{' '}
          <button type="button" class={`button ${variant}`} disabled aria-label={variant.includes('icon') ? 'More' : undefined}>
            {variant.includes('icon') ? '⋯' : 'Run'}
          </button>{' '}
          <button type="button" class={`button ${variant}`} aria-busy="true" aria-label={variant.includes('icon') ? 'More' : undefined}>
            {variant.includes('icon') ? '' : 'Running'}
          </button>{' '}
          {!variant.includes('icon') && (
            <button type="button" class={`button ${variant}`}>
              With a key <kbd>r</kbd>
            </button>
          )}
        </p>
      ))}
      <p>
        <Menu
          label="A menu"
          class="button"
          items={[
            { title: 'One', run: nothing },
            { title: 'Two', note: 'a note', run: nothing },
          ]}
        >
          Menu…
        </Menu>
      </p>
    </section>
  )
}

function Fields() {
  const powers = [1, 2, 4, 8]
  return (
    <section aria-label="Fields" style={{ maxWidth: '300px' }}>
      <h2>Fields</h2>
      <Stepper label="Auto" value={2} values={powers} onAuto={nothing} onChange={nothing} />
      <Stepper label="One by default" value={1} values={powers} byDefault onAuto={nothing} onChange={nothing} />
      <Stepper label="Set by the user" value={4} values={powers} own onAuto={nothing} onChange={nothing} />
      <Stepper label="Refused" value={3} values={powers} own blame onAuto={nothing} onChange={nothing} />
      <Stepper label="Disabled" value={2} values={powers} disabled onChange={nothing} />
      <Switch label="A switch" value={true} own onAuto={nothing} onChange={nothing} />
      <Switch label="Off" value={false} onAuto={nothing} onChange={nothing} />
      <Switch label="Disabled switch" value={true} disabled onChange={nothing} />
      <Choice
        label="A choice"
        value="one"
        options={[
          ['one', 'One'],
          ['two', 'Two'],
        ]}
        onAuto={nothing}
        onChange={nothing}
      />
      <TextField label="A text" value="" placeholder="15T" onAuto={nothing} onChange={nothing} />
      <TextField label="A text of the user" value="300B" own onAuto={nothing} onChange={nothing} />
      <Combobox
        label="A list"
        value="one"
        options={[
          { value: 'one', title: 'One', note: 'first', group: 'numbers' },
          { value: 'two', title: 'Two' },
        ]}
        onChoose={nothing}
      />
      <Segments
        label="Segments"
        value="one"
        options={[
          ['one', 'One'],
          ['two', 'Two'],
        ]}
        onChange={nothing}
      />
    </section>
  )
}

const SETTINGS: readonly Setting[] = [
  { name: 'tiers', title: 'tiers', about: 'Tiers of switches', auto: 'the minimum', control: { is: 'number', whole: true } },
  { name: 'routing', title: 'routing', control: { is: 'choice', options: ['ecmp', 'spray'] } },
  { name: 'latency', title: 'latency', control: { is: 'quantity', units: ['us', 'ms'] } },
  {
    name: 'recompute',
    title: 'recompute',
    control: {
      is: 'form',
      forms: [
        { head: 'none', hasNumber: false },
        { head: 'full:', hasNumber: true },
      ],
    },
  },
  { name: 'sides', title: 'sides', control: { is: 'numbers' } },
]

/** Controls that replace texts with a syntax, each with what the address would keep. */
function Controls() {
  const [amount, setAmount] = useState<string | undefined>('0.2')
  const [set, setSet] = useState<string | undefined>('200G,50 GB/s,fast')
  const [names, setNames] = useState<string | undefined>('clos,unknown')
  const [pairs, setPairs] = useState<readonly Pair[]>([
    ['tiers', '2'],
    ['routing', ''],
    ['latency', '5us'],
    ['recompute', 'full:5'],
    ['sides', '4,4'],
    ['older', 'as=it'],
  ])
  return (
    <section aria-label="Controls" class="view">
      <h2>Controls</h2>
      <div class="entries">
        <Amount title="Share" value={amount ?? ''} unit={PERCENT} auto="0.5" onChange={setAmount} />
        <Amount title="Auto" value="" unit={COUNT} auto="8" onChange={nothing} />
        <Amount title="Another form" value="spare=0.5" unit={PERCENT} onChange={nothing} />
        <Amounts title="Speeds" value={set ?? ''} unit={GIGABITS} auto="200, 400" onChange={setSet} />
        <Chips
          title="Names"
          value={names ?? ''}
          options={[
            ['clos', 'Clos'],
            ['torus', 'torus'],
          ]}
          onChange={setNames}
        />
        <Settings title="Settings" pairs={pairs} options={SETTINGS} onChange={setPairs} relative />
      </div>
      <output aria-label="Address">{JSON.stringify({ amount, set, names, pairs: pairs.map((pair) => pair.join('=')) })}</output>
    </section>
  )
}

function States() {
  return (
    <section aria-label="States">
      <h2>States</h2>
      <p>
        {(['yes', 'near', 'no'] as const).map((verdict) => (
          <span key={verdict} class={`verdict ${verdict}`}>
            {verdict}
          </span>
        ))}{' '}
        {(['good', 'bad', 'warn'] as const).map((tone) => (
          <span key={tone} class={`tone-${tone}`}>
            tone {tone}{' '}
          </span>
        ))}
        <span class="muted">muted</span> <a href="#main">a link</a> <span class="chip">chip</span>
      </p>
      <Problems
        problems={[{ message: 'tensor parallel 7 does not divide 128 heads', place: '--tp', hint: 'use `4` or `8`' }]}
        suggest={() => [{ title: 'tp 8', run: nothing }]}
      />
      <Empty title="Nothing here yet" text="What would be here, and how to get it.">
        <button type="button" class="button primary">
          Open
        </button>
      </Empty>
      <Table
        caption="A table"
        columns={[
          { key: 'a', title: 'Name', value: (row: { a: string; n: number }) => row.a },
          { key: 'n', title: 'Number', value: (row) => row.n, align: 'right' },
        ]}
        rows={[
          { a: 'first', n: 1 },
          { a: 'second', n: 2 },
        ]}
        identify={(row) => row.a}
        onChoose={nothing}
      />
    </section>
  )
}

function Colours() {
  // Read again when the theme changes.
  void dark.value
  const box = (name: string, title: string, colour: string) => (
    <span
      key={name}
      class="swatch-text"
      style={{ display: 'inline-block', padding: '4px 8px', background: colour, color: inkOn(colour), fontSize: '11px' }}
    >
      {title}
    </span>
  )
  return (
    <section aria-label="Chart colours">
      <h2>Chart colours</h2>
      <p>{CLASSES.map((name) => box(name, CLASS_TITLES[name], classColour(name)))}</p>
      <p>{KINDS.map((name) => box(name, words(name), kindColour(name)))}</p>
      <Legend items={CLASSES.map((name) => ({ title: CLASS_TITLES[name], colour: classColour(name) }))} />
    </section>
  )
}

const root = document.getElementById('page')
if (root)
  render(
    <main
      id="main"
      style={{ display: 'grid', gridTemplateColumns: 'repeat(auto-fit, minmax(min(340px, 100%), 1fr))', gap: '24px', padding: '16px' }}
    >
      <h1 class="hidden-visually">Gallery</h1>
      <Buttons />
      <Fields />
      <Controls />
      <States />
      <Colours />
    </main>,
    root,
  )
