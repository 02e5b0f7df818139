// Source line of a saved chart: the run or the open files, and the date.
import { withoutHandle } from '../api/uploads'
import { location, own } from '../state/location'
import { planSummary, runText } from '../state/run'
import { views } from '../views/registry'
import * as texts from '../words/charts'
import { amount, count } from './format'

/** Views whose subject is opened files, by their prefix. */
export const OF_FILES: readonly string[] = ['t', 'l', 'h', 'y']

/** `model llama-3.1-405b, cluster dgx-h100, gpus 1024 (Railwright, 2026-03-01)`. */
export function sourceText(today: Date): string {
  return texts.railwright(subject(), today.toISOString().slice(0, 10))
}

/** A setting as a caption names it: `tokens 1T`, `gpus 16,384`, `uneven stages`. */
export function settingText(key: string, value: string): string {
  const name = key.replaceAll('-', ' ')
  if (value === 'true') return name
  if (value === 'false') return texts.without(name)
  if (!/^\d{4,}$/.test(value)) return `${name} ${value}`
  return `${name} ${key === 'tokens' ? amount(Number(value)) : count(Number(value))}`
}

/** Run, or open files. */
export function subject(): string {
  const view = views.find((one) => one.id === location.value.view)
  const files = view && OF_FILES.includes(view.prefix) ? [own(view.prefix).path, own(view.prefix).files].filter(Boolean).join(', ') : ''
  const isOfAllSizes = view?.id === 'machines'
  const run = Object.entries(runText.value)
    .filter(([key]) => !(isOfAllSizes && key === 'gpus'))
    .map(([key, value]) => settingText(key, withoutHandle(value)))
    .join(', ')
  const plan = run && planSummary.value ? `${run}; ${planSummary.value}` : run
  return withoutHandle(files) || plan || texts.noRun
}
