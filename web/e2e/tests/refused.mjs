// A plan that the program refuses is asked once: the refusal is shown, and nothing asks again by itself.
import { check } from '../harness.mjs'

export default async ({ browser, url }) => {
  const page = await browser.newPage()
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes('/api/v1/estimate')) asked += 1
  })
  await page.goto(`${url.split('#')[0]}#/calculator?model=llama-3.1-405b&cluster=dgx-h100&gpus=1024&tp=8&pp=16`)
  await page.getByText('126 layers cannot be divided evenly').first().waitFor()
  await page.waitForTimeout(2000)
  check(asked >= 1 && asked <= 3, `a refused plan was asked ${asked} times in two seconds`)
  await page.getByRole('button', { name: 'allow uneven stages' }).click()
  await page.getByText('Step breakdown').first().waitFor()
  await page.close()
}
