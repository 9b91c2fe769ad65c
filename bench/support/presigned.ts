import { setTimeout as sleep } from 'node:timers/promises'
import { encodeAuthorizationCall, targetOf } from '../../src/chain/authorizationCall.js'
import { interfaces } from '../../src/chain/interfaces.js'
import { type RpcAnswer, type RpcCall, resultOf, smallQuantitySchema } from '../../src/chain/jsonRpc.js'
import { bytesValue, createContractReader } from '../../src/chain/views.js'
import {
  type Authorization,
  type SignedAuthorization,
  signAuthorization,
} from '../../src/protocol/authorization.js'
import { type Hex, hexLength, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { accountIdOf, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { portfolioHashAfter } from '../../src/protocol/ledgerBlob.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { createPrivateKey, createRelayerSigner } from '../../src/server/signer/signer.js'
import { Secret } from '../../src/service/secret.js'
import type { UnpostedOrder } from '../../test/support/crowd.js'
import type { EscrowReader } from '../../test/support/escrowReader.js'
import { cpuMs } from './processes.js'
import type { RelayChain } from './relayPlatform.js'

// The limits of the node itself: transactions signed beforehand and sent straight to it. Nothing is checked, stored or
// followed.

const BATCH = 128
/** Batches under way at once, so that the node never waits for us. */
const AT_ONCE = 2
const LOOK_MS = 10
/** More than any of these calls uses. */
const GAS_LIMIT = 1_000_000n
const FEES = { type: 2, maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n } as const

/** Transactions of one account in turn. */
async function signAll(
  { privateKey }: SandboxAccount,
  chainId: number,
  firstNonce: number,
  calls: readonly { readonly to: Hex; readonly data: Hex }[],
): Promise<Hex[]> {
  const signer = createRelayerSigner(createPrivateKey(new Secret(privateKey)))
  const signed = calls.map((call, index) =>
    signer.sign({ ...call, chainId, nonce: firstNonce + index, gasLimit: GAS_LIMIT, fees: FEES }),
  )
  return (await Promise.all(signed)).map(({ raw }) => raw)
}

export interface Ceiling {
  /** Mined in a second. */
  readonly perSecond: number
  /** CPU of the node's process for each. */
  readonly nodeCpuUs: number
}

/** The rate at which the node takes authorizations, each asked for with one `eth_call` and then sent, in batches. */
export async function measureCeiling(
  chain: RelayChain,
  authorizations: readonly SignedAuthorization[],
): Promise<Ceiling> {
  const { rpc, chainId, contracts, accounts } = chain
  const { address } = accounts.ceiling
  const first = await countOf(chain, address)
  const calls = authorizations.map((authorization) => ({
    to: contracts.confidentialLedger,
    data: encodeAuthorizationCall(authorization),
  }))
  const raws = await signAll(accounts.ceiling, chainId, first, calls)
  const asks = calls.map(
    (call): RpcCall => ({ method: 'eth_call', params: [{ from: address, ...call }, 'latest'] }),
  )
  const sends = raws.map((raw): RpcCall => ({ method: 'eth_sendRawTransaction', params: [raw] }))
  const before = await cpuMs(chain.pid)
  const startedAt = performance.now()
  let next = 0
  const worker = async () => {
    for (let at = next; at < calls.length; at = next) {
      next = at + BATCH
      await answered(rpc.send(asks.slice(at, at + BATCH)))
      await answered(rpc.send(sends.slice(at, at + BATCH)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  while ((await countOf(chain, address)) < first + calls.length) await sleep(LOOK_MS)
  const perSecond = (calls.length * 1_000) / (performance.now() - startedAt)
  return { perSecond, nodeCpuUs: (((await cpuMs(chain.pid)) - before) * 1_000) / calls.length }
}

async function answered(batch: Promise<readonly RpcAnswer[]>): Promise<void> {
  const refused = (await batch).filter((answer) => 'error' in answer)
  if (refused.length > 0) throw new Error(`the node refused ${refused.length}: ${JSON.stringify(refused[0])}`)
}

/** Transactions of the account in blocks. */
async function countOf({ rpc }: RelayChain, address: string): Promise<number> {
  const [answer] = await rpc.send([{ method: 'eth_getTransactionCount', params: [address, 'latest'] }])
  return resultOf(answer, smallQuantitySchema)
}

/**
 * Signs the enclave's two authorizations for each buy, its write-ahead and its settlement, for accounts that have no portfolio
 * yet, and the transactions that carry them: first all write-aheads, then all settlements.
 *
 * @param like an account with a portfolio, whose blobs have the lengths to use
 */
export async function signFloor(
  { provider, info, secrets }: Sandbox,
  sender: SandboxAccount,
  orders: readonly UnpostedOrder[],
  like: Hex,
): Promise<Hex[]> {
  const { usdc: _, ...contracts } = info.contracts
  const { read } = createContractReader(provider, contracts.confidentialLedger, interfaces.confidentialLedger)
  const lengthOf = async (name: 'enclaveBlob' | 'userBlob') =>
    hexLength(await read(name, [accountIdOf(like)], bytesValue))
  const [enclaveBytes, userBytes] = [await lengthOf('enclaveBlob'), await lengthOf('userBlob')]
  // The second write changes every word of the first.
  const blobsOf = (byte: string) => ({
    enclaveBlob: blobOf(byte, enclaveBytes),
    userBlob: blobOf(byte, userBytes),
  })
  const first = { version: 1n, previous: ZERO_BYTES32, ...blobsOf('5a') }
  const second = { version: 2n, previous: portfolioHashAfter(ZERO_BYTES32, first), ...blobsOf('a5') }
  const writes = orders.map(({ orderId, account, commit, escrowed }) => {
    const order = { orderId, account, asset: nameToBytes32('USDC'), amount: escrowed, commit }
    const payout = { payoutAsset: ZERO_BYTES32, payout: 0n }
    const update: Authorization = {
      primaryType: 'PortfolioUpdate',
      message: { ...order, state: 1n, ...first },
    }
    const settlement: Authorization = {
      primaryType: 'OrderSettlement',
      message: { ...order, ...payout, ...second },
    }
    return { update, settlement }
  })
  const all = [...writes.map(({ update }) => update), ...writes.map(({ settlement }) => settlement)]
  const calls = all.map((authorization) => {
    const to = targetOf(authorization.primaryType, contracts)
    const domain = { chainId: info.chainId, verifyingContract: to }
    return {
      to,
      data: encodeAuthorizationCall(signAuthorization(authorization, domain, secrets.enclavePrivateKey)),
    }
  })
  const firstNonce = await provider.getTransactionCount(sender.address, 'pending')
  return signAll(sender, info.chainId, firstNonce, calls)
}

/** Sends them in turn, `inFlight` at most not yet mined; a settlement is sent once its write-ahead is mined. */
export async function sendFloor(
  { provider }: Sandbox,
  sender: SandboxAccount,
  ready: readonly Hex[],
  inFlight: number,
  reader: EscrowReader,
): Promise<void> {
  const half = ready.length / 2
  const first = await provider.getTransactionCount(sender.address, 'latest')
  let [mined, sent, seen] = [0, 0, reader.head()]
  while (mined < ready.length) {
    const until = Math.min(ready.length, mined + inFlight, half + mined)
    await Promise.all(ready.slice(sent, until).map((raw) => provider.send('eth_sendRawTransaction', [raw])))
    sent = Math.max(sent, until)
    while (reader.head() === seen) await sleep(LOOK_MS)
    seen = reader.head()
    mined = (await provider.getTransactionCount(sender.address, 'latest')) - first
  }
}

function blobOf(byte: string, bytes: number): Hex {
  return `0x01${byte.repeat(bytes - 1)}`
}
