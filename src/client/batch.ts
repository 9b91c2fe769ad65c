import * as z from 'zod/mini'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import type { Mined } from './contract.js'
import { ClientError, ContractError } from './errors.js'
import { toTradingError } from './foreignErrors.js'
import { sleep } from './retry.js'
import type { Wallet } from './wallet.js'

const VERSION = '2.0.0'
const LOOK_MS = 1_000
/** EIP-5792: below 200 pending, 200 mined, 500 and above reverted. */
const [MINED, REFUSED, REVERTED] = [200, 300, 500]

const capabilitiesSchema = z.record(
  z.string(),
  z.object({ atomic: z.optional(z.object({ status: z.string() })) }),
)
const sentSchema = z.object({ id: z.string() })
const callsSchema = z.object({
  status: z.int(),
  receipts: z._default(
    z.array(z.object({ transactionHash: bytes32Schema, blockNumber: z.pipe(z.transform(Number), z.int()) })),
    [],
  ),
})

/** Several calls in one transaction, for wallets that offer it. https://eips.ethereum.org/EIPS/eip-5792 */
export function createBatch({ request, account, chainId, miningTimeoutMs, signal }: Wallet) {
  return {
    /** Whether the wallet says that it executes a batch atomically on this chain, without changing the account first. */
    async isOffered(): Promise<boolean> {
      const id = await chainId()
      const answer: unknown = await request('wallet_getCapabilities', [
        await account(),
        [`0x${id.toString(16)}`],
      ]).catch(() => null)
      const found = Object.entries(capabilitiesSchema.safeParse(answer).data ?? {})
      return found.some(([chain, { atomic }]) => Number(chain) === id && atomic?.status === 'supported')
    },
    /**
     * Sends the calls, and waits until they are mined.
     * @param name of the call whose refusal a revert means
     * @throws ContractError `unknown`; ClientError `transaction-refused`, `transaction-pending`
     */
    async send(calls: readonly { readonly to: Hex; readonly data: string }[], name: string): Promise<Mined> {
      const batch = { version: VERSION, chainId: `0x${(await chainId()).toString(16)}`, atomicRequired: true }
      const sent = await request('wallet_sendCalls', [
        { ...batch, from: await account(), calls: calls.map((call) => ({ ...call, value: '0x0' })) },
      ]).catch(refusal)
      const { id } = sentSchema.parse(sent)
      for (let waitedMs = 0; waitedMs < miningTimeoutMs; waitedMs += LOOK_MS) {
        const { status, receipts } = callsSchema.parse(
          await request('wallet_getCallsStatus', [id]).catch(refusal),
        )
        const mined = receipts.at(-1)
        if (status >= REVERTED) throw new ContractError(name, 'unknown', {}, true)
        if (status >= REFUSED) throw refused()
        if (status >= MINED && mined !== undefined) {
          return { txHash: mined.transactionHash, blockNumber: mined.blockNumber }
        }
        await sleep(LOOK_MS, signal)
      }
      throw new ClientError('transaction-pending', `The wallet's batch ${id} is not mined yet.`)
    },
  }
}

function refused(): ClientError {
  return new ClientError('transaction-refused', 'The transaction was rejected in the wallet.')
}

function refusal(cause: unknown): never {
  throw toTradingError(cause, 'transaction-refused')
}
