import { setTimeout as sleep } from 'node:timers/promises'
import { encodeAuthorizationCall, targetOf } from '../../src/chain/authorizationCall.js'
import { createContractReader } from '../../src/chain/contractReader.js'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { bytesValue } from '../../src/chain/values.js'
import { type Authorization, signAuthorization } from '../../src/protocol/authorization.js'
import { type Hex, hexLength, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { accountIdOf, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { portfolioHashAfter } from '../../src/protocol/ledgerBlob.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { Secret } from '../../src/server/secret.js'
import { createPrivateKey, createRelayerSigner } from '../../src/server/signer/signer.js'
import type { UnpostedOrder } from '../../test/support/crowd.js'
import type { EscrowReader } from '../../test/support/escrowReader.js'

/** A transaction that is ready to be sent. */
export type RawTransaction = Hex

const GAS_LIMIT = 1_000_000n
const FEES = { type: 2, maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n } as const
const LOOK_MS = 10

/**
 * Signs what the enclave signs for a buy, its write-ahead and its settlement, for accounts that have no portfolio yet, and the
 * transactions that carry them: first all write-aheads, then all settlements.
 *
 * @param like an account with a portfolio, whose blobs have the lengths to use
 */
export async function signFloor(
  { provider, info, secrets }: Sandbox,
  sender: SandboxAccount,
  orders: readonly UnpostedOrder[],
  like: Hex,
): Promise<RawTransaction[]> {
  const { usdc: _, ...contracts } = info.contracts
  const { read } = createContractReader(provider, contracts.confidentialLedger, confidentialLedgerAbi)
  const lengthOf = async (name: 'enclaveBlob' | 'userBlob') =>
    hexLength(await read(name, [accountIdOf(like)], bytesValue))
  const [enclaveBytes, userBytes] = [await lengthOf('enclaveBlob'), await lengthOf('userBlob')]
  // The second write changes every word of the first.
  const blobsOf = (byte: string) => ({
    enclaveBlob: blobOf(byte, enclaveBytes),
    userBlob: blobOf(byte, userBytes),
  })
  const signer = createRelayerSigner(createPrivateKey(new Secret(sender.privateKey)))
  const writes = orders.map(({ orderId, account, commit, escrowed }) => {
    const order = { orderId, account, asset: nameToBytes32('USDC'), amount: escrowed, commit }
    const first = { version: 1n, previous: ZERO_BYTES32, ...blobsOf('5a') }
    const second = { version: 2n, previous: portfolioHashAfter(ZERO_BYTES32, first), ...blobsOf('a5') }
    const update: Authorization = {
      primaryType: 'PortfolioUpdate',
      message: { ...order, state: 1n, ...first },
    }
    const settlement: Authorization = {
      primaryType: 'OrderSettlement',
      message: { ...order, payoutAsset: ZERO_BYTES32, payout: 0n, ...second },
    }
    return { update, settlement }
  })
  const firstNonce = await provider.getTransactionCount(sender.address, 'pending')
  return Promise.all(
    [...writes.map(({ update }) => update), ...writes.map(({ settlement }) => settlement)].map(
      async (authorization, index) => {
        const to = targetOf(authorization.primaryType, contracts)
        const domain = { chainId: info.chainId, verifyingContract: to }
        const signed = signAuthorization(authorization, domain, secrets.enclavePrivateKey)
        const data = encodeAuthorizationCall(signed)
        const nonce = firstNonce + index
        const { raw } = await signer.sign({
          chainId: info.chainId,
          nonce,
          to,
          data,
          gasLimit: GAS_LIMIT,
          fees: FEES,
        })
        return raw
      },
    ),
  )
}

/** Sends them in turn, `inFlight` at most not yet mined; a settlement is sent once its write-ahead is mined. */
export async function sendFloor(
  { provider }: Sandbox,
  sender: SandboxAccount,
  ready: readonly RawTransaction[],
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
