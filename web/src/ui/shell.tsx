// Frame of the web UI: header with views, theme and keys; the open view; dialogs and messages.
import { signal } from '@preact/signals'
import { Component, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { lost } from '../api/ask'
import { playground } from '../api/playground/marker'
import { report } from '../api/report'
import { arrived } from '../api/uploads'
import { useKeys } from '../state/keys'
import { go, repeated, view } from '../state/location'
import { chooseTheme, theme } from '../state/theme'
import { type View, views } from '../views/registry'
import { DropAnywhere } from './drop'
import { KeyOverlay } from './key-overlay'
import { LinkDialog, Lost } from './link'
import { MissingFiles } from './missing-files'
import { ReportDialog } from './report-dialog'
import { ReportHead } from './report-head'
import { Empty, Loading } from './states'
import { Toasts } from './toasts'
import { useMoreBeyond } from './more-beyond'
import { WhyBox } from './why'
import * as texts from '../words/ui'

const keysShown = signal(false)
const linkShown = signal(false)
const reportShown = signal(false)

function toggleKeys(): void {
  keysShown.value = !keysShown.value
}

function showReport(): boolean {
  reportShown.value = report === null
  return report === null
}

function showLink(): void {
  linkShown.value = true
}

export function Shell() {
  const open = views.find((one) => one.id === view.value)
  useEffect(() => {
    // The static header of the HTML marks the view of the initial URL; the links do from here on.
    delete document.documentElement.dataset.view
    document.title = open ? `${open.title} · Railwright` : 'Railwright'
    // On a phone the header shows only some views: the open one is scrolled into view.
    document.querySelector('.views [aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [open])
  const nav = useRef<HTMLElement>(null)
  useMoreBeyond(nav)
  useKeys([
    ...views.map((one) => ({ keys: `g ${one.key}`, title: one.title, group: 'Views', run: () => go(one.id) })),
    { keys: '?', title: texts.allKeys, group: 'Page', run: toggleKeys },
    { keys: 'Shift+?', title: texts.allKeys, group: 'Page', hidden: true, run: toggleKeys },
    {
      keys: 'R',
      title: texts.saveOrPrintThisViewAs,
      group: 'Page',
      run: showReport,
    },
    { keys: 'L', title: texts.copyOrOpenALink2, group: 'Page', run: showLink },
    { keys: '/', title: texts.filter, group: 'Page', run: focusFilter },
    { keys: 'Escape', title: texts.closeOrLeaveAField, group: 'Page', run: leave },
    { keys: 'T', title: texts.lightDarkOrAsThe, group: 'Page', run: nextTheme },
  ])
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}>
        {texts.skipToTheContent}
      </a>
      <header class="header">
        <span class="brand">
          <Mark />
          <span>{texts.railwright2}</span>
        </span>
        <nav class="views" aria-label={texts.views} ref={nav}>
          {(report ? views.filter((one) => one.id === view.value) : views).map((one) => (
            <a
              key={one.id}
              href={`#/${one.id}`}
              title={`${one.about} (g ${one.key})`}
              aria-current={one === open ? 'page' : undefined}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return
                event.preventDefault()
                go(one.id)
              }}
            >
              {one.title}
            </a>
          ))}
        </nav>
        <div class="tools">
          {playground && (
            <a class="button quiet" href={playground.install} title={texts.everythingHereRunsInThis}>
              {texts.playground}
            </a>
          )}
          <button type="button" class="button quiet" title={texts.copyOrOpenALink} onClick={() => (linkShown.value = true)}>
            {texts.link}
          </button>
          {!report && (
            <button type="button" class="button quiet" title={texts.saveOrPrintThisView} onClick={() => (reportShown.value = true)}>
              {texts.report}
            </button>
          )}
          <ThemeSwitch />
          <button
            type="button"
            class="button quiet icon"
            aria-label={texts.keys}
            title={texts.keys2}
            onClick={() => (keysShown.value = true)}
          >
            ?
          </button>
        </div>
      </header>
      <main class="main" id="main" tabIndex={-1}>
        <h1 class="hidden-visually" tabIndex={-1}>
          {open?.title ?? texts.unknownView}
        </h1>
        <Lost />
        <MissingFiles />
        <ReportHead />
        <RepeatedSettings />
        {open ? <Opened key={`${open.id} ${arrived.value}`} view={open} /> : <Unknown />}
        {/* In the landmark of the numbers it explains: a screen reader finds it there. */}
        <WhyBox />
      </main>
      {keysShown.value && <KeyOverlay close={() => (keysShown.value = false)} />}
      {linkShown.value && <LinkDialog close={() => (linkShown.value = false)} />}
      {reportShown.value && <ReportDialog close={() => (reportShown.value = false)} />}
      <DropAnywhere />
      <Toasts />
    </div>
  )
}

function Opened(props: { view: View }) {
  const [Loaded, setLoaded] = useState<ComponentType | null>(null)
  const [failed, setFailed] = useState('')
  useEffect(() => {
    let here = true
    props.view.load().then(
      (module) => here && setLoaded(() => module.default),
      (error: unknown) => here && setFailed(String(error)),
    )
    return () => {
      here = false
    }
  }, [props.view])
  if (failed) return <Broken error={failed} />
  return Loaded ? (
    <Guard>
      <Loaded />
    </Guard>
  ) : (
    <Loading />
  )
}

/** A view that throws shows its error; the rest continues to work. */
class Guard extends Component<{ children: ComponentChildren }, { error: string }> {
  override state = { error: '' }
  static override getDerivedStateFromError(error: unknown) {
    return { error: String(error) }
  }
  override componentDidCatch(error: unknown) {
    console.error(error)
  }
  override render() {
    return this.state.error ? <Broken error={this.state.error} /> : this.props.children
  }
}

/** Browser messages when a file does not load, because the server has stopped. */
const NOT_LOADED = /preload|dynamically imported module|importing a module/i

function Broken(props: { error: string }) {
  useEffect(() => {
    if (NOT_LOADED.test(props.error)) lost.value = true
  }, [props.error])
  if (NOT_LOADED.test(props.error)) return null
  return (
    <Empty title={texts.thisViewFailed} text={<code>{props.error}</code>}>
      <button type="button" class="button" onClick={() => window.location.reload()}>
        {texts.loadThePageAgain}
      </button>
    </Empty>
  )
}

/** Message about repeated settings of a link, until the URL changes. */
function RepeatedSettings() {
  if (repeated.value.length === 0) return null
  return (
    <div class="repeated-settings" role="status">
      {repeated.value.map(({ key, values }) => (
        <p key={key}>
          {texts.theLinkSets} <code>{key}</code> {values.length === 2 ? 'twice' : texts.times(values.length)}:{' '}
          {values.map((value) => value || 'nothing').join(', then ')}
          {texts.theLastCounts} <b>{values.at(-1) || 'nothing'}</b>.
        </p>
      ))}
    </div>
  )
}

function Unknown() {
  return (
    <Empty title={texts.thereIsNoView(view.value)} text={texts.theAddressNamesAView}>
      <button type="button" class="button primary" onClick={() => go('calculator')}>
        {texts.openTheCalculator}
      </button>
    </Empty>
  )
}

function Mark() {
  return (
    <svg width="18" height="18" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M4 2.5v11M8 2.5v11M12 2.5v11" stroke="var(--faint)" stroke-width="1.4" />
      <path d="M1 5h14M1 11h14" stroke="var(--accent)" stroke-width="1.8" />
    </svg>
  )
}

const SYMBOL = { system: '◐', light: '☀', dark: '☾' } as const
const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const

function nextTheme(): void {
  chooseTheme(NEXT[theme.value])
}

function ThemeSwitch() {
  const label = texts.themeT(theme.value)
  return (
    <button type="button" class="button quiet icon" aria-label={label} title={label} onClick={nextTheme}>
      <span aria-hidden="true">{SYMBOL[theme.value]}</span>
    </button>
  )
}

function focusFilter(): boolean {
  const field = document.querySelector<HTMLInputElement>('[data-filter]')
  field?.focus()
  field?.select()
  return field !== null
}

function leave(): boolean {
  const focused = document.activeElement
  if (!(focused instanceof HTMLElement) || focused === document.body) return false
  focused.blur()
  return true
}
