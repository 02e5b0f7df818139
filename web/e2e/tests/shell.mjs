// The shell: every view opens by click, key and link; Back works; keys overlay, theme, unknown views, first paint.
import { check, openPage } from '../harness.mjs'

/** What measures times. */
export const alone = async ({ browser, url }) => firstPaint(browser, url)

export default async function ({ browser, url }) {
  await allViews(browser, url)
  const view = await openPage(browser, url)
  const { page } = view
  await page.waitForSelector('nav.views a[aria-current=page]')
  for (const [key, id] of [
    ['s', 'search'],
    ['w', 'whatif'],
    ['p', 'pipeline'],
    ['t', 'traces'],
    ['n', 'network'],
    ['c', 'calculator'],
  ]) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await page.waitForFunction((id) => location.hash.startsWith(`#/${id}`), id)
    await page.waitForSelector(`nav.views a[aria-current=page][href="#/${id}"]`)
  }
  await page.goBack()
  await page.waitForSelector('nav.views a[aria-current=page][href="#/network"]')
  await page.keyboard.press('?')
  await page.waitForSelector('[role=dialog]')
  await view.shot('keys-light')
  check((await view.axe()).length === 0, `keys: ${await view.axe()}`)
  await page.keyboard.press('Escape')
  check((await page.locator('[role=dialog]').count()) === 0, 'Escape does not close the keys')
  await page.keyboard.press('Shift+T')
  await page.keyboard.press('Shift+T')
  check((await page.evaluate(() => document.documentElement.dataset.theme)) === 'dark', 'the theme does not become dark')
  await page.goto(`${url}#/nowhere`)
  await page.waitForSelector('text=There is no view')
  await view.close()
}

/** From 800 px on every view is in sight; narrower headers scroll their views and keep the open one in sight. */
async function allViews(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/reference' })
  for (const width of [1280, 1180, 1000, 800]) {
    await view.page.setViewportSize({ width, height: 800 })
    await view.page.waitForTimeout(100)
    const hidden = await view.page.evaluate(() => {
      const row = document.querySelector('nav.views').getBoundingClientRect()
      return [...document.querySelectorAll('nav.views a')]
        .filter((link) => link.getBoundingClientRect().right > row.right + 1)
        .map((link) => link.textContent)
    })
    check(hidden.length === 0, `${width} px: not in sight: ${hidden.join(', ')}`)
  }
  await view.page.setViewportSize({ width: 400, height: 800 })
  await view.page.waitForTimeout(100)
  const open = await view.page.locator('nav.views a[aria-current=page]').boundingBox()
  check(open.x + open.width <= 400, 'the open view is out of sight')
  await view.close()
}

/** Loads without a cache, several times, because the machine is shared: the best must hold, the median is told. */
async function firstPaint(browser, url) {
  const paints = []
  const numbers = []
  for (let load = 0; load < 7; load += 1) {
    const { page, close } = await openPage(browser, url)
    await page.waitForSelector('nav.views a[aria-current=page]')
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0)
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime))
    await page.waitForSelector('.headline .value')
    numbers.push(await page.evaluate(() => performance.now()))
    await close()
  }
  paints.sort((a, b) => a - b)
  numbers.sort((a, b) => a - b)
  console.log(`     first numbers of the calculator: median ${numbers[3].toFixed(0)} ms, worst ${numbers[6].toFixed(0)} ms`)
  console.log(
    `     first paint: median ${paints[3].toFixed(0)} ms, best ${paints[0].toFixed(0)} ms, worst ${paints[6].toFixed(0)} ms of 7 loads`,
  )
  check(paints[0] < 300, `first paint after ${paints[0]} ms at best, wanted below 300`)
}
