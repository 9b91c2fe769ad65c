// An enclave that fails in every way that a program can: the server records it, reports it, and goes on.
import type { ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { jobSchema } from '../../src/protocol/job.js'
import { signRunMessage } from '../../src/protocol/runMessage.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { startHttpServer } from '../support/httpServer.js'
import { RUN_SECRET } from '../support/serverEnvironment.js'
import { craft, submit } from './support/craft.js'
import { useDesk } from './support/desk.js'
import { problemAt } from './support/problems.js'
import type { Trader } from './support/trader.js'
import { post, startWire } from './support/wire.js'

const FAILED = JSON.stringify({ outcome: 'failed' })
const ORG = `0x${'11'.repeat(32)}`

/** How the enclave acts up: the status of its answer to a job, and the results that it posts, each with the answer that it gets. */
interface Unruly {
  readonly status: number
  readonly results: readonly (readonly [body: string, answer: number])[]
}

const MODES: Record<string, Unruly> = {
  'refuses every job': { status: 403, results: [] },
  'posts no JSON, and then that it failed': {
    status: 202,
    results: [
      ['{"outcome": "settled"', 400],
      [FAILED, 200],
    ],
  },
  'lies about a rulebook': {
    status: 202,
    results: [[JSON.stringify({ outcome: 'accepted', orgId: ORG, version: 7 }), 200]],
  },
}

/** Undefined: it is the real enclave, to which jobs are handed on. */
let mode: Unruly | undefined
/** The answers to posted results that are not the expected ones. */
const unexpected: string[] = []

async function actUp({ status, results }: Unruly, runId: string, res: ServerResponse): Promise<void> {
  res
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ runId, result: 'accepted' }))
  for (const [body, expected] of results) {
    const headers = {
      'content-type': 'application/json',
      ...signRunMessage(RUN_SECRET, { kind: 'result', runId, body }),
    }
    const answer = await post(`${desk().sandbox.info.url}/runs/${runId}/result`, { headers, body })
    if (answer.status !== expected) unexpected.push(`${body.slice(0, 60)}: ${answer.status}`)
  }
}

const door = await startHttpServer((req, res) => {
  void (async () => {
    const body = (await buffer(req)).toString('utf8')
    const { runId } = jobSchema.parse(JSON.parse(body))
    if (mode !== undefined) return actUp(mode, runId, res)
    const answer = await post(`${wires.toEnclave.url}${req.url}`, { headers: req.headers, body })
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })().catch((error: unknown) => {
    unexpected.push(String(error))
    res.destroy()
  })
})

const wires = { toEnclave: await startWire(), toServer: await startWire() }
const desk = useDesk({
  wires,
  serverSettings: {
    ENCLAVE_URL: door.url,
    ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
  },
  enclaveSettings: { ENCLAVE_TRIGGER_SECRET: RUN_SECRET },
})

let server: number

beforeAll(() => {
  server = desk().sandbox.server().pid
})
afterEach(() => {
  mode = undefined
  expect(desk().sandbox.server().pid).toBe(server)
  expect(unexpected).toEqual([])
})
afterAll(async () => {
  await door.stop()
  await wires.toEnclave.stop()
  await wires.toServer.stop()
})

/** There is no cash to withdraw: a run that does its work refunds the order. */
async function withdraw(trader: Trader): Promise<Hex> {
  const crafted = await craft(desk(), trader, { side: 'WITHDRAW', symbol: 'USDC', maxSpend: ONE_USDC })
  return submit(desk(), trader, crafted)
}

async function publish() {
  const { envelope } = await craft(desk(), desk().traders[0])
  return problemAt(desk().sandbox.info.url, {
    method: 'POST',
    path: '/policy',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(envelope),
  })
}

it.each(Object.entries(MODES))(
  'a run of an enclave that %s is recorded as failed, POST /policy reports it, and the order runs again',
  async (_name, unruly) => {
    const [alice] = desk().traders
    mode = unruly
    const [problem, orderId] = await Promise.all([publish(), withdraw(alice)])
    expect(problem).toMatchObject({ status: 502, code: 'enclave-failed' })
    const [first] = (await alice.reaches(orderId, 'failed')).triggers
    expect(first).toMatchObject({ attempt: 1, reason: 'received', outcome: 'failed' })
    expect(first?.finishedAt).not.toBeNull()
    mode = undefined
    const { state, triggers } = await alice.ended(orderId)
    expect(state).toBe('REFUNDED')
    expect(triggers.at(-1)).toMatchObject({ reason: 'retry', outcome: 'refunded' })
  },
)
