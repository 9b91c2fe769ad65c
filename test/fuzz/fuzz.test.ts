import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startStandIn } from '../support/brokerStandIn.js'
import { startTestChain } from '../support/chain.js'
import { handled } from '../support/handled.js'
import { SEED } from '../support/seed.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { carryOut } from './connection.js'
import { growthOf } from './growth.js'
import { judge } from './judge.js'
import { type Held, startPrograms } from './programs.js'
import { anyExchange, type Exchange } from './requests.js'
import { createWorld } from './world.js'

/** `npm run test:soak -- fuzz` sends more. */
const EXCHANGES = z.coerce.number().int().positive().default(20_000).parse(process.env.EXCHANGES)
const AT_ONCE = 24
const ROUNDS = 10
/** One exchange of so many is with the enclave. */
const TO_THE_ENCLAVE = 20
const PER_EXCHANGE_MS = 60

async function startAll() {
  const [chain, broker] = await Promise.all([startTestChain(), startStandIn()])
  onTestFinished(() => Promise.all([chain.stop(), broker.stop()]).then(() => undefined))
  const world = await createWorld(chain)
  return { world, programs: await startPrograms(chain, broker.url, await temporaryDirectory()) }
}

test('every answer, to right requests and wrong ones, is a documented one, and no request leaves anything behind', {
  timeout: 300_000 + EXCHANGES * PER_EXCHANGE_MS,
}, async () => {
  const { world, programs } = await startAll()
  const seen = new Set<string>()
  const held: Held[] = []
  const exchange = fc.oneof(
    { weight: TO_THE_ENCLAVE - 1, arbitrary: anyExchange('server', world) },
    { weight: 1, arbitrary: anyExchange('enclave', world) },
  )

  async function check(one: Exchange): Promise<void> {
    const answers = await carryOut(programs[one.to].port, one)
    for (const [index, answer] of answers.entries()) {
      const code = answer.status < 400 ? '' : ` ${/"code":"([a-z-]+)"/.exec(answer.body)?.[1]}`
      seen.add(`${one.to} ${answer.status}${code}`)
      const fault = judge(one.to, answer, one.requests[index])
      if (fault !== undefined) throw new Error(`${fault}: ${answer.body}`)
    }
  }

  for (let round = 0; round < ROUNDS; round++) {
    const exchanges = fc.array(exchange, { minLength: 1, maxLength: 2 * AT_ONCE, size: 'max' })
    await fc.assert(
      fc.asyncProperty(exchanges, async (all) => {
        await Promise.all(all.map((one) => handled(check(one))))
        expect([...programs.server.faults, ...programs.enclave.faults]).toEqual([])
      }),
      // Each round has other requests of the one seed.
      { seed: SEED + round, numRuns: Math.ceil(EXCHANGES / ROUNDS / AT_ONCE) },
    )
    held.push(await programs.server.held())
  }
  expect(growthOf(held, EXCHANGES)).toEqual([])
  await Promise.all([programs.server.stop(), programs.enclave.stop()])
  expect([...programs.server.faults, ...programs.enclave.faults]).toEqual([])
  expect([...seen]).toEqual(
    expect.arrayContaining([
      ...['server 200', 'server 202', 'server 400 malformed-request', 'server 401 run-unauthorized'],
      ...['server 422 would-revert', 'server 429 too-many-waiting', 'server 503 intake-full'],
      ...['enclave 202', 'enclave 400 invalid-body', 'enclave 422 run-too-late'],
    ]),
  )
})

test('of a server that is gone it says how it ended, and what it said last', async () => {
  const { programs } = await startAll()
  process.kill(programs.server.pid, 'SIGKILL')
  await expect(programs.server.held()).rejects.toThrow()
  expect(programs.server.faults).toEqual([
    expect.stringMatching(/ended by itself: .*SIGKILL.*\n.*"msg":"listening"/s),
  ])
})
