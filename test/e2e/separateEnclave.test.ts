// The enclave is a process that the server reaches over HTTP alone. Messages are lost, repeated, forged
// and stale. test/e2e/ownEnclave.test.ts kills either program in the middle of a run.
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { Hex } from '../../src/protocol/hex.js'
import { signRunMessage } from '../../src/protocol/runMessage.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { eventually } from '../support/eventually.js'
import { useDesk } from './support/desk.js'
import { brokerOrder, type Trader } from './support/trader.js'
import { type Passed, post, startWire } from './support/wire.js'

const wires = { toEnclave: await startWire(), toServer: await startWire() }
/** A run looks at its live order for as long as a program may take to start again. */
const desk = useDesk({ wires, enclaveSettings: { FILL_WAIT: '1m' } })
afterAll(async () => {
  await wires.toEnclave.stop()
  await wires.toServer.stop()
})

const buy = { side: 'BUY', symbol: 'AAPL', maxSpend: 200n * ONE_USDC } as const
const jobSchema = z.object({ runId: z.string(), orderId: z.string().optional() })

/** The offers of an order's runs. */
function offersOf(orderId: Hex): Passed[] {
  return wires.toEnclave.passed.filter(({ body }) => jobSchema.parse(JSON.parse(body)).orderId === orderId)
}

function runIdOf(orderId: Hex): string {
  const [offer] = offersOf(orderId)
  if (offer === undefined) throw new Error('the order was not offered')
  return jobSchema.parse(JSON.parse(offer.body)).runId
}

/** The posts of a run's result. */
function resultsOf(runId: string): Passed[] {
  return wires.toServer.passed.filter(({ path }) => path === `/runs/${runId}/result`)
}

/** Sends a buy whose run stands still: its order is live at the broker, until `fill`. */
async function sendAndHold(trader: Trader): Promise<Hex> {
  const { sandbox } = desk()
  sandbox.broker.fill({ symbol: buy.symbol, mode: 'hold', times: 1 })
  const orderId = await trader.send(buy)
  await eventually('the order is at the broker', () => brokerOrder(sandbox, orderId))
  return orderId
}

function fill(): void {
  desk().sandbox.broker.release({ symbol: buy.symbol })
}

async function expectSettledInOneRun(trader: Trader, orderId: Hex) {
  const { state, triggers } = await trader.ended(orderId)
  expect([state, triggers.map(({ outcome }) => outcome)]).toEqual(['SETTLED', ['settled']])
  expect(new Set(offersOf(orderId).map(({ body }) => body)).size).toBe(1)
  expect(brokerOrder(desk().sandbox, orderId)?.status).toBe('filled')
  expect((await trader.portfolio()).openOrders).toEqual({})
}

it('a separate enclave learns nothing of the server, and posts nothing of its runs but notices and results', async () => {
  const { secrets, accounts } = desk().sandbox
  expect(wires.toEnclave.passed.length).toBeGreaterThan(0)
  expect(wires.toServer.passed.length).toBeGreaterThan(0)
  const posted = wires.toServer.passed
    .filter(({ path }) => path.startsWith('/runs/'))
    .map(({ headers: { authorization, ...headers }, ...each }) => {
      // The server's port for the enclave asks for the token, and no other part of a message has it.
      expect(authorization).toBe(`Bearer ${secrets.relayAuthToken}`)
      return { ...each, headers }
    })
  const all = [...wires.toEnclave.passed, ...posted].map((each) => JSON.stringify(each)).join()
  for (const secret of [
    secrets.triggerSecret,
    secrets.relayAuthToken,
    secrets.serverBroker.secretKey,
    secrets.ledgerMasterKey,
    accounts.relayer.privateKey,
    desk().sandbox.directory,
    'AAPL',
  ]) {
    expect(all).not.toContain(secret)
  }
})

it('a lost answer to the job: it is offered again, and run once', async () => {
  const [, bob] = desk().traders
  const { sandbox } = desk()
  wires.toEnclave.loseAnswers(2)
  // The run lasts until the job has been offered again.
  sandbox.broker.fill({ mode: 'hold', times: 1 })
  const orderId = await bob.send(buy)
  await eventually('another offer', () => offersOf(orderId).length > 1)
  await eventually('the order is at the broker', () => brokerOrder(sandbox, orderId))
  sandbox.broker.release({})
  await expectSettledInOneRun(bob, orderId)
})

it('a lost answer to the result: it is posted again, and recorded once', async () => {
  const [, bob] = desk().traders
  wires.toServer.loseAnswers(2, '/result')
  const orderId = await bob.send(buy)
  await expectSettledInOneRun(bob, orderId)
  await eventually('an answer', () => resultsOf(runIdOf(orderId)).some(({ status }) => status === 200))
  expect(resultsOf(runIdOf(orderId))).toHaveLength(3)
})

const result = (outcome: string) => JSON.stringify({ outcome })

it('a message from somebody else that says how a run ended is refused: forged, stale, or without a signature', async () => {
  const [alice] = desk().traders
  const { info, secrets } = desk().sandbox
  const orderId = await sendAndHold(alice)
  const runId = runIdOf(orderId)
  const body = result('rejected')
  const stale = new Date(Date.now() - 3_600_000)
  const forgeries = [
    signRunMessage(`whsec_${Buffer.alloc(32, 1).toString('base64')}`, { kind: 'result', runId, body }),
    signRunMessage(secrets.triggerSecret, { kind: 'result', runId, body }, stale),
    signRunMessage(secrets.triggerSecret, { kind: 'result', runId, body: result('settled') }),
    { ...offersOf(orderId)[0]?.headers },
    {},
  ]
  for (const headers of forgeries) {
    const message = { headers: { ...headers, 'content-type': 'application/json' }, body }
    const response = await post(`${info.url}/runs/${runId}/result`, message)
    expect(response.status).toBe(401)
  }
  expect((await alice.client.getOrder(orderId)).triggers[0]?.outcome).toBeNull()
  fill()
  await expectSettledInOneRun(alice, orderId)
})

it('a message from somebody else that repeats a true one changes nothing: a result', async () => {
  const [alice] = desk().traders
  const { info } = desk().sandbox
  const orderId = await alice.send(buy)
  const { triggers } = await alice.ended(orderId)
  const [posted] = resultsOf(runIdOf(orderId))
  if (posted === undefined) throw new Error('no result was posted')
  for (const _again of [1, 2]) {
    const response = await post(`${info.url}${posted.path}`, posted)
    // The record of a run goes a moment after its end.
    expect([response.status, await response.json()]).toEqual([
      200,
      { runId: runIdOf(orderId), result: expect.stringMatching(/^(received|not-awaited)$/) },
    ])
  }
  expect((await alice.client.getOrder(orderId)).triggers).toEqual(triggers)
})
