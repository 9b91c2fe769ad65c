import * as z from 'zod/mini'
import { toQuantity } from '../chain/jsonRpc.js'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import type { Mined } from './contract.js'
import { ClientError, ContractError, mayBePending } from './errors.js'
import { toTradingError } from './foreignErrors.js'
import { lookUntil, nodeAnswer, sleep } from './retry.js'
import { guard, type Wallet } from './wallet.js'

const VERSION = '2.0.0'
const LOOK_MS = 1_000
/** A wallet knows it by itself. One that does not answer gets no batches. */
const CAPABILITIES_TIMEOUT_MS = 5_000
/** EIP-5792: below 200 pending, 200 mined, 500 and above reverted. */
const [PENDING, MINED, REFUSED, REVERTED] = [100, 200, 300, 500]

const capabilitiesSchema = z.record(
  z.string(),
  z.object({ atomic: z.optional(z.object({ status: z.string() })) }),
)
/** Version 1.0 of EIP-5792, which some wallets still speak, answers with the id alone. */
const sentSchema = z.union([
  z.pipe(
    z.object({ id: z.string() }),
    z.transform(({ id }) => id),
  ),
  z.string(),
])
const receiptSchema = z.object({
  transactionHash: bytes32Schema,
  blockNumber: z.pipe(z.transform(Number), z.int()),
  status: z.optional(z.pipe(z.transform(Number), z.union([z.literal(0), z.literal(1)]))),
})
const callsSchema = z.object({
  status: z.union([z.int(), z.enum(['PENDING', 'CONFIRMED'])]),
  receipts: z.optional(z.nullable(z.array(receiptSchema))),
})

/** Several calls in one transaction, for wallets that offer it. https://eips.ethereum.org/EIPS/eip-5792 */
export function createBatch({ request, account, boundChainId, miningTimeoutMs, signal }: Wallet) {
  const asked = (ask: () => Promise<unknown>) =>
    guard(ask, signal, (error) => toTradingError(error, 'transaction-refused'))

  /** The transaction that has the calls; null while there is none. */
  async function look(id: string, name: string): Promise<Mined | null> {
    const ask = () => nodeAnswer(request('wallet_getCallsStatus', [id]), signal)
    const { status, receipts } = documented(callsSchema, await asked(ask))
    const mined = receipts?.at(-1)
    const code = codeOf(status, mined?.status)
    if (code >= REVERTED) throw new ContractError(name, 'unknown', {}, true)
    if (code >= REFUSED) {
      throw new ClientError('transaction-refused', 'The transaction was rejected in the wallet.')
    }
    if (code < MINED || mined === undefined) return null
    return { txHash: mined.transactionHash, blockNumber: mined.blockNumber }
  }

  async function untilMined(id: string, name: string): Promise<Mined> {
    for (const giveUpAt = Date.now() + miningTimeoutMs; ; ) {
      const mined = await lookUntil(giveUpAt, () => look(id, name))
      if (mined !== null) return mined
      if (Date.now() >= giveUpAt) {
        throw new ClientError('transaction-pending', `The wallet's batch ${id} is not mined yet.`)
      }
      await sleep(LOOK_MS, signal)
    }
  }

  return {
    /** Whether the wallet says that it executes a batch atomically on this chain, without changing the account first. */
    async isOffered(): Promise<boolean> {
      const [id, from] = [await boundChainId(), await account()]
      const ask = () => request('wallet_getCapabilities', [from, [toQuantity(id)]])
      const answer = await asked(() => nodeAnswer(ask(), signal, CAPABILITIES_TIMEOUT_MS)).catch(() => null)
      signal?.throwIfAborted()
      const found = Object.entries(capabilitiesSchema.safeParse(answer).data ?? {})
      return found.some(([chain, { atomic }]) => Number(chain) === id && atomic?.status === 'supported')
    },
    /**
     * Sends the calls, and waits until they are mined.
     * @param name of the call whose refusal a revert means
     * @throws ContractError `unknown`; ClientError `wrong-chain`, `transaction-refused`, `transaction-pending`, `unexpected-answer`
     */
    async send(calls: readonly { readonly to: Hex; readonly data: string }[], name: string): Promise<Mined> {
      const batch = { version: VERSION, chainId: toQuantity(await boundChainId()), atomicRequired: true }
      const valued = calls.map((call) => ({ ...call, value: '0x0' }))
      const params = [{ ...batch, from: await account(), calls: valued }]
      try {
        const sent = await asked(() => request('wallet_sendCalls', params))
        return await untilMined(documented(sentSchema, sent), name)
      } catch (error) {
        throw mayBePending(error)
      }
    },
  }
}

/** The code of version 2.0. Version 1.0 calls a batch confirmed that has reverted, too: its receipt tells. */
function codeOf(status: z.output<typeof callsSchema>['status'], mined: number | undefined): number {
  if (typeof status === 'number') return status
  if (status === 'PENDING') return PENDING
  if (mined === undefined) throw undocumented()
  return mined === 1 ? MINED : REVERTED
}

function documented<T>(schema: z.ZodMiniType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  throw undocumented()
}

function undocumented(): ClientError {
  return new ClientError('unexpected-answer', 'The wallet did not say as documented what became of a batch.')
}
