import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alpacaExample } from '../support/alpacaExamples.js'

const SENDER = fileURLToPath(new URL('support/stoppingSender.ts', import.meta.url))
const PEM = fileURLToPath(new URL('support/localhost.pem', import.meta.url))
/** How old the look at the chain may be, and how long a process stands still. */
const BOUND_MS = 3_000
const STOP_MS = 4_000

/** A broker that takes every order and keeps which were sent, by the path before the API's own. */
const sent = new Set<string>()
const answer: RequestListener = (request, response) => {
  const name = request.url?.split('/')[1] ?? ''
  if (request.method === 'POST') sent.add(name)
  const [example, change] =
    request.method === 'POST'
      ? [alpacaExample('order-accepted'), { client_order_id: 'order' }]
      : [alpacaExample('asset'), {}]
  request.resume().on('end', () => response.end(JSON.stringify({ ...Object(example), ...change })))
}
const pem = readFileSync(PEM)
const servers = { http: createServer(answer), https: createTlsServer({ key: pem, cert: pem }, answer) }
const urls = { http: '', https: '' }
const children = new Set<ChildProcess>()

beforeAll(async () => {
  for (const scheme of ['http', 'https'] as const) {
    const server = servers[scheme].listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no TCP address')
    urls[scheme] = `${scheme}://localhost:${address.port}`
  }
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const server of Object.values(servers)) {
    server.closeAllConnections()
    server.close()
  }
})

/** Lets a process stand still at a point; its last line. */
async function run(scheme: 'http' | 'https', point: string): Promise<string> {
  const url = `${urls[scheme]}/${nameOf(scheme, point)}`
  const child = spawn(process.execPath, ['--import', 'tsx', SENDER, url, point, String(BOUND_MS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: PEM },
  })
  children.add(child)
  let last = ''
  for await (const chunk of child.stdout) {
    last = String(chunk).trim().split('\n').at(-1) ?? ''
    if (last === 'stopping') setTimeout(() => child.kill('SIGCONT'), STOP_MS)
  }
  return last
}

const nameOf = (scheme: string, point: string) => `${scheme}-${point.replaceAll(' ', '-')}`

describe.each(['http', 'https'] as const)('a process that stands still before its %s request', (scheme) => {
  const late = ['looked', 'warm looked', 'asked', 'connecting', 'resolved', 'connected', 'assigned']
  if (scheme === 'https') late.push('secured')

  it('sends nothing once its look at the chain is too old', { timeout: 120_000 }, async () => {
    // Stopped before the look, or not at all: the order is sent.
    const points = ['nowhere', 'granted', ...late]
    const ends = await Promise.all(points.map(async (point) => `${point}: ${await run(scheme, point)}`))
    // A busy machine may take so long to connect that the connection is given up first.
    const kinds = ends.map((end) => end.replace(/broker: POST .* \(timeout\)$/, 'too late'))
    const expected = points.map((point) => `${point}: ${late.includes(point) ? 'too late' : 'sent'}`)
    expect(kinds.join('\n')).toBe(expected.join('\n'))
    const posted = points.filter((point) => sent.has(nameOf(scheme, point)))
    expect(posted).toEqual(['nowhere', 'granted'])
  })
})
