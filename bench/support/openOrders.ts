import { setTimeout as sleep } from 'node:timers/promises'
import { utils } from '@noble/secp256k1'
import { computeAddress, toQuantity } from 'ethers'
import { z } from 'zod'
import { createOrderEscrow } from '../../src/chain/orderEscrow.js'
import { checksum } from '../../src/protocol/address.js'
import { postOrderSchema } from '../../src/protocol/api.js'
import { commitOf, seal } from '../../src/protocol/envelope.js'
import { bytesToHex, type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { INTENT_VERSION, intentDigest, intentSchema, type UnsignedIntent } from '../../src/protocol/intent.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { signDigest } from '../../src/protocol/signature.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { publicIdentity } from '../../src/sandbox/secrets.js'
import { sendAll } from '../../src/sandbox/transactions.js'
import { escrowCall, tokenCall } from './calls.js'

/** An order whose escrow is open and whose envelope has not been posted. */
export interface UnpostedOrder {
  readonly orderId: Hex
  readonly commit: Hex
  /** The body of `POST /orders`. */
  readonly body: string
}

/** The escrow allows an account no more. */
const ORDERS_PER_ACCOUNT = 20
const LIFETIME_SECONDS = 86_400
/** Many openings go into one block. */
const BLOCK_GAS_LIMIT = 3_000_000_000
const GAS_LIMIT = 400_000
const WEI = 10n ** 18n
const POLL_MS = 200
const quantity = z.string().transform(Number)
const poolSchema = z.object({ pending: quantity, queued: quantity })
const NO_INSTITUTION: Hex = `0x${'00'.repeat(32)}`

/**
 * Opens that many escrows on the chain, each with the commit of an envelope that is really sealed to the enclave: sales
 * by wallets that have passed KYC and hold nothing, so that an enclave run refuses them and refunds.
 */
export async function openOrders(sandbox: Sandbox, count: number): Promise<UnpostedOrder[]> {
  const { provider } = sandbox
  const accounts = await createAccounts(sandbox, Math.ceil(count / ORDERS_PER_ACCOUNT))
  const latest = await provider.getBlock('latest')
  const expiry = (latest?.timestamp ?? 0) + LIFETIME_SECONDS
  const opened: UnpostedOrder[] = []
  for (const account of accounts) {
    const sealed = await sealOrders(sandbox, account, expiry)
    await sendOpenings(sandbox, account, sealed, expiry)
    opened.push(...sealed)
  }
  await untilOpen(sandbox, opened)
  return opened.slice(0, count)
}

async function createAccounts(sandbox: Sandbox, count: number): Promise<SandboxAccount[]> {
  const { provider, accounts, info } = sandbox
  const created = Array.from({ length: count }, (): SandboxAccount => {
    const privateKey = bytesToHex(utils.randomSecretKey())
    return { address: checksum(computeAddress(privateKey)), privateKey }
  })
  await provider.send('evm_setBlockGasLimit', [toQuantity(BLOCK_GAS_LIMIT)])
  await Promise.all(
    created.map(({ address }) => provider.send('anvil_setBalance', [address, toQuantity(WEI)])),
  )
  await sendAll(
    provider,
    accounts.owner,
    created.map(({ address }) => tokenCall(info.contracts, 'setKyc', address, true)),
  )
  return created
}

/** The chain signs for the account: signing thousands of transactions here would take longer than the measuring. */
async function sendOpenings(
  { provider, info }: Sandbox,
  { address }: SandboxAccount,
  orders: readonly UnpostedOrder[],
  expiry: number,
): Promise<void> {
  await provider.send('anvil_impersonateAccount', [address])
  await Promise.all(
    orders.map(({ orderId, commit }, nonce) => {
      const { to, abi, method, args } = escrowCall(info.contracts, 'openRequest', orderId, commit, expiry)
      const data = abi.encodeFunctionData(method, args)
      const call = { from: address, to, data, nonce: toQuantity(nonce), gas: toQuantity(GAS_LIMIT) }
      return provider.send('eth_sendTransaction', [call])
    }),
  )
}

function sealOrders(sandbox: Sandbox, account: SandboxAccount, expiry: number): Promise<UnpostedOrder[]> {
  const recipient = publicIdentity(sandbox.secrets).intentPublicKey
  const domain = { chainId: sandbox.info.chainId, escrow: sandbox.info.contracts.orderEscrow }
  const userPubKey = publicKeyOf(hexToBytes(account.privateKey))
  const sealOne = async (index: number): Promise<UnpostedOrder> => {
    const unsigned: UnsignedIntent = {
      v: INTENT_VERSION,
      orderId: bytesToHex(crypto.getRandomValues(new Uint8Array(32))),
      account: account.address,
      orgId: NO_INSTITUTION,
      side: 'SELL',
      symbol: 'AAPL',
      maxSpend: 100n * ONE_USDC,
      expiry,
      nonce: Date.now() + index,
      userPubKey,
    }
    const sig = signDigest(intentDigest(unsigned, domain), account.privateKey)
    const intent = z.encode(intentSchema, { ...unsigned, sig })
    const envelope = await seal(intent, recipient, { kind: 'order', context: new Uint8Array() })
    const { orderId } = unsigned
    const body = JSON.stringify(z.encode(postOrderSchema, { orderId, ...envelope }))
    return { orderId, commit: commitOf(envelope), body }
  }
  return Promise.all(Array.from({ length: ORDERS_PER_ACCOUNT }, (_, index) => sealOne(index)))
}

/** Resolves when all are mined, and throws unless each is open with its commit. */
async function untilOpen({ provider, info }: Sandbox, orders: readonly UnpostedOrder[]): Promise<void> {
  while ((await pendingTransactions(provider)) > 0) await sleep(POLL_MS)
  const escrow = createOrderEscrow(provider, info.contracts.orderEscrow)
  const found = await Promise.all(orders.map(({ orderId }) => escrow.orders(orderId)))
  const wrong = orders.filter(
    ({ commit }, index) => found[index]?.state !== 'OPEN' || found[index]?.commit !== commit,
  )
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${orders.length} escrows are not open`)
}

async function pendingTransactions(provider: Sandbox['provider']): Promise<number> {
  const { pending, queued } = poolSchema.parse(await provider.send('txpool_status', []))
  return pending + queued
}
