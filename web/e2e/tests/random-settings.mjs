// Random settings through the controls of the calculator, on five models and clusters: what a control offers, the program does not refuse.
// Sliders, choices, switches and resets to auto. `RAILWRIGHT_MOVES` is their number, `RAILWRIGHT_SEED` chooses others.
import { check, openPage } from '../harness.mjs'

const MOVES = Number(process.env.RAILWRIGHT_MOVES ?? 30)
const RUNS = [
  'model=llama-3-8b&cluster=dgx-h100&gpus=64&tp=2&pp=2',
  'model=llama-3.1-405b&cluster=dgx-h100&gpus=1152&tp=8&pp=9&global-batch=1152',
  'model=deepseek-v3&cluster=gb200-nvl72&gpus=2048&pp=8&ep=64&uneven-stages=true&global-batch=16384',
  'model=mixtral-8x22b&cluster=dgx-a100&gpus=256&tp=4&pp=4&ep=8',
  'model=qwen2.5-72b&cluster=mi300x&gpus=128',
]

/** Numbers from 0 to 1: a linear congruential generator (Numerical Recipes, section 7.1). */
function generator(seed) {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

export default async ({ browser, url }) => {
  const random = generator(Number(process.env.RAILWRIGHT_SEED ?? 1))
  const refused = []
  let moves = 0
  for (const [at, run] of RUNS.entries()) {
    const view = await openPage(browser, url, { fragment: `#/calculator?${run}` })
    const { page } = view
    await page.waitForSelector('.headline .value', { timeout: 60_000 })
    await settled(view)
    const until = Math.round((MOVES * (at + 1)) / RUNS.length)
    for (let tries = 0; moves < until && tries < 4 * MOVES; tries += 1) {
      const before = await page.evaluate(() => location.hash)
      const moved = await move(page, random())
      await settled(view)
      const after = await page.evaluate(() => location.hash)
      if (after === before) continue
      moves += 1
      const problem = page.locator('.problem').first()
      if ((await problem.count()) === 0) continue
      const blamed = (await page.locator('.blame').count()) > 0
      refused.push(
        `${moved}: ${(await problem.innerText()).replaceAll('\n', ' ')}\n    ${before}\n    ${after}${blamed ? ' (blamed)' : ''}`,
      )
      await page.evaluate((hash) => (location.hash = hash), before)
      await settled(view)
    }
    await view.close()
  }
  console.log(`     ${moves} moves, ${refused.length} refused`)
  check(moves >= MOVES, `only ${moves} of ${MOVES} moves changed something`)
  check(refused.length === 0, `controls offer what is refused:\n  ${refused.join('\n  ')}`)
}

/** Waits for the answers, and for the lists of valid values, which rest until a control does. */
async function settled(view) {
  await view.settled()
  await view.page.waitForTimeout(160)
  await view.settled()
}

/** Moves one of the controls to one of the other values that it offers; both by a number from 0 to 1. */
function move(page, number) {
  return page.evaluate((share) => {
    for (const one of document.querySelectorAll('.controls details')) one.open = true
    const moves = [...document.querySelectorAll('.controls .field')].flatMap((field) => {
      const name = field.querySelector('label')?.textContent ?? '?'
      const slider = field.querySelector('input.slider:enabled')
      const select = field.querySelector('select:enabled')
      const toggle = field.querySelector('button.switch:enabled')
      const reset = field.querySelector('button.to-auto:enabled')
      const set = (one, value) => () => {
        one.value = value
        one.dispatchEvent(new Event('change', { bubbles: true }))
        return `${name} to ${value}`
      }
      const all = []
      if (slider) {
        const values = [...Array(Number(slider.max) + 1).keys()].filter((value) => value !== Number(slider.value))
        if (values.length > 0) all.push(values.map((value) => set(slider, String(value))))
      }
      if (select) {
        const values = [...select.options].map((option) => option.value).filter((value) => value !== select.value)
        if (values.length > 0) all.push(values.map((value) => set(select, value)))
      }
      const click = (one, what) => () => {
        one.click()
        return `${name} ${what}`
      }
      if (toggle) all.push([click(toggle, 'switched')])
      if (reset) all.push([click(reset, 'reset')])
      return all
    })
    if (moves.length === 0) return 'nothing'
    const values = moves[Math.floor(share * moves.length)]
    return values[Math.floor(((share * moves.length) % 1) * values.length)]()
  }, number)
}
