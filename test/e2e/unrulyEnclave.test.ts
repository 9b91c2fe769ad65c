// An enclave that fails in every way a program can: the server records it, reports it, and goes on.
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { ROOT } from '../../src/sandbox/settings.js'
import { eventually } from '../support/eventually.js'
import { craft, submit } from './support/craft.js'
import { useDesk } from './support/desk.js'
import { enclaveProcesses } from './support/enclaveProcesses.js'
import { problemAt } from './support/problems.js'
import type { Trader } from './support/trader.js'

const unruly = fileURLToPath(new URL('../support/enclaves/unruly.mjs', import.meta.url))
const modeFile = join(tmpdir(), `unruly-${crypto.randomUUID()}`)
const behaveAs = (mode: string) => writeFile(modeFile, mode)
const behave = () => rm(modeFile, { force: true })

const desk = useDesk({
  enclave: 'server',
  serverSettings: {
    ENCLAVE_TRIGGER: 'process',
    ENCLAVE_COMMAND: JSON.stringify([process.execPath, unruly, modeFile, join(ROOT, 'dist/enclave/main.js')]),
    ORDER_RUN_TIMEOUT: '90s',
    POLICY_RUN_TIMEOUT: '15s',
  },
})
const MORE_THAN_A_RUN_MS = 150_000

let server: number
let hanging: Hex

beforeAll(async () => {
  const [, bob] = desk().traders
  server = desk().sandbox.server().pid
  await behaveAs('hang')
  hanging = await withdraw(bob)
  await eventually('its run', async () => (await enclaveProcesses(desk().sandbox)).length === 1)
})
afterEach(() => expect(desk().sandbox.server().pid).toBe(server))
afterAll(behave)

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

async function expectRecorded(trader: Trader, orderId: Hex): Promise<void> {
  const { triggers } = await trader.reaches(orderId, 'failed')
  expect(triggers[0]).toMatchObject({ attempt: 1, reason: 'received', outcome: 'failed' })
  expect(triggers[0]?.finishedAt).not.toBeNull()
}

async function expectDoneLater(trader: Trader, orderId: Hex): Promise<void> {
  const { state, triggers } = await trader.ended(orderId)
  expect(state).toBe('REFUNDED')
  expect(triggers.at(-1)).toMatchObject({ reason: 'retry', outcome: 'refunded' })
}

describe('an enclave run', () => {
  it.each(['exit', 'die', 'silent', 'garbage', 'huge', 'other-job', 'lie', 'babble'])(
    'that ends so (%s) is recorded, reported by POST /policy, and its order run again',
    async (mode) => {
      const [alice] = desk().traders
      await behaveAs(mode)
      const [problem, orderId] = await Promise.all([publish(), withdraw(alice)])
      expect(problem).toMatchObject({ status: 502, code: 'enclave-failed' })
      await expectRecorded(alice, orderId)
      await behave()
      await expectDoneLater(alice, orderId)
    },
  )

  it('that hangs is stopped at its time', async () => {
    const [, bob] = desk().traders
    const { sandbox } = desk()
    await behaveAs('hang')
    expect(await publish()).toMatchObject({ status: 504, code: 'enclave-timeout' })
    await behave()
    await eventually(
      'the end of the order’s run',
      async () => (await bob.client.getOrder(hanging)).triggers[0]?.outcome,
      MORE_THAN_A_RUN_MS,
    )
    await expectRecorded(bob, hanging)
    await expectDoneLater(bob, hanging)
    await eventually('no run is left', async () => (await enclaveProcesses(sandbox)).length === 0)
  })
})
