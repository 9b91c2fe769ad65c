import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { OPERATIONS } from '../../scripts/openapi/operations.js'
import { createReader } from '../../src/client/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import { problem, useApi } from '../support/apiStandIn.js'
import { FAST, ORG_ID } from './clientSetting.js'

const address: Hex = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'

const api = await useApi()

const reader = () => createReader({ serverUrl: api.url, timing: FAST })

const rows = [
  ...readFileSync('docs/client.md', 'utf8').matchAll(/^\| `(GET|POST) (\S+)` +\| `(\w+)` /gm),
].map(([, method = '', path = '', name = '']) => ({ method, path, name }))
const reads = rows.filter(({ method }) => method === 'GET')

it('the table of routes in docs/client.md has every method of a reader, by the name of its operation', () => {
  const operations = new Map(
    OPERATIONS.map(({ method, path, operationId }) => [`${method.toUpperCase()} ${path}`, operationId]),
  )
  expect(rows.filter(({ method, path }) => !operations.has(`${method} ${path}`))).toEqual([])
  expect(reads.map(({ path }) => operations.get(`GET ${path}`))).toEqual(reads.map(({ name }) => name))
  const methods = Object.keys(reader()).filter((name) => name.startsWith('get'))
  expect(reads.map(({ name }) => name).toSorted()).toEqual(methods.toSorted())
})

it.each(reads)('the table of routes in docs/client.md says that $name asks $path', async ({ path, name }) => {
  const given = path.includes(':address') ? address : path.includes(':') ? ORG_ID : undefined
  api.requests.length = 0
  api.answerWith(() => problem(404, 'not-found'))
  const method = new Map<string, unknown>(Object.entries(reader())).get(name)
  if (typeof method !== 'function') throw new Error(`${name} is no method`)
  await expect(given === undefined ? method() : method(given)).rejects.toMatchObject({ code: 'not-found' })
  const asked = path.replace(/:\w+/, given ?? '')
  expect(api.requests.map((request) => `${request.method} ${request.path}`)).toEqual([`GET ${asked}`])
})
