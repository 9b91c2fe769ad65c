import { describe, expect, test } from 'vitest'
import { LEAST_GAS, priceLimit } from '../../../src/chain/fees.js'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import { gasLimitFor } from '../../../src/server/relay/preflight.js'
import { readTransaction } from '../../../src/server/signer/transaction.js'
import {
  afterWrites,
  batchMint,
  digestOf,
  grantedOrder,
  orderOf,
  portfolioUpdate,
  refund,
} from '../../support/authorizations.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { bytes32, soon as deadline, MSFT, shares } from '../../support/institution.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { useUtcDay } from '../../support/utcDay.js'
import { MINT, useMintChain } from './mint.js'
import { mine, pooled, receiptOf, soon, startRelay, stopMining, storedRecord } from './relayUnderTest.js'

useUtcDay(60_000)

const { chain } = useMintChain()

const OTHER = batchMint(MSFT, shares(5))

async function start(env: Record<string, string>, root?: string) {
  const dataDir = root ?? (await temporaryDirectory())
  return { dataDir, relay: await startRelay({ chain: chain(), dataDir, env }) }
}

/** Gas that the mint is given. */
async function gasOfMint(): Promise<number> {
  const { relay } = await start({})
  const before: unknown = await chain().provider.send('evm_snapshot', [])
  const { txHash } = receiptOf(await relay.relay(MINT))
  const transaction = await chain().provider.getTransaction(txHash ?? '')
  await relay.stop()
  await chain().provider.send('evm_revert', [before])
  return Number(transaction?.gasLimit)
}

describe('the balance at its floor', () => {
  const FLOOR = 10n ** 18n
  const updates = () => chain().anvil.accounts.map(({ address }) => portfolioUpdate(grantedOrder(address)))

  const setBalance = (wei: bigint) =>
    chain().provider.send('anvil_setBalance', [chain().account('relayer'), toQuantity(wei)])

  /** One update under way, and what it may cost at most: so may each other one, while no block is mined. */
  async function startWithOneUnderWay() {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const dataDir = await temporaryDirectory()
    const env = { RELAY_MIN_BALANCE: '1', RPC_TIMEOUT: '20s' }
    const relay = await startRelay({ chain: chain(), dataDir, env, rpcUrl: proxy.url })
    await stopMining(chain())
    const [first, ...others] = updates()
    if (first === undefined) throw new Error('the chain has no accounts')
    await relay.relay(first, { Prefer: 'wait=0' })
    const digest = digestOf(chain(), first)
    await soon(async () => (await storedRecord(dataDir, digest))?.transactions.length).toBe(1)
    const [sent] = (await storedRecord(dataDir, digest))?.transactions ?? []
    const { gasLimit, fees } = readTransaction(sent?.raw ?? '0x')
    const price = priceLimit(fees)
    // For the mark and the end of the order that it writes ahead.
    const booked = (2n * gasLimit + 120_000n) * price
    return { proxy, relay, digest, others, cost: gasLimit * price, booked, need: gasLimit * price + booked }
  }

  test('is kept to the wei', async () => {
    const { relay: earlier, need } = await startWithOneUnderWay()
    await earlier.stop()
    await chain().provider.send('anvil_dropAllTransactions', [])
    const { relay } = await start({ RELAY_MIN_BALANCE: '1' })
    const [first = MINT] = updates()
    await setBalance(FLOOR + need - 1n)
    expect((await relay.relay(first, { Prefer: 'wait=0' })).body.code).toBe('relayer-underfunded')
    await setBalance(FLOOR + need)
    expect((await relay.relay(first, { Prefer: 'wait=0' })).status).toBe(202)
  })

  test('is kept by what is new alone: an order written ahead is marked, and ends, below it', async () => {
    const { relay } = await start({ RELAY_MIN_BALANCE: '1' })
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

  test('is not counted on as it was before something else was mined', async () => {
    const { proxy, relay, digest, others, cost, booked } = await startWithOneUnderWay()
    const [next] = others
    if (next === undefined) throw new Error('the chain has one account')
    const floor = FLOOR + 2n * booked
    await setBalance(floor + (cost * 6n) / 5n)
    const told = { result: toQuantity(floor + (cost * 6n) / 5n) }
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let isHeld = false
    // The node has read the balance, and its answer is on its way for long.
    proxy.answer = ({ method }) => (method === 'eth_getBalance' ? told : undefined)
    proxy.hold = (calls) => {
      if (!calls.some(({ method }) => method === 'eth_getBalance')) return undefined
      isHeld = true
      return held
    }
    const posted = relay.relay(next, { Prefer: 'wait=0' })
    await soon(() => isHeld).toBe(true)
    await mine(chain())
    await soon(async () => (await relay.get(digest)).body.status).toBe('confirmed')
    release()
    expect((await posted).body.code).toBe('relayer-underfunded')
    proxy.answer = () => undefined
    await setBalance(floor + cost)
    expect((await relay.relay(next, { Prefer: 'wait=0' })).status).toBe(202)
  })
})

describe('the gas of one authorization', () => {
  test('is never more than a block has room for', async () => {
    const gas = await gasOfMint()
    const room = Math.floor(gas * 0.85)
    const limit: unknown = await chain().provider.send('eth_getBlockByNumber', ['latest', false])
    await chain().provider.send('evm_setBlockGasLimit', [`0x${room.toString(16)}`])
    await mine(chain())
    try {
      const { relay, dataDir } = await start({})
      expect((await relay.relay(MINT)).body.status).toBe('confirmed')
      const [sent] = (await storedRecord(dataDir, digestOf(chain(), MINT)))?.transactions ?? []
      expect(readTransaction(sent?.raw ?? '0x').gasLimit).toBe(BigInt(room))
    } finally {
      const { gasLimit } = { gasLimit: '0x1c9c380', ...(typeof limit === 'object' ? limit : {}) }
      await chain().provider.send('evm_setBlockGasLimit', [gasLimit])
      await mine(chain())
    }
  })

  test('is a quarter more than the estimate, and 64/63 of it at least (EIP-150)', () => {
    expect(gasLimitFor(1_000_000n, 16_777_216n)).toEqual({ gasLimit: 1_250_001n })
    expect(gasLimitFor(14_000_000n, 16_777_216n)).toEqual({ gasLimit: 16_777_216n })
    expect(gasLimitFor(16_515_071n, 16_777_216n)).toEqual({ gasLimit: 16_777_216n })
    expect(gasLimitFor(16_600_000n, 16_777_216n)).toMatchObject({ revert: { name: 'GasLimitExceeded' } })
  })
})

test('the relay tells how it stands', async () => {
  const { relay } = await start({ RELAY_MAX_IN_FLIGHT: '1' })
  await stopMining(chain())
  const idle = await relay.health()
  expect(idle).toMatchObject({
    account: {
      address: chain().account('relayer'),
      balance: await chain().provider.getBalance(chain().account('relayer')),
      isFunded: true,
    },
    minBalance: 10n ** 16n,
    inFlight: 0,
    queued: 0,
    gasRemaining: 40_000_000_000n,
    reserveRemaining: 10_000_000_000n,
  })
  await relay.relay(MINT, { Prefer: 'wait=0' })
  await relay.relay(OTHER, { Prefer: 'wait=0' })
  await soon(() => pooled(chain())).toBe(1)
  const busy = await relay.health()
  expect(busy).toMatchObject({ inFlight: 1, queued: 1 })
  expect(busy.gasRemaining).toBeLessThan(idle.gasRemaining)
  await chain().provider.send('anvil_setBalance', [chain().account('relayer'), '0x1'])
  expect((await relay.health()).account).toMatchObject({ isFunded: false })
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
