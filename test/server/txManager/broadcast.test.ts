import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createRpc } from '../../../src/chain/rpc.js'
import { type Anvil, startAnvil } from '../../../src/sandbox/anvil.js'
import { createPrivateKey, createRelayerSigner } from '../../../src/server/signer/signer.js'
import { type Broadcaster, createBroadcaster } from '../../../src/server/txManager/broadcast.js'
import { Secret } from '../../../src/service/secret.js'
import { type FaultProxy, startFaultProxy } from '../../support/faultProxy.js'

const FEES = { type: 2, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n } as const
const GWEI = 10n ** 9n

let anvil: Anvil
let first: FaultProxy
let second: FaultProxy
let broadcaster: Broadcaster

beforeEach(async () => {
  anvil = await startAnvil({ blockTime: 60 })
  onTestFinished(() => anvil.stop())
  first = await startFaultProxy(anvil.rpcUrl)
  second = await startFaultProxy(anvil.rpcUrl)
  const urls = [first.url, second.url]
  broadcaster = createBroadcaster(createRpc({ urls, timeoutMs: 10_000 }))
})

/** Signed by the chain's first account. */
async function transfer(nonce: number, extra: { tip?: bigint; data?: `0x${string}` } = {}) {
  const [account] = anvil.accounts
  if (account === undefined) throw new Error('the chain has no accounts')
  const signer = createRelayerSigner(createPrivateKey(new Secret(account.privateKey)))
  return signer.sign({
    chainId: anvil.chainId,
    nonce,
    to: signer.address,
    data: extra.data ?? '0x',
    gasLimit: 5_000_000n,
    fees: { ...FEES, maxPriorityFeePerGas: extra.tip ?? FEES.maxPriorityFeePerGas },
  })
}

const sendAll = (transactions: readonly Awaited<ReturnType<typeof transfer>>[]) =>
  Promise.all(transactions.map((transaction) => broadcaster.send(transaction)))

test('transactions sent together are one request to each node, in their order; those accepted before count, too', async () => {
  const transactions = [await transfer(0), await transfer(1), await transfer(2)]
  const bySecond = transactions.map(() => ({ accepted: 2, known: 1, refused: 0 }))
  expect(await sendAll(transactions)).toEqual(bySecond)
  expect(first.requests[0]).toEqual(Array(3).fill('eth_sendRawTransaction'))
  // One of the two proxies of one node was late.
  const questions = [...first.requests.slice(1), ...second.requests.slice(1)].flat()
  expect(new Set(questions)).toEqual(new Set(['eth_getTransactionByHash', 'eth_blockNumber']))
})

test('a transaction that a node refuses and does not know is refused, whatever comes of the others', async () => {
  await sendAll([await transfer(0, { tip: GWEI })])
  const cheaper = await transfer(0, { tip: 1n })
  const [refused, accepted] = await sendAll([cheaper, await transfer(1)])
  expect(refused).toEqual({ accepted: 0, known: 0, refused: 2 })
  expect(accepted).toEqual({ accepted: 2, known: 1, refused: 0 })
})

test('a node that fails says nothing', async () => {
  first.fault = () => 'drop'
  second.fault = (calls) =>
    calls.some(({ method }) => method === 'eth_getTransactionByHash') ? 'drop' : 'none'
  const transaction = await transfer(0)
  expect(await broadcaster.send(transaction)).toEqual({ accepted: 1, known: 0, refused: 0 })
  // "Already known", and then no answer to the question.
  expect(await broadcaster.send(transaction)).toEqual({ accepted: 0, known: 0, refused: 0 })
})

test('a node that is asked too much says nothing of a transaction; by the same code it may refuse one', async () => {
  const limit = { error: { code: -32_005, message: 'limit exceeded' } }
  second.fault = () => 'drop'
  const transaction = await transfer(0)
  first.answer = () => limit
  expect(await broadcaster.send(transaction)).toEqual({ accepted: 0, known: 0, refused: 0 })
  first.answer = ({ method }) => (method === 'eth_sendRawTransaction' ? limit : undefined)
  expect(await broadcaster.send(transaction)).toEqual({ accepted: 0, known: 0, refused: 1 })
})

test('a node that fails in well-formed answers says nothing of a transaction either', async () => {
  const broken = { error: { code: -32_603, message: 'internal error' } }
  const transaction = await transfer(0)
  for (const proxy of [first, second]) proxy.answer = () => broken
  expect(await broadcaster.send(transaction)).toEqual({ accepted: 0, known: 0, refused: 0 })
  second.answer = ({ method }) => (method === 'eth_sendRawTransaction' ? broken : undefined)
  expect(await broadcaster.send(transaction)).toEqual({ accepted: 0, known: 0, refused: 1 })
})

test('a node that is in order and has but errors for what it does not know has refused it', async () => {
  second.fault = () => 'drop'
  const transaction = await transfer(0)
  const indexing = { error: { code: -32_000, message: 'transaction indexing is in progress' } }
  const limit = { error: { code: -32_005, message: 'limit exceeded' } }
  const refuseWith = (answer: typeof limit) => {
    first.answer = ({ method }) => (method === 'eth_blockNumber' ? undefined : answer)
  }
  refuseWith(indexing)
  expect(await broadcaster.send(transaction)).toEqual({ accepted: 0, known: 0, refused: 1 })
  refuseWith(limit)
  expect(await broadcaster.send(transaction)).toEqual({ accepted: 0, known: 0, refused: 0 })
})
