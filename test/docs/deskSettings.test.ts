import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { measuredBy } from '../../src/attestation/index.js'
import { deskSettingsSchema } from '../../src/protocol/deskSettings.js'
import { deskPolicy } from '../../src/sandbox/desk.js'

const page =
  readFileSync('docs/operations/first-day.md', 'utf8').split('\n## The page\n')[1]?.split('\n## ')[0] ?? ''
const [pinned, attested] = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => JSON.parse(text))
const settings = deskSettingsSchema.parse(pinned)

it('the page’s settings in docs/operations/first-day.md are whole, and for no sandbox', () => {
  expect(settings).toMatchObject({ chain: { rpcUrl: null }, demoWallets: [] })
  expect(() => deskSettingsSchema.parse({ ...z.encode(deskSettingsSchema, settings), more: 1 })).toThrow()
})

it('those of a page for an attested enclave name programs that are pinned, in place of its key', () => {
  const { pins, measurements } = deskSettingsSchema.parse({ ...pinned, ...attested })
  expect(pins).not.toHaveProperty('enclavePublicKey')
  expect(() => measuredBy(measurements ?? [])).not.toThrow()
  expect(() => deskSettingsSchema.parse({ ...pinned, pins })).toThrow('neither measurements nor the key')
})

it('the page that is shipped knows no stand-in of a device, and the sandbox’s does', () => {
  const knowing = (folder: string) =>
    globSync(`${folder}/assets/*.js`).filter((file) => readFileSync(file, 'utf8').includes('testRoot'))
  expect(knowing('dist/web')).toEqual([])
  expect(knowing('dist/sandbox/web')).toHaveLength(1)
})

it('its policy is the one that the sandbox serves the page with', () => {
  expect(/^Content-Security-Policy: (.*)$/m.exec(page)?.[1]).toBe(deskPolicy(settings))
})
