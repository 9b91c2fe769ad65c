import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createRpc } from '../../../src/chain/rpc.js'
import { type Anvil, startAnvil } from '../../../src/sandbox/anvil.js'
import { createPrivateSigner } from '../../../src/server/signer/signer.js'
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
  anvil = await startAnvil()
  onTestFinished(() => anvil.stop())
  await anvil.mineEvery(60)
  first = await startFaultProxy(anvil.rpcUrl)
  second = await startFaultProxy(anvil.rpcUrl)
  const urls = [first.url, second.url]
  broadcaster = createBroadcaster(createRpc({ urls, timeoutMs: 10_000 }))
})

/** Signed by the chain's first account. */
async function transfer(nonce: number, extra: { tip?: bigint; data?: `0x${string}` } = {}) {
  const [account] = anvil.accounts
  if (account === undefined) throw new Error('the chain has no accounts')
  const signer = createPrivateSigner(new Secret(account.privateKey))
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

const error = (code: number, message: string) => ({ error: { code, message } })
const LIMIT = error(-32_005, 'limit exceeded')
const BROKEN = error(-32_603, 'internal error')
const INDEXING = error(-32_000, 'transaction indexing is in progress')
const isSend = (method: string) => method === 'eth_sendRawTransaction'
const isOfTransaction = (method: string) => method !== 'eth_blockNumber'

test.each([
  ['is asked too much says nothing of a transaction', LIMIT, () => true, 0],
  ['refuses one by the same code has refused it', LIMIT, isSend, 1],
  ['fails in well-formed answers says nothing of one', BROKEN, () => true, 0],
  ['fails so where it is sent one, and has not got it, has refused it', BROKEN, isSend, 1],
  ['is in order, and has but errors for what it does not know, has refused it', INDEXING, isOfTransaction, 1],
  ['is in order, and is asked too much about one, says nothing of it', LIMIT, isOfTransaction, 0],
])('a node that %s', async (_what, answer, isAnswered, refused) => {
  second.fault = () => 'drop'
  first.answer = ({ method }) => (isAnswered(method) ? answer : undefined)
  expect(await broadcaster.send(await transfer(0))).toEqual({ accepted: 0, known: 0, refused })
})
