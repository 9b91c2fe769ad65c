import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { encodeAuthorizationCall } from '../../src/chain/authorizationCall.js'
import type { RpcCall } from '../../src/chain/rpcTransport.js'
import type { SignedAuthorization } from '../../src/protocol/authorization.js'
import { Secret } from '../../src/server/secret.js'
import { createPrivateKey, createRelayerSigner } from '../../src/server/signer/signer.js'
import { cpuMs } from './cpuTime.js'
import type { RelayChain } from './relayChain.js'

const BATCH = 128
/** Batches under way at once, so that the node never waits for us. */
const AT_ONCE = 2
const POLL_MS = 10
const GAS_LIMIT = 400_000n
const FEES = { type: 2, maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n } as const
const quantity = z.string().transform(Number)

export interface Ceiling {
  /** Mined in a second. */
  readonly perSecond: number
  /** Of the node's process, for each; null where the system does not tell. */
  readonly nodeCpuUs: number | null
}

/**
 * What the node itself allows: transactions signed beforehand, each asked for with one `eth_call` and then sent, in
 * batches. Nothing is checked, stored or followed.
 */
export async function measureCeiling(
  chain: RelayChain,
  authorizations: readonly SignedAuthorization[],
): Promise<Ceiling> {
  const { transport } = chain.provider
  const { address, privateKey } = chain.accounts.ceiling
  const signer = createRelayerSigner(createPrivateKey(new Secret(privateKey)))
  const to = chain.contracts.confidentialLedger
  const first = await countOf(chain, address)
  const ready = await Promise.all(
    authorizations.map(async (authorization, index) => {
      const data = encodeAuthorizationCall(authorization)
      const call = { chainId: chain.chainId, nonce: first + index, to, data, gasLimit: GAS_LIMIT, fees: FEES }
      const { raw } = await signer.sign(call)
      const ask: RpcCall = { method: 'eth_call', params: [{ from: address, to, data }, 'latest'] }
      const send: RpcCall = { method: 'eth_sendRawTransaction', params: [raw] }
      return { ask, send }
    }),
  )
  const before = await cpuMs(chain.pid)
  const startedAt = performance.now()
  const batches = Array.from({ length: Math.ceil(ready.length / BATCH) }, (_, index) =>
    ready.slice(index * BATCH, (index + 1) * BATCH),
  )
  const worker = async () => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      await answered(transport.send(batch.map(({ ask }) => ask)))
      await answered(transport.send(batch.map(({ send }) => send)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  while ((await countOf(chain, address)) < first + ready.length) await sleep(POLL_MS)
  const perSecond = (ready.length * 1_000) / (performance.now() - startedAt)
  const after = await cpuMs(chain.pid)
  const cpu = before === null || after === null ? null : ((after - before) * 1_000) / ready.length
  return { perSecond, nodeCpuUs: cpu }
}

async function answered(batch: ReturnType<RelayChain['provider']['transport']['send']>): Promise<void> {
  const refused = (await batch).filter((answer) => 'error' in answer)
  if (refused.length > 0) throw new Error(`the node refused ${refused.length}: ${JSON.stringify(refused[0])}`)
}

/** Transactions of the account in blocks. */
async function countOf({ provider }: RelayChain, address: string): Promise<number> {
  return quantity.parse(await provider.send('eth_getTransactionCount', [address, 'latest']))
}
