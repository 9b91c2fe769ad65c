import { describe, expect, test } from 'vitest'
import { LEAST_GAS, priceLimit } from '../../../src/chain/fees.js'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import { gasLimitFor } from '../../../src/server/relay/preflight.js'
import { readTransaction } from '../../../src/server/signer/transaction.js'
import {
  afterWrites,
  digestOf,
  grantedOrder,
  orderOf,
  portfolioUpdate,
  refund,
} from '../../support/authorizations.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { bytes32, soon as deadline } from '../../support/institution.js'
import { useUtcDay } from '../../support/utcDay.js'
import {
  MINT,
  receiptOf,
  soon,
  startRelay,
  stopMining,
  storedRecord,
  useMintChain,
} from './relayUnderTest.js'

useUtcDay(60_000)

const { chain } = useMintChain()

const start = () => startRelay({ chain: chain(), env: { RELAY_MIN_BALANCE: '1', RPC_TIMEOUT: '20s' } })

describe('the balance at its floor', () => {
  const FLOOR = 10n ** 18n
  const updates = () => chain().anvil.accounts.map(({ address }) => portfolioUpdate(grantedOrder(address)))

  const setBalance = (wei: bigint) =>
    chain().provider.send('anvil_setBalance', [chain().account('relayer'), toQuantity(wei)])

  /** One update under way, and what it may cost at most: so may each other one, while no block is mined. */
  async function startWithOneUnderWay() {
    const relay = await start()
    await stopMining(chain())
    const [first, ...others] = updates()
    if (first === undefined) throw new Error('the chain has no accounts')
    await relay.relay(first, { Prefer: 'wait=0' })
    const digest = digestOf(chain(), first)
    const sent = async () => (await storedRecord(relay.dataDir, digest))?.transactions[0]?.raw
    await soon(sent).toBeDefined()
    const { gasLimit, fees } = readTransaction((await sent()) ?? '0x')
    // Its own, and that of the mark and the end of the order that it writes ahead.
    return { relay, others, need: (3n * gasLimit + 120_000n) * priceLimit(fees) }
  }

  test('is kept to the wei', async () => {
    const { relay: earlier, need } = await startWithOneUnderWay()
    await earlier.stop()
    await chain().provider.send('anvil_dropAllTransactions', [])
    const relay = await start()
    const [first = MINT] = updates()
    await setBalance(FLOOR + need - 1n)
    expect((await relay.relay(first, { Prefer: 'wait=0' })).body.code).toBe('relayer-underfunded')
    await setBalance(FLOOR + need)
    expect((await relay.relay(first, { Prefer: 'wait=0' })).status).toBe(202)
  })

  test('is kept by what is new alone: an order written ahead is marked, and ends, below it', async () => {
    const relay = await start()
    const orderId = bytes32('held')
    await chain().send('alice', 'escrow', 'openRequest', orderId, bytes32('sealed'), await deadline(chain()))
    const held = await orderOf(chain(), orderId)
    const other = grantedOrder(chain().account('bob'))
    const { txHash } = receiptOf(await relay.relay(portfolioUpdate(held)))
    const { maxFeePerGas } = (await chain().provider.getTransaction(txHash ?? '')) ?? {}
    const { booked } = await relay.health()
    // Above the floor it pays for a new order, and not for what is booked besides.
    await setBalance(FLOOR + (LEAST_GAS + booked / 2n) * (maxFeePerGas ?? 0n))
    expect((await relay.health()).account).toMatchObject({ isFunded: false })
    await setBalance(FLOOR / 2n)
    for (const each of [MINT, portfolioUpdate(other)]) {
      expect((await relay.relay(each)).body.code).toBe('relayer-underfunded')
    }
    const [mark, end] = [afterWrites(1n), afterWrites(2n)]
    expect((await relay.relay(portfolioUpdate(held, mark))).body.status).toBe('confirmed')
    expect((await relay.relay(refund(held, end))).body.status).toBe('confirmed')
    await setBalance(2n * FLOOR)
    expect((await relay.relay(MINT)).body.status).toBe('confirmed')
    expect(await relay.health()).toMatchObject({ account: { isFunded: true }, booked: 0n })
  })

  test('pays for as many at once as it can, and for no more', async () => {
    const { relay, others, need } = await startWithOneUnderWay()
    // Zeros in an address cost less than other bytes.
    await setBalance(FLOOR + 4n * need + need / 2n)
    const answers = await Promise.all(others.map((each) => relay.relay(each, { Prefer: 'wait=0' })))
    const codes = answers.map(({ status, body }) => (status === 202 ? 'taken' : body.code)).toSorted()
    expect(codes).toEqual([
      ...others.slice(3).map(() => 'relayer-underfunded'),
      ...others.slice(0, 3).map(() => 'taken'),
    ])
  })
})

test('the gas of one authorization is a quarter more than the estimate, and 64/63 of it at least (EIP-150)', () => {
  expect(gasLimitFor(1_000_000n, 16_777_216n)).toEqual({ gasLimit: 1_250_001n })
  expect(gasLimitFor(14_000_000n, 16_777_216n)).toEqual({ gasLimit: 16_777_216n })
  expect(gasLimitFor(16_515_071n, 16_777_216n)).toEqual({ gasLimit: 16_777_216n })
  expect(gasLimitFor(16_600_000n, 16_777_216n)).toMatchObject({ revert: { name: 'GasLimitExceeded' } })
})

test('the check of an opening asks the nodes at its client’s cost', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const relay = await startRelay({ chain: chain(), rpcUrl: proxy.url })
  const call = {
    digest: bytes32('an opening'),
    target: chain().addressOf('escrow'),
    data: '0xdeadbeef',
  } as const
  const purpose = { kind: 'account', account: chain().account('alice') } as const
  const refused = relay.precheck({ ...call, primaryType: 'BuyOpening', purpose })
  await expect(refused).rejects.toMatchObject({ reason: { code: 'would-revert' } })
  expect(relay.charged.toSorted()).toEqual([
    'eth_call',
    'eth_estimateGas',
    'eth_getBlockByNumber',
    'eth_getCode',
  ])
})
