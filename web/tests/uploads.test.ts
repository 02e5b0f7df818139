// Handles of dropped files: what a link refers to, and which of it the server does not have.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { arrived, findMissing, handlesIn, missing, upload, withoutHandle } from '../src/api/uploads'

afterEach(() => vi.unstubAllGlobals())

const answers = (...bodies: readonly object[]) => {
  const list = [...bodies]
  vi.stubGlobal('fetch', async () => new Response(JSON.stringify(list.shift())))
}

describe('handles', () => {
  it('are found in single values and in lists', () => {
    expect(handlesIn({ model: 'upload:0a1b/config.json', 't.files': 'upload:2c/a.json,upload:3d/b.json', gpus: '8' })).toEqual([
      'upload:0a1b/config.json',
      'upload:2c/a.json',
      'upload:3d/b.json',
    ])
    expect(withoutHandle('upload:0a1b/config.json')).toBe('config.json')
    expect(withoutHandle('runs/config.json')).toBe('runs/config.json')
  })

  it('that the server does not have are missing until the same content arrives', async () => {
    answers({ paths: ['upload:bb/config.json'] })
    await findMissing({ model: 'upload:aa/config.json' })
    expect(missing.value).toEqual(['upload:aa/config.json'])
    answers({ path: 'upload:cc/config.json', name: 'config.json', bytes: 2 })
    await upload(new File(['{}'], 'config.json'))
    expect(missing.value).toEqual(['upload:aa/config.json'])
    const before = arrived.value
    answers({ path: 'upload:aa/config.json', name: 'config.json', bytes: 2 })
    await upload(new File(['[]'], 'config.json'))
    expect(missing.value).toEqual([])
    expect(arrived.value).toBe(before + 1)
  })
})
