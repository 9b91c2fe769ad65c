// The trigger with an enclave that posts nothing unless the test does so in its place.
import { expect, onTestFinished, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { createRunRecords } from '../../../src/server/store/runRecords.js'
import { createTriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { handled } from '../../support/handled.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { type DoorStep, startScriptedDoor } from '../../support/scriptedDoor.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { startHttpRunner, startTrigger } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const [A, B] = [bytes32('A'), bytes32('B')]

async function setUp(steps: DoorStep[] = [202], intervalMs = 0) {
  const root = await temporaryDirectory()
  const stores = await openStores(root)
  const door = await startScriptedDoor(steps)
  const rateLimit = createTriggerRateLimit(intervalMs)
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const { logger } = createLogLines()
  const server = () => {
    const runRecords = createRunRecords({ ...stores, logger })
    const parts = { runRecords, rateLimit, stopping: stopping.signal, logger }
    const runner = startHttpRunner({ url: async () => door.url, ...parts })
    const start = (changes: Parameters<typeof startTrigger>[3] = {}) =>
      startTrigger(chain(), undefined, root, { runner, rateLimit, ...changes })
    return { runner, start }
  }
  return {
    door,
    server,
    offered: () => door.offers.map(({ body }) => body.orderId ?? body.job),
    runIdOf: (orderId: Hex) => String(door.offers.find(({ body }) => body.orderId === orderId)?.body.runId),
  }
}

test('a server that starts before it sees the order of a run offers that run again when it does', async () => {
  const { server, door, runIdOf } = await setUp(['lose', 202])
  const first = await server().start()
  const before = await chain().provider.send('evm_snapshot', [])
  const envelope = await first.place('alice', A)
  await eventually('an offer', () => door.offers.length > 0)
  await first.stop()
  await chain().provider.send('evm_revert', [before])
  const offers = door.offers.length
  await server().start()
  await openFor(chain(), 'alice', A, envelope)
  await eventually('the next offer', () => door.offers.length > offers)
  const { body } = door.offers.at(-1) ?? {}
  expect([body?.runId, body?.envelope]).toEqual([runIdOf(A), envelope])
})

test('a rulebook’s run that nothing is heard of is reported at its time, and joined by the same rulebook', async () => {
  const { server, door, offered } = await setUp()
  const { runner, start } = server()
  const { trigger } = await start({ env: { POLICY_RUN_TIMEOUT: '1s' } })
  const rulebook = await sealOrder('a rulebook')
  expect((await trigger.sealedJobs.run(rulebook, { client: 'a client' })).how).toBe('timeout')
  const again = handled(trigger.sealedJobs.run(rulebook, { client: 'a client' }))
  await runner.receiveResult(String(door.offers[0]?.body.runId), { outcome: 'done' })
  expect(await again).toMatchObject({ how: 'result', result: { outcome: 'done' } })
  expect(offered()).toEqual(['policy'])
})

test('orders are offered no more often than the rate limit allows', async () => {
  const INTERVAL_MS = 200
  const { server, offered } = await setUp([202], INTERVAL_MS)
  const { place, trigger } = await server().start()
  const from = Date.now()
  await place('alice', A)
  await place('bob', B)
  void trigger.sealedJobs.run(await sealOrder('a rulebook'), { client: 'a client' })
  await eventually('three offers', () => offered().length === 3)
  expect(new Set(offered())).toEqual(new Set([A, B, 'policy']))
  expect(Date.now() - from).toBeGreaterThanOrEqual(2 * INTERVAL_MS)
})
