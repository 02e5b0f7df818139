// Reference of the program and its accuracy: catalogues, keys and terms, and predictions next to measured runs.
// Responsible for: the tabs. Each tab shows the answer of a command.
import type { ComponentType } from 'preact'
import { useKeys } from '../../state/keys'
import { change, own } from '../../state/location'
import { Tabs } from '../parts/tabs'
import { Calibration } from './calibration'
import { Accelerators, Clusters, Examples, Models } from './catalogues'
import { Detected } from './detected'
import { Validation } from './validation'
import { Keys, Words } from './words'
import './reference.css'
import * as texts from '../../words/reference'

const TABS: readonly { readonly id: string; readonly title: string; readonly view: ComponentType }[] = [
  { id: 'models', title: texts.models, view: Models },
  { id: 'accelerators', title: texts.accelerators, view: Accelerators },
  { id: 'clusters', title: texts.clusters, view: Clusters },
  { id: 'examples', title: texts.examples, view: Examples },
  { id: 'words', title: texts.words, view: Words },
  { id: 'keys', title: texts.keys, view: Keys },
  { id: 'detected', title: texts.launchFiles, view: Detected },
  { id: 'validation', title: texts.validation, view: Validation },
  { id: 'calibration', title: texts.calibration, view: Calibration },
]

export default function View() {
  const { tab = 'models' } = own('r')
  const shown = TABS.find((one) => one.id === tab) ?? TABS[0]!
  const Tab = shown.view
  const open = (id: string) => change({ 'r.tab': id === 'models' ? undefined : id, 'r.filter': undefined, 'r.at': undefined })
  useKeys(TABS.map((one, at) => ({ keys: String(at + 1), title: one.title, group: 'Reference', run: () => open(one.id) })))
  return (
    <div class="reference">
      <Tabs label={texts.partsOfTheReferenceView} tabs={TABS} shown={shown.id} prefix="reference" panel="reference-panel" open={open} />
      <div id="reference-panel" role="tabpanel" aria-labelledby={`reference-${shown.id}`}>
        <Tab key={shown.id} />
      </div>
    </div>
  )
}
