// The search view: an example, a search by keyboard, the table filtered, a strategy loaded, why-not, nothing fits with its remedy.
import { check, openPage, pictures } from '../harness.mjs'

const RUN = '#/search?model=llama-3.1-8b&cluster=dgx-h100&gpus=64&tokens=2T&s.space=vp=1+cp=1,2'

export default async function ({ browser, url }) {
  await empty(browser, url)
  await anotherModel(browser, url)
  await byKeyboard(browser, url)
  await families(browser, url)
  await map(browser, url)
  await nothingFits(browser, url)
  await stopped(browser, url)
  await narrow(browser, url)
  await whyNot(browser, url)
  await pictures({ browser, url, fragment: `${RUN}&s.ran=1&s.why=tp=8,pp=2`, name: 'search', ready: ({ page }) => answered(page) })
}

const answered = async (page) => {
  await page.waitForSelector('[aria-label=Ranking] tbody tr', { timeout: 120_000 })
  await page.waitForFunction(() => !document.body.textContent.includes('computing the rest'), null, { timeout: 120_000 })
  await page.waitForFunction(() => !location.hash.includes('s.why') || document.querySelector('[aria-label="Why not"] code'), null, {
    timeout: 120_000,
  })
}

/** A layout that is asked about, by controls alone. */
async function whyNot(browser, url) {
  const view = await openPage(browser, url, { fragment: `${RUN}&s.ran=1` })
  const { page } = view
  await answered(page)
  const panel = page.getByRole('region', { name: 'Why not' })
  for (const [name, title] of [
    ['tp', 'Layout'],
    ['pp', 'Layout 1'],
  ]) {
    await panel.getByRole('combobox', { name: title, exact: true }).click()
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
    await panel.getByRole('group', { name, exact: true }).locator('select').selectOption('2')
  }
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes('s.why=tp=2,pp=2'))
  await panel.getByRole('button', { name: 'Explain' }).click()
  await panel.locator('code', { hasText: 'tp=2,pp=2' }).waitFor({ timeout: 120_000 })
  await view.close()
}

/** Another model is chosen from the catalogue, and sets the plan of the previous one back to auto, as in the calculator. */
async function anotherModel(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/search?model=llama-3.1-8b&cluster=dgx-h100&gpus=64&tp=4&global-batch=256' })
  const { page } = view
  const model = page.getByRole('combobox', { name: 'Model', exact: true })
  await model.click()
  await page.keyboard.type('deepseek-v3')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.toast:has-text("Kept: cluster, devices. Set back to auto: tensor parallel, global batch.")')
  const hash = () => page.evaluate(() => location.hash)
  check(/model=deepseek-v3/.test(await hash()) && !/[?&](tp|global-batch)=/.test(await hash()), await hash())
  await page.click('.toast button:has-text("Keep the plan")')
  await page.waitForFunction(() => location.hash.includes('tp=4') && location.hash.includes('global-batch=256'))
  await page.getByRole('button', { name: 'reset Global batch to auto' }).click()
  await page.waitForFunction(() => !location.hash.includes('global-batch='))
  check((await page.getByLabel('Global batch', { exact: true }).getAttribute('placeholder')) === 'auto', 'an empty batch is not auto')
  await view.close()
}

async function empty(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/search' })
  await view.page.click('text=Llama 3.1 8B on 64 H100')
  await view.page.waitForFunction(() => location.hash.includes('model=llama-3.1-8b'))
  await view.page.waitForSelector('text=Search all layouts')
  await view.close()
}

async function byKeyboard(browser, url) {
  const view = await openPage(browser, url, { fragment: RUN })
  const { page } = view
  await page.waitForSelector('text=Search all layouts')
  await page.keyboard.press('r')
  await answered(page)
  check((await page.evaluate(() => location.hash)).includes('s.ran=1'), 'the address does not say that a search ran')
  // The plot: every point by arrow keys, told aloud.
  await page.focus('[aria-roledescription="scatter plot"]')
  await page.keyboard.press('Home')
  const first = await page.textContent('.chart-tip')
  await page.keyboard.press('ArrowRight')
  const second = await page.textContent('.chart-tip')
  check(first && second && first !== second, 'arrow keys do not move through the points')
  // The table: filtered, walked, loaded.
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  await page.keyboard.type('pp2')
  await page.waitForFunction(() =>
    [...document.querySelectorAll('[aria-label=Ranking] tbody tr')].every((row) => row.textContent.includes('PP2')),
  )
  await page.focus('[aria-label=Ranking] tbody tr')
  await page.keyboard.press('Enter')
  await page.waitForFunction(
    () => location.hash.startsWith('#/calculator') && location.hash.includes('pp=2') && location.hash.includes('gpus=64'),
  )
  await page.goBack()
  await page.waitForSelector('[aria-label=Ranking] tbody tr')
  await view.close()
}

/** A card for each family, with the rest of it on demand and the run's own layout beside. */
async function families(browser, url) {
  const view = await openPage(browser, url, { fragment: `${RUN}&tp=4&pp=4&s.ran=1` })
  const { page } = view
  await answered(page)
  await page.waitForSelector('[aria-label="Your layout"] .card-time')
  const titles = await page.locator('.card:not(.own) h3').allInnerTexts()
  check(titles.length > 2 && new Set(titles).size === titles.length, `families stand twice: ${titles}`)
  const second = page.locator('.card:not(.own)').nth(1)
  await second.locator('summary').click()
  await second.locator('.members li').first().waitFor({ timeout: 60_000 })
  // All members have the family's sizes.
  const size = /(TP\d+)/.exec(titles[1])?.[1] ?? /(PP\d+)/.exec(titles[1])?.[1] ?? 'DP'
  for (const text of await second.locator('.members li').allInnerTexts()) check(text.includes(size), `${text} is no member of ${titles[1]}`)
  check((await view.axe()).length === 0, `families: ${await view.axe()}`)
  await view.shot('search-families', { fullPage: true })
  await page.locator('.card:not(.own) button:has-text("Load")').first().click()
  await page.waitForFunction(() => location.hash.startsWith('#/calculator'))
  await view.close()
}

/** The map of TP x PP: cells out of memory with what they lack, by keyboard, loaded, and in the exported files. */
async function map(browser, url) {
  const fragment = '#/search?model=llama-3.1-70b&cluster=dgx-h100&gpus=32&global-batch=64&tp=4&pp=4&s.space=vp=1+cp=1&s.ran=1'
  const mapped = ({ page }) => page.waitForSelector('[aria-label="Step time by TP and PP"] svg >> text=/^(OOM )?\\+/', { timeout: 120_000 })
  const view = await openPage(browser, url, { fragment })
  const { page } = view
  await mapped(view)
  const panel = page.locator('section[aria-label="Step time by TP and PP"]')
  const about = (await panel.locator('h2').textContent()) ?? ''
  check(/out of memory/.test(about) && /dashed: your layout/.test(about), `the map does not state its marks: ${about}`)
  // The cell below the first is TP1 PP2: ZeRO-3 needs PP1, so 70B does not fit, and the tip has by how much.
  await panel.locator('[aria-roledescription="heat map"]').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowDown')
  const tip = (await panel.locator('.chart-tip').textContent()) ?? ''
  check(/TP1 PP2/.test(tip) && /out of memory by/.test(tip), `the cell by keyboard: ${tip}`)
  await page.keyboard.press('Escape')
  check((await view.axe()).length === 0, `map: ${await view.axe()}`)
  for (const [item, wanted] of [
    ['Save as SVG', /OOM \+.*Gi?B/],
    ['Save as CSV', /out_of_memory/],
  ]) {
    await panel.locator('button[aria-haspopup]').click()
    const saved = page.waitForEvent('download')
    await page.click(`[role=menuitem]:has-text("${item}")`)
    const stream = await (await saved).createReadStream()
    let text = ''
    for await (const part of stream) text += part
    check(wanted.test(text), `${item} lacks the cells out of memory`)
  }
  await panel.locator('[aria-roledescription="heat map"]').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash.startsWith('#/calculator') && location.hash.includes('gpus=32'))
  await view.close()
  await pictures({ browser, url, fragment, name: 'search-map', ready: mapped })
}

async function nothingFits(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/search?model=llama-3.1-70b&cluster=dgx-h100&gpus=8&s.space=vp=1+cp=1&s.ran=1' })
  await view.page.waitForSelector('[aria-label="Nothing fits"]', { timeout: 120_000 })
  await view.page.waitForSelector('text=Changes that help')
  await view.shot('search-nothing-fits', { fullPage: true })
  check((await view.axe()).length === 0, `nothing fits: ${await view.axe()}`)
  await view.close()
}

/** A search of hundreds of millions of strategies: progress is told, Escape stops it, what was found stands. */
async function stopped(browser, url) {
  const view = await openPage(browser, url, {
    fragment: '#/search?model=llama-3.1-405b&cluster=dgx-h100&gpus=2048,4096,6144,8192,12288,16384,24576,32768,49152,65536',
  })
  const { page } = view
  await page.waitForSelector('text=Search all layouts')
  await page.keyboard.press('r')
  await page.waitForSelector('[aria-label=Progress] >> text=evaluated', { timeout: 60_000 })
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => !document.querySelector('[aria-label=Progress]'), null, { timeout: 60_000 })
  check(
    /Stopped early/.test((await page.textContent('main')) ?? '') || (await page.locator('[aria-label="Nothing fits"]').count()) > 0,
    'a stopped search does not say so',
  )
  await view.close()
}

/** Restrictions by controls: values are those that the program offers, and the address keeps them. */
async function narrow(browser, url) {
  const view = await openPage(browser, url, { fragment: '#/search?model=llama-3.1-8b&cluster=dgx-h100&gpus=64&s.space=tp=2..4' })
  const { page } = view
  const group = page.getByRole('group', { name: 'Restrict to' })
  const tp = group.getByRole('group', { name: 'tp', exact: true })
  await tp.getByRole('button', { name: '8', exact: true }).waitFor()
  const pressed = () => tp.locator('[aria-pressed=true]').allInnerTexts()
  check((await pressed()).join() === '2,4', `tp=2..4 is shown as ${await pressed()}`)
  await tp.getByRole('button', { name: '8', exact: true }).click()
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes('s.space=tp=2,4,8'))
  // Many values are chosen by their ends.
  await group.getByRole('combobox').first().selectOption('micro-batch')
  await group.getByRole('group', { name: 'micro-batch', exact: true }).getByLabel('to').selectOption('2')
  await page.waitForFunction(() => /s\.space=tp=2,4,8[+ ]micro-batch=1,2/.test(decodeURIComponent(location.hash)))
  await group.getByRole('combobox').first().selectOption('recompute')
  await group.getByRole('group', { name: 'recompute' }).getByRole('button', { name: 'none' }).click()
  const found = await view.axe()
  check(found.length === 0, `narrowed scope:\n  ${found.join('\n  ')}`)
  await view.shot('search-narrowed', { fullPage: true })
  await group.getByRole('button', { name: 'Remove micro-batch' }).click()
  await page.waitForFunction(() => !decodeURIComponent(location.hash).includes('micro-batch='))
  await page.keyboard.press('r')
  await answered(page)
  const layouts = await page.locator('[aria-label=Ranking] tbody tr').allInnerTexts()
  check(
    layouts.every((row) => !/TP1\b/.test(row)),
    'a layout outside of the restriction is ranked',
  )
  await view.close()
}
