import { expect, it } from 'vitest'
import { type Bundle, bundleForBrowser } from './browser/bundle.js'

const client = await bundleForBrowser('../../../src/client/index.ts')
const nodeGlobals = ({ bytesOf }: Bundle) => bytesOf['test/client/browser/nodeGlobals.ts']

it('the client in a browser bundles without a Node module or global', () => {
  expect(client.external).toEqual([])
  expect(client.text).not.toContain('node:')
  expect(nodeGlobals(client)).toBeUndefined()
})

it('the client in a browser would not if it used one', async () => {
  await expect(bundleForBrowser('usesNode.ts')).rejects.toThrow('node:crypto')
  expect(nodeGlobals(await bundleForBrowser('usesProcess.ts'))).toBeDefined()
})
