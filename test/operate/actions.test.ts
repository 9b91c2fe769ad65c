// The owner enters what the broker has booked: from a report of the enclave's part, on a real chain.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { dayAt } from '../../src/broker/index.js'
import { createChainState } from '../../src/enclave/chainState.js'
import { systemClock } from '../../src/enclave/clock.js'
import { actionsOf } from '../../src/enclave/doctor/actions.js'
import { actionReportSchema } from '../../src/protocol/actionReport.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { soon, startRelay } from '../server/relay/relayUnderTest.js'
import { brokerOf, ENCLAVE_ACCOUNT, startStandIn } from '../support/brokerStandIn.js'
import { useChain } from '../support/chain.js'
import { operate } from '../support/operate.js'
import { rpcOf } from '../support/tappedRpc.js'
import { directoryOf, keyOf } from './operateUnderTest.js'

const DELAY = 2 * 86_400
const chain = useChain(undefined, { delays: { rotation: DELAY } })
const TODAY = dayAt(new Date())
const AAPL = { symbol: 'AAPL', day: TODAY }
const SPLIT = { type: 'forward_split', ...AAPL, newRate: '3', oldRate: '2' } as const
const DIVIDEND = { type: 'cash_dividend', ...AAPL, rate: '0.25' } as const

/** A broker that holds 1.5 AAPL, and the command with its report. */
async function setUp() {
  const { url, control, stop } = await startStandIn()
  onTestFinished(stop)
  control.account({ name: 'enclave', positions: { AAPL: '1.5' } })
  const { addresses, anvil } = chain()
  const state = createChainState({
    ...{ rpc: rpcOf(chain()), chainId: anvil.chainId, addresses, depth: 0, clock: systemClock },
    maxHeadAgeMs: Number.MAX_SAFE_INTEGER,
  })
  const directory = await directoryOf(chain())
  const actions = (...args: string[]) => run([...args, '--yes'])
  const answered = (answer: readonly string[], ...args: string[]) => run(args, answer)
  async function run(args: readonly string[], answer?: readonly string[]) {
    const report = join(directory, 'actions.json')
    await writeFile(
      report,
      JSON.stringify(
        z.encode(actionReportSchema, await actionsOf(state, brokerOf(url, ENCLAVE_ACCOUNT, 60_000))),
      ),
    )
    const all = ['actions', ...args, '--enclave-report', report, '--directory', directory]
    const env = { RPC_URL: anvil.rpcUrl, OWNER_PRIVATE_KEY: keyOf(chain(), 'owner') }
    return operate(all, { env, ...(answer && { answer }) })
  }
  /** The states of everything that is listed. */
  async function states(): Promise<string[]> {
    const { out } = await actions('--json')
    const { actions: rows } = z
      .looseObject({ actions: z.array(z.looseObject({ state: z.string() })) })
      .parse(JSON.parse(out))
    return rows.map(({ state: each }) => each)
  }
  const listed = () => chain().read('actions', 'count')
  await startRelay({ chain: chain(), enactEveryMs: 20 })
  /** After the proposals' delay the list has so many entries. */
  async function due(count: number) {
    await chain().mineAt((await chain().now()) + DELAY)
    await soon(listed).toBe(BigInt(count))
  }
  return { control, actions, answered, states, listed, due }
}

it('a split is listed from its announcement on, and enters the list by itself once the owner has proposed it', async () => {
  const { control, actions, states, listed, due } = await setUp()
  const id = `AAPL:split:${TODAY}`
  control.announce(SPLIT)
  expect((await actions()).out).toContain(`${id}  halted, announced, and not booked yet`)
  expect(await actions(id)).toMatchObject({ exit: 1, err: expect.stringContaining('not booked yet') })
  control.book(SPLIT)
  expect((await actions()).out).toContain(`${id}  halted, to propose: 2 AAPL become 3`)
  expect((await actions(id)).err).toContain('will propose: 2 AAPL become 3')
  expect(await states()).toEqual(['proposed'])
  const again = await actions(id)
  expect(again).toMatchObject({ exit: 0, out: 'nothing to do\n' })
  expect(again.err).toContain('the server enacts it from')
  await due(1)
  expect(await states()).toEqual(['in-force'])
  expect((await actions()).out).toBe('0 to look at, 1 in force or over\n')
  expect(await actions(id)).toMatchObject({ exit: 0, out: 'nothing to do\n' })
  expect(await listed()).toBe(1n)
})

it('a proposal that the books bear out no more is listed with its digest, and ends by it', async () => {
  const { control, actions, listed } = await setUp()
  const wrong = [0, await chain().now(), 3n, 1n, 0, nameToBytes32('AAPL'), ZERO_BYTES32]
  await chain().send('owner', 'actions', 'propose', wrong)
  const digest = String(await chain().read('actions', 'digestOf', wrong))
  control.announce(SPLIT)
  control.book(SPLIT)
  expect((await actions()).out).toContain(
    `${digest}  proposed, and not borne out by the above: 1 AAPL become 3`,
  )
  expect((await actions(digest, '--withdraw')).err).toContain('will withdraw the proposal: 1 AAPL become 3')
  expect((await actions()).out).not.toContain(digest)
  expect(await actions(digest, '--withdraw')).toMatchObject({ exit: 0, out: 'nothing to do\n' })
  await chain().mineAt((await chain().now()) + DELAY)
  expect(await listed()).toBe(0n)
})

it('a booking that differs from its announcement waits for the owner, who may take it and withdraw it again', async () => {
  const { control, actions, states, listed } = await setUp()
  const id = `AAPL:split:${TODAY}`
  control.announce({ ...SPLIT, newRate: '2', oldRate: '3', type: 'reverse_split' })
  control.book(SPLIT)
  expect((await actions()).out).toContain(`${id}  halted, booked otherwise than announced`)
  expect((await actions(id)).exit).toBe(1)
  expect((await actions(id, '--as-booked')).err).toContain('will propose: 2 AAPL become 3')
  expect((await actions(id, '--as-booked', '--withdraw')).err).toContain(
    'will withdraw the proposal: 2 AAPL become 3',
  )
  expect(await states()).toEqual(['terms-differ'])
  expect(await listed()).toBe(0n)
})

it('an entry that cannot be read halts its symbol with the reason, and nothing of its symbol or day is proposed until it is settled', async () => {
  const { control, actions, due } = await setUp()
  for (const action of [DIVIDEND, { ...DIVIDEND, withholding: '0.15' }]) control.book(action)
  const [entry, tax] = control.activities().map(({ account: _, ...each }) => each)
  const body = [entry, { ...tax, net_amount: '-0.0000001' }]
  control.fault({ method: 'GET', path: '/v2/account/activities', times: 100, respond: { status: 200, body } })
  const reason = 'booked with an entry that cannot be read: have the broker correct or cancel it'
  const { out } = await actions()
  expect(out).toContain(`AAPL:other:${TODAY}  halted, ${reason}`)
  expect(out).toContain(`AAPL:cash-dividend:${TODAY}  ${reason}`)
  expect((await actions('--propose')).err).toContain(`not proposed: AAPL:cash-dividend:${TODAY}: ${reason}`)
  expect((await actions(`AAPL:other:${TODAY}`, '--cash', '9')).err).toContain(reason)
  for (const count of [1, 2]) {
    await actions(`AAPL:other:${TODAY}`, '--cash', '0')
    await due(count)
  }
  expect((await actions()).out).toContain(`AAPL:cash-dividend:${TODAY}  booked without an announcement`)
})

it('two cash payments that were booked on one day are both paid, each for its own claim, of shares that are neither listed nor held any more', async () => {
  const { control, actions, states, due } = await setUp()
  const merger = { type: 'cash_merger', ...AAPL, cashRate: '9' } as const
  for (const action of [DIVIDEND, merger]) control.announce(action)
  control.book(DIVIDEND)
  await actions('--propose')
  await due(1)
  await actions('--propose')
  await due(2)
  control.book(merger)
  const listed = (await actions()).out
  expect(listed).toContain(
    '; the shares of AAPL end: holders get the cash of their claim; then to propose: 9 USDC',
  )
  expect((await actions('--propose')).err).toContain(
    `later, by this command again: AAPL:merger:${TODAY}: 9 USDC for each AAPL that has a claim`,
  )
  expect((await actions()).out).toContain('; then to propose: 9 USDC for each AAPL that has a claim')
  await due(4)
  expect((await states()).sort()).toEqual(['in-force', 'to-propose'])
  expect((await actions()).out).toContain('to propose: 9 USDC for each AAPL that has a claim')
  await actions('--propose')
  await due(5)
  expect(await states()).toEqual(['in-force', 'in-force'])
  const entries = Array.from(Object(await chain().read('actions', 'list', 0, 5)), (entry) => Object(entry))
  const payments = entries.filter(({ kind }) => kind === 3n)
  expect(payments.map(({ entitlement, numerator }) => [entitlement, numerator])).toEqual([
    [0n, expect.any(BigInt)],
    [expect.any(BigInt), 9_000_000n],
  ])
})

it('all actions that can be proposed are asked about one by one, and the others have their reason', async () => {
  const { control, actions, answered, states, due } = await setUp()
  control.account({ name: 'enclave', positions: { AAPL: '1.5', MSFT: '2' } })
  const MSFT = { symbol: 'MSFT', day: TODAY }
  control.announce({ ...DIVIDEND, ...MSFT })
  const spinOff = { type: 'spin_off', ...MSFT, newRate: '1', oldRate: '2', successor: 'NVDA' } as const
  for (const action of [SPLIT, spinOff]) {
    control.announce(action)
    control.book(action)
  }
  const halved = await answered(['n', 'y'], '--propose')
  expect(halved).toMatchObject({ exit: 0, out: 'done: actions\n' })
  expect(halved.err).toContain(
    `not proposed: MSFT:spin-off:${TODAY}: booked: sell the 1 new shares, NVDA, at the broker`,
  )
  expect((await states()).sort()).toEqual(['needs-cash', 'proposed', 'to-propose'])
  expect(await answered(['n'], '--propose')).toMatchObject({ exit: 3, out: '' })
  expect(await actions('--propose')).toMatchObject({ exit: 0, out: 'done: actions\n' })
  await due(2)
  expect((await states()).sort()).toEqual(['claimed', 'in-force', 'needs-cash'])
  expect((await actions('--propose', '--cash', '1')).exit).toBe(2)
})

it('an unknown action, and the report of another deployment, are refused', async () => {
  const { actions } = await setUp()
  expect(await actions('AAPL:split:2020-01-01')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('has no action'),
  })
  const directory = await directoryOf(chain(), { chainId: 31337 })
  const report = join(directory, 'report.json')
  await writeFile(
    report,
    JSON.stringify({ chainId: 1, token: chain().addresses.equityToken, today: TODAY, events: [] }),
  )
  const env = { RPC_URL: chain().anvil.rpcUrl, OWNER_PRIVATE_KEY: keyOf(chain(), 'owner') }
  const { exit, err } = await operate(['actions', '--enclave-report', report, '--directory', directory], {
    env,
  })
  expect([exit, err]).toEqual([1, expect.stringContaining('another deployment')])
})
