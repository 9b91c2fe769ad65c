// Actor: a cleared employee, Bob, who reads the node's pool. The first 16 bytes of an order's id are the
// broker's id for it, so the escrow gives them to one order.
// Cost: the gas of an opening each time, and one of the 20 orders that he may have open.
// Effect: Bob saw Alice's opening wait for its block. He opened a request of his own under the same bytes with
// a higher tip, so hers reverted. The client gave up after three ids, so three transactions of
// Bob's kept Alice from trading.
// Now: the client goes on with fresh ids, reports each time which wallet was in the way, and the operator's
// command names it too.
import { Interface, Wallet } from 'ethers'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { bytes32Schema, type Hex } from '../../src/protocol/hex.js'
import { personEnv, runCli, startCli } from '../e2e/support/cli.js'
import { type Desk, useDesk } from '../e2e/support/desk.js'
import { eventually } from '../support/eventually.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const desk = useDesk()
const escrow = new Interface(orderEscrowAbi)
/** More than the client used to try. */
const TIMES = 5
const TIP = 100_000_000_000n

const poolSchema = z.object({
  pending: z.record(z.string(), z.record(z.string(), z.looseObject({ input: z.string() }))),
})

/** This account's transaction in the node's pool: it sends one after the other. `orderId` is an opening's. */
async function pendingOf({ sandbox }: Desk, account: Hex): Promise<{ orderId: Hex | null } | undefined> {
  const { pending } = poolSchema.parse(await sandbox.provider.send('txpool_content', []))
  const own = Object.entries(pending).find(([from]) => from.toLowerCase() === account.toLowerCase())
  const [transaction] = Object.values(own?.[1] ?? {})
  if (transaction === undefined) return undefined
  const call = escrow.parseTransaction({ data: transaction.input })
  return {
    orderId: call?.name === 'openBuyFor' ? bytes32Schema.parse(call.args.getValue('o').orderId) : null,
  }
}

/** Takes these first 16 bytes as Bob, ahead of all others in the block. */
async function take({ sandbox, contracts, traders: [, bob] }: Desk, orderId: Hex, deadline: number) {
  const wallet = new Wallet(bob.account.privateKey, sandbox.provider)
  const other = `${orderId.slice(0, 34)}${'00'.repeat(16)}`
  const data = escrow.encodeFunctionData('openRequest', [other, `0x${'0b'.repeat(32)}`, deadline])
  const fees = { maxPriorityFeePerGas: TIP, maxFeePerGas: 2n * TIP, gasLimit: 500_000n }
  return wallet.sendTransaction({ to: contracts.escrow.address, data, ...fees })
}

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
    const { orderId } = await eventually('her next transaction', () =>
      pendingOf(desk(), alice.account.address),
    )
    if (orderId !== null && taken.length === TIMES) break
    const bobs = orderId === null ? null : await take(desk(), orderId, deadline)
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
  const named = await runCli(['taken', ...taken, '--json'], env)
  const { wallets } = z
    .object({ wallets: z.array(z.object({ wallet: z.string(), ids: z.number(), kyc: z.boolean() })) })
    .parse(JSON.parse(named.out))
  expect(wallets).toEqual([{ wallet: bob.account.address, ids: TIMES, kyc: true }])
  await eventually('nothing is kept of the ids that were taken', async () => {
    const status = await runCli(['order', 'resume', taken[0] ?? ''], env)
    return status.exit === 2
  })
})
