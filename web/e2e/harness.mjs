// What every end-to-end test gets: a browser on a real server, pictures, accessibility checks, no errors let through.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { decideContrast } from './contrast.mjs'
import { findCut } from './cut.mjs'

export { startServer } from './server.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
export const artifacts = join(here, 'artifacts')
/** The repository, where examples and fixtures lie. */
export const repository = join(here, '..', '..')
export const widths = { wide: [2560, 1300], desktop: [1280, 860], phone: [390, 844] }

export async function startBrowser() {
  mkdirSync(artifacts, { recursive: true })
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--force-color-profile=srgb'],
  })
}

/** Fails with a message when a condition does not hold. */
export function check(condition, message) {
  if (!condition) throw new Error(message)
}

/** A page of one test: collects console errors and failed requests, takes pictures, runs axe. */
export async function openPage(browser, url, { fragment = '', size = 'desktop', scheme = 'light', expectErrors = [] } = {}) {
  const [width, height] = widths[size]
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    acceptDownloads: true,
    reducedMotion: 'no-preference',
  })
  const page = await context.newPage()
  const errors = []
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    // A refused question (422) is an answer like any other; the browser logs it all the same.
    if (/status of 422/.test(message.text())) return
    errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('request', (request) => {
    const to = request.url()
    if (!to.startsWith(url) && !/^(data|blob):/.test(to)) errors.push(`a request left the page's address: ${to}`)
  })
  const flying = new Set()
  page.on('request', (request) => flying.add(request))
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => flying.delete(request))
  await page.goto(`${url}${fragment}`)
  return {
    page,
    errors,
    /** A picture of the window, or of the whole page, for people to look at: none is taken where nobody does. */
    shot: async (name, options = {}) => {
      if (process.env.CI !== 'true') await page.screenshot({ path: join(artifacts, `${name}.png`), ...options })
    },
    /** Violations of axe's rules, as lines; contrast that axe leaves undecided is decided by the colours in the page. */
    axe: async () => {
      if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
      const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations', 'incomplete'] }))
      const undecided = found.incomplete
        .filter((one) => one.id === 'color-contrast')
        .flatMap((one) => one.nodes.map((node) => node.target.join(' ')))
      const faint = await page.evaluate(decideContrast, undecided)
      const violations = found.violations.flatMap((one) =>
        one.nodes.map((node) => `${one.id}: ${node.target.join(' ')}: ${node.failureSummary?.split('\n')[1]?.trim() ?? ''}`),
      )
      return [...violations, ...faint]
    },
    /** Texts that are cut, overlap or leave the window, as lines; at other widths of the window too, which is then as before. */
    cut: async (others = []) => {
      const found = (await page.evaluate(findCut)).map((line) => `${page.viewportSize().width} px: ${line}`)
      const before = page.viewportSize()
      for (const width of others) {
        await page.setViewportSize({ width, height: before.height })
        await drawn(page)
        found.push(...(await page.evaluate(findCut)).map((line) => `${width} px: ${line}`))
      }
      if (others.length > 0) {
        await page.setViewportSize(before)
        await drawn(page)
      }
      return found
    },
    /** Waits until what has changed is drawn, no question is on its way, and no part of the page is marked busy. */
    settled: async () => {
      const until = performance.now() + 60_000
      for (;;) {
        await drawn(page)
        const busy = await page.evaluate(() => document.querySelector('[aria-busy=true]')?.className ?? null)
        if (busy === null && flying.size === 0) return
        const open = [...flying].map((request) => request.url().split('/').at(-1)).join(', ')
        check(performance.now() < until, `the page is busy after a minute: ${busy ?? ''} ${open}`)
      }
    },
    close: async () => {
      await context.close()
      const unexpected = errors.filter((text) => !expectErrors.some((known) => text.includes(known)))
      check(unexpected.length === 0, `the page wrote errors:\n  ${unexpected.join('\n  ')}`)
    },
  }
}

/** Waits for three frames: the view is drawn, its effects have run, and what they changed is drawn, however slow the machine is. */
export async function drawn(page) {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame += 1) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  })
}

/** In the page: back to where everything starts, as the contrast check scrolls to what it decides. */
function toTop() {
  for (const one of document.querySelectorAll('*'))
    if (one.scrollTop || one.scrollLeft) one.scrollTo({ top: 0, left: 0, behavior: 'instant' })
}

/** Pictures of one fragment in light and dark, and axe on each; the wide ones, on which nothing is checked, with RAILWRIGHT_WIDE=1. */
export async function pictures({ browser, url, fragment, name, ready }) {
  const violations = []
  for (const size of Object.keys(widths)) {
    if (size === 'wide' && process.env.RAILWRIGHT_WIDE !== '1') continue
    const view = await openPage(browser, url, { fragment, size })
    await ready(view)
    for (const scheme of ['light', 'dark']) {
      await view.page.emulateMedia({ colorScheme: scheme })
      await view.page.evaluate(toTop)
      await view.settled()
      const shown = await view.page.evaluate(() => document.documentElement.dataset.theme)
      check(shown === scheme, `${name}: the page is ${shown}, the system ${scheme}`)
      await view.shot(`${name}-${size}-${scheme}`, { fullPage: true })
      if (size !== 'wide') violations.push(...(await view.axe()).map((line) => `${size} ${scheme}: ${line}`))
      if (size === 'phone') {
        const over = await view.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
        check(over <= 0, `${name}: the page is ${over} px wider than a phone`)
      }
    }
    await view.close()
  }
  check(violations.length === 0, `${name}: accessibility:\n  ${[...new Set(violations)].join('\n  ')}`)
}
