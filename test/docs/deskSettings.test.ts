import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { deskSettingsSchema } from '../../src/protocol/deskSettings.js'
import { deskPolicy } from '../../src/sandbox/desk.js'

const page =
  readFileSync('docs/operations/first-day.md', 'utf8').split('\n## The page\n')[1]?.split('\n## ')[0] ?? ''
const settings = deskSettingsSchema.parse(JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? ''))

it('the page’s settings in docs/operations/first-day.md are whole, and for no sandbox', () => {
  expect(settings).toMatchObject({ chain: { rpcUrl: null }, demoWallets: [] })
  expect(() => deskSettingsSchema.parse({ ...z.encode(deskSettingsSchema, settings), more: 1 })).toThrow()
})

it('its policy is the one that the sandbox serves the page with', () => {
  const documented = /^Content-Security-Policy: (.*)$/m.exec(page)?.[1]
  const directives = Object.entries(deskPolicy(settings)).map(([name, values]) =>
    [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), ...values].join(' '),
  )
  expect(documented).toBe(directives.join('; '))
})
