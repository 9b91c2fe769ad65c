// From the broker's announcement to the portfolios, by the owner's command: the enclave, the chain, the broker's stand-in, the books.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { dayAfter, dayAt } from '../../src/broker/index.js'
import { createChainState } from '../../src/enclave/chainState.js'
import { actionsOf } from '../../src/enclave/doctor/actions.js'
import { actionReportSchema } from '../../src/protocol/actionReport.js'
import { directoryOf, keyOf } from '../operate/operateUnderTest.js'
import { soon, startRelay } from '../server/relay/relayUnderTest.js'
import { brokerOf, ENCLAVE_ACCOUNT, shares, startStandIn } from '../support/brokerStandIn.js'
import { useChain } from '../support/chain.js'
import { operate } from '../support/operate.js'
import { rpcOf } from '../support/tappedRpc.js'
import { actionFindings } from './support/actionFindings.js'
import { buy, sell } from './support/scenarios.js'
import { createWorld, SYMBOLS, setUpWorld, type World } from './support/world.js'

const chainOf = useChain(setUpWorld)

/** A world in which the broker's clock, the enclave's and the chain's can be set ahead together. */
async function begin() {
  let ahead = 0
  const broker = await startStandIn({ symbols: SYMBOLS, now: () => new Date(Date.now() + ahead) })
  onTestFinished(() => broker.stop())
  const world = createWorld(chainOf(), broker)
  async function goTo(time: number) {
    ahead = time - Date.now()
    await world.clock.sleep(time - world.clock.now())
    await world.chain.mineAt(Math.max(Math.floor(time / 1_000), (await world.chain.now()) + 1))
  }
  await startRelay({ chain: world.chain, enactEveryMs: 20 })
  return { world, goTo }
}

const split = { type: 'forward_split', symbol: 'AAPL', newRate: '3', oldRate: '2' } as const

/** The owner's command, with what the enclave's part reports now. */
async function owner({ chain, broker, clock }: World, ...args: string[]) {
  const state = createChainState({
    ...{ rpc: rpcOf(chain), chainId: chain.anvil.chainId, addresses: chain.addresses, depth: 0, clock },
    maxHeadAgeMs: Number.MAX_SAFE_INTEGER,
  })
  const directory = await directoryOf(chain)
  const report = join(directory, 'actions.json')
  const found = await actionsOf(state, brokerOf(broker.url, ENCLAVE_ACCOUNT, 60_000))
  await writeFile(report, JSON.stringify(z.encode(actionReportSchema, found)))
  const all = ['actions', ...args, '--enclave-report', report, '--directory', directory, '--yes']
  const env = { RPC_URL: chain.anvil.rpcUrl, OWNER_PRIVATE_KEY: keyOf(chain, 'owner') }
  const done = await operate(all, { env })
  expect(done.exit, done.err).toBe(0)
  return done.out.trimEnd()
}

/** Proposes what the command finds, until the server has enacted so many entries. */
async function entered(world: World, id: string, entries: number): Promise<void> {
  expect(await owner(world, id)).toBe('done: actions')
  await soon(() => world.chain.read('actions', 'count')).toBe(BigInt(entries))
}

async function holdingsOf(world: World, who: 'alice' | 'bob') {
  const portfolio = await world.portfolio(who)
  if (!portfolio) throw new Error(`${who} has no portfolio`)
  return { cash: portfolio.cash, qty: portfolio.positions.AAPL?.qty ?? 0n }
}

it('a cash dividend and a split go from the announcement to the portfolios, once, and the books agree at each step', async () => {
  const { world, goTo } = await begin()
  const { broker, settled, checkInvariants } = world
  await settled(buy(1_000))
  await settled({ ...buy(333), who: 'bob' })
  const [alice, bob] = [await holdingsOf(world, 'alice'), await holdingsOf(world, 'bob')]
  const exDate = dayAfter(dayAt(new Date()), 2)
  const dividend = { type: 'cash_dividend', symbol: 'AAPL', day: exDate, rate: '0.26' } as const
  broker.control.announce(dividend)
  const id = `AAPL:cash-dividend:${exDate}`
  broker.control.announce({ ...split, symbol: 'MSFT', day: exDate })
  const announced = await actionFindings(world)
  expect(announced).toContain(`notice: ${id} is announced. "operate actions" has it`)
  expect(announced).toMatch(
    new RegExp(`MSFT:split:${exDate} is announced: MSFT trades for \\d+ (hours|days) more`),
  )
  expect(await owner(world, id)).toBe('done: actions')
  const proposed = await actionFindings(world)
  expect(proposed).not.toContain(id)
  expect(proposed).toContain('notice: proposed: ENTITLEMENT of AAPL')
  await goTo(Date.parse(`${exDate}T15:00:00Z`))
  await soon(() => world.chain.read('actions', 'count')).toBe(1n)
  await settled(sell(100))
  const sold = await holdingsOf(world, 'alice')
  expect(sold.qty).toBeLessThan(alice.qty)
  broker.control.book({
    ...dividend,
    qty: textOf(alice.qty + bob.qty),
    account: 'enclave',
    withholding: '0.15',
  })
  await checkInvariants()
  expect(await actionFindings(world)).toContain(`notice: ${id} waits for you. "operate actions" has it`)
  await entered(world, id, 2)
  await checkInvariants()
  const paid = [
    (await holdingsOf(world, 'alice')).cash - sold.cash,
    (await holdingsOf(world, 'bob')).cash - bob.cash,
  ] as const
  const booked = broker.control
    .activities()
    .filter(({ activity_type: type }) => type.startsWith('DIV'))
    .reduce((sum, { net_amount: amount }) => sum + BigInt(Math.round(Number(amount) * 1e6)), 0n)
  expect(booked).toBeGreaterThan(0n)
  // Each part is rounded down.
  expect(paid[0] + paid[1]).toBeLessThanOrEqual(booked)
  expect(paid[0] + paid[1]).toBeGreaterThanOrEqual(booked - 2n)
  expect(paid[0]).toBe((alice.qty * booked) / (alice.qty + bob.qty))

  const today = { day: exDate }
  broker.control.announce({ ...split, ...today })
  broker.control.book({ ...split, ...today })
  expect(await actionFindings(world)).toContain(`notice: AAPL:split:${exDate} waits for you: AAPL is halted`)
  await checkInvariants()
  await entered(world, `AAPL:split:${today.day}`, 3)
  await checkInvariants()
  expect((await holdingsOf(world, 'alice')).qty).toBe((sold.qty * 3n) / 2n)
  expect((await holdingsOf(world, 'bob')).qty).toBe((bob.qty * 3n) / 2n)
  await settled({ ...sell(50), who: 'bob' })
  await settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) })
  await checkInvariants()
  expect(await owner(world, id)).toBe('nothing to do')
  expect(await actionFindings(world)).toBe(
    `notice: MSFT:split:${exDate} is announced: MSFT is halted. "operate actions" has it`,
  )
  expect(await owner(world)).toContain('2 in force or over')
})

const textOf = (qty: bigint) => `${qty / 10n ** 9n}.${String(qty % 10n ** 9n).padStart(9, '0')}`
