// Two scenarios: a difference that no run would show is none, and a refused one is called by its letter.
import { check, openPage } from '../harness.mjs'

const RUN = '#/calculator?model=llama-3.1-405b&cluster=dgx-h100&gpus=1024&tp=8&cp=2&pp=16&uneven-stages=true&global-batch=512'

export default async ({ browser, url }) => {
  const view = await openPage(browser, url, { fragment: `${RUN}&b.tp=4&b.recompute=none` })
  const { page } = view
  const cell = (part) => page.locator('table[aria-label="Parts of the step"] tr', { hasText: part }).locator('td').last()
  // Milliseconds of a step of seconds: no difference, once both scenarios are priced.
  await cell('norms')
    .filter({ hasText: /^\s*≈\s*$/ })
    .waitFor()
  check((await cell('norms').locator('.good, .bad').count()) === 0, 'milliseconds are called better or worse')
  // Nanoseconds of a step of seconds are a rounding of the schedule, not a part.
  check((await page.locator('table[aria-label="Parts of the step"] tr', { hasText: /\d ns/ }).count()) === 0, 'nanoseconds have a row')
  // B does not fit: nothing is better or worse.
  check((await page.locator('.run-verdict.no').count()) === 1, 'B fits')
  check(
    (await page.locator('table[aria-label="Parts of the step"] .good, table[aria-label="Parts of the step"] .bad').count()) === 0,
    'a run that does not fit is called better or worse',
  )
  await view.close()
  const fits = await openPage(browser, url, { fragment: `${RUN}&b.recompute=full` })
  const bubble = fits.page.locator('table[aria-label="Parts of the step"] tr', { hasText: 'pipeline bubble' }).locator('td').last()
  // The row stands as soon as A is priced, the difference once B is.
  await bubble.locator('.difference').waitFor()
  // Parts are judged as the step is: worse, or within the interval of the prediction.
  const headline = await fits.page.locator('.headline .in-doubt').count()
  const marked = await bubble.locator(headline > 0 ? '.difference[title*="overlap"]' : '.bad').count()
  check(marked === 1 && (headline === 0 || (await bubble.locator('.bad').count()) === 0), 'a part is judged by another rule than the step')
  await fits.close()
  const refused = await openPage(browser, url, { fragment: `${RUN}&b.tp=3` })
  await refused.page.locator('.refused-banner', { hasText: 'Scenario B' }).waitFor()
  await refused.settled()
  await refused.shot('refused-b')
  check((await refused.page.locator('.headline .value').first().innerText()).length > 0, 'scenario A lost its numbers')
  await refused.close()
}
