// Actor: a cleared employee, Bob, who reads the node's pool. The first 16 bytes of an order's id are the broker's id for it, so the escrow gives
// them to one order.
// Cost: the gas of an opening each time, and one of the 20 orders that he may have open.
// Effect: Bob opened a request of his own under the bytes of Alice's waiting opening, with a higher tip, so hers reverted. The client gave up
// after three ids, so three transactions of Bob's kept her from trading.
// Now: the client goes on with fresh ids, reports each time which wallet was in the way, and the operator's command names it too.
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Hex } from '../../src/protocol/hex.js'
import { personEnv, startCli } from '../e2e/support/cli.js'
import { useDesk } from '../e2e/support/desk.js'
import { eventually } from '../support/eventually.js'
import { operate } from '../support/operate.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { pendingOf, takePrefix } from './support/actors.js'

const desk = useDesk()
/** More than the client used to try. */
const TIMES = 5

test('one who copies ids from the pool delays an order, and is named', async () => {
  const { sandbox, traders, chainTime } = desk()
  const [alice, bob] = traders
  const { provider } = sandbox
  const env = personEnv(desk(), alice, await temporaryDirectory())
  const deadline = (await chainTime()) + 3_600
  // The test mines, so that each block holds Bob's transaction before hers.
  await provider.send('evm_setIntervalMining', [0])
  const program = startCli(['order', 'buy', 'AAPL', '100'], env)
  const taken: Hex[] = []
  let spent = 0n
  while (true) {
    const orderId = await eventually('her next transaction', async () => {
      // She sends one after the other.
      const [own] = await pendingOf(desk(), alice.account.address)
      return own !== undefined && { own }
    }).then(({ own }) => own)
    if (orderId !== null && taken.length === TIMES) break
    const bobs = orderId === null ? null : await takePrefix(desk(), orderId, deadline)
    if (orderId !== null) taken.push(orderId)
    await provider.send('evm_mine', [])
    if (bobs !== null) spent += (await provider.getTransactionReceipt(bobs.hash))?.gasUsed ?? 0n
  }
  await provider.send('evm_setIntervalMining', [1])
  expect(await program.exit).toBe(0)
  expect(program.out()).toContain('state\tSETTLED\n')

  // Her client named the account each time.
  const told = program
    .err()
    .split('\n')
    .filter((line) => line.includes('took the order id'))
  expect(told).toHaveLength(TIMES)
  for (const [index, line] of told.entries()) {
    expect(line).toContain(bob.account.address)
    expect(line).toContain(taken[index])
  }
  // It cost him the gas of five openings.
  expect(spent).toBeGreaterThan(BigInt(TIMES) * 100_000n)
  expect(await desk().contracts.escrow.openOrders()).toBeGreaterThanOrEqual(TIMES)

  // The operator names him from the ids that she reports.
  const { directory, info } = sandbox
  const named = await operate(['taken', ...taken, '--json', '--directory', directory], {
    env: { RPC_URL: info.rpcUrl },
  })
  const { wallets } = z
    .object({ wallets: z.array(z.object({ wallet: z.string(), ids: z.number(), kyc: z.boolean() })) })
    .parse(JSON.parse(named.out))
  expect(wallets).toEqual([{ wallet: bob.account.address, ids: TIMES, kyc: true }])
})
