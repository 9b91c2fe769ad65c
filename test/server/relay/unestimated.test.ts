import { expect, test } from 'vitest'
import * as z from 'zod'
import { readTransaction } from '../../../src/server/signer/transaction.js'
import { batchMint } from '../../support/authorizations.js'
import { INTERFACES } from '../../support/chain.js'
import {
  type Answer,
  type FaultProxy,
  type ProxiedCall,
  REFUSAL,
  startFaultProxy,
} from '../../support/faultProxy.js'
import { AAPL, shares } from '../../support/institution.js'
import {
  asKilledNow,
  MINT,
  receiptOf,
  soon,
  startRelay,
  storedRecord,
  useMintChain,
} from './relayUnderTest.js'

// Nodes say in many ways that a call can't be estimated, most of them without data that would tell why.

const { chain, digest } = useMintChain()
/** The batch after the next one: it reverts with BatchConflict. */
const TOO_EARLY = batchMint(AAPL, shares(5), { batch: 7n })

const error = (code: number, message: string, data?: string): Answer => ({
  error: { code, message, ...(data !== undefined && { data }) },
})
const REFUSALS: Record<string, Answer> = {
  'geth, without a reason': error(-32_000, 'execution reverted'),
  'geth, beyond what it may use': error(-32_000, 'gas required exceeds allowance (0)'),
  'geth, an empty account': error(-32_000, 'insufficient funds for gas * price + value'),
  'geth, an opcode': error(-32_000, 'invalid opcode: INVALID'),
  'Nethermind, for long': error(-32_015, 'revert'),
  'Nethermind, out of gas': error(-32_003, 'out of gas'),
  'Besu, an empty account': error(-32_004, 'Upfront cost exceeds account balance'),
  'an internal error': error(-32_603, 'Internal error'),
}

const transactionSchema = z.looseObject({ to: z.string(), gas: z.string().optional() })

/** The call with which the relay tries what was not estimated. */
function isTrial({ method, params: [transaction] }: ProxiedCall): boolean {
  return method === 'eth_call' && transactionSchema.parse(transaction).gas !== undefined
}

/** A call that nothing but the node can make fail. */
function isControl({ method, params: [transaction] }: ProxiedCall): boolean {
  return method === 'eth_call' && transactionSchema.parse(transaction).to === chain().account('relayer')
}

/** A relay behind a node that estimates nothing. */
async function start(refusal: Answer, answer: FaultProxy['answer'] = () => undefined) {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  proxy.answer = (call) => (call.method === 'eth_estimateGas' ? refusal : answer(call))
  const env = { RELAY_MAX_GAS: '700000', RPC_TIMEOUT: '20s' }
  return { proxy, relay: await startRelay({ chain: chain(), rpcUrl: proxy.url, env }) }
}

const [REFUSED = REFUSAL] = Object.values(REFUSALS)

test('a call whose estimate is refused, and that succeeds, is sent with all the gas that it may have', async () => {
  const { relay } = await start(REFUSED)
  expect(receiptOf(await relay.relay(MINT)).status).toBe('confirmed')
  const [sent] = (await storedRecord(relay.dataDir, digest()))?.transactions ?? []
  expect(readTransaction(sent?.raw ?? '0x').gasLimit).toBe(700_000n)
  // Now it reverts, as it has taken effect.
  expect(receiptOf(await relay.relay(MINT)).status).toBe('confirmed')
})

test('a call that reverts is refused with its error, or without one where no node says why, however its estimate is refused', async () => {
  const { proxy, relay } = await start(REFUSED)
  for (const [name, refusal] of Object.entries(REFUSALS)) {
    proxy.answer = ({ method }) => (method === 'eth_estimateGas' ? refusal : undefined)
    const { status, body } = await relay.relay(TOO_EARLY)
    expect([name, status, body.code, body.revert?.name]).toEqual([name, 422, 'would-revert', 'BatchConflict'])
    proxy.answer = (call) => (call.method === 'eth_estimateGas' || isTrial(call) ? refusal : undefined)
    const unknown = await relay.relay(MINT)
    expect([name, unknown.status, unknown.body.code]).toEqual([name, 422, 'would-revert'])
    expect(unknown.body.revert).toEqual({ name: 'unknown', args: {} })
  }
})

test('a revert whose data has a word before it gets its name', async () => {
  const data = `Reverted ${INTERFACES.pool.encodeErrorResult('BatchConflict', [1, 7])}`
  const refusal = error(-32_015, 'VM execution error.', data)
  const { relay } = await start(REFUSED, (call) => (isTrial(call) ? refusal : undefined))
  expect((await relay.relay(MINT)).body.revert).toMatchObject({ name: 'BatchConflict' })
})

test.each<[what: string, answer: Answer, isAlone: boolean]>([
  ['has lost its state', error(-32_000, 'missing trie node'), false],
  ['is asked too much', REFUSAL, false],
  ['is asked too much for this one call', REFUSAL, true],
])('a node that %s says nothing of the authorization', async (_what, answer, isAlone) => {
  const isFailing = (call: ProxiedCall) => isTrial(call) || (!isAlone && isControl(call))
  const { relay } = await start(REFUSED, (call) => (isFailing(call) ? answer : undefined))
  const response = await relay.relay(MINT)
  expect([response.status, response.body.code]).toEqual([503, 'chain-unavailable'])
  expect((await relay.get(digest())).status).toBe(404)
})

test('an accepted authorization that would fail by now ends, and is not tried again for ever', async () => {
  const { relay, proxy } = await start(REFUSED, ({ method }) =>
    method === 'eth_getTransactionCount' ? REFUSAL : undefined,
  )
  await relay.relay(MINT, { Prefer: 'wait=0' })
  await soon(async () => (await storedRecord(relay.dataDir, digest()))?.receipt.status).toBe('pending')
  const left = await asKilledNow(relay.dataDir)
  await relay.stop()
  proxy.answer = (call) => (call.method === 'eth_estimateGas' || isTrial(call) ? REFUSED : undefined)
  const again = await startRelay({ chain: chain(), dataDir: left, rpcUrl: proxy.url })
  await soon(async () => (await again.get(digest())).body.status).toBe('failed')
})
