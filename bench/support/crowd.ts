import { Interface, type JsonRpcProvider, MaxUint256 } from 'ethers'
import * as z from 'zod'
import { createOrderEscrow } from '../../src/chain/contracts.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { publishRulebook } from '../../src/client/admin.js'
import { type OrderStatus, orderStatusSchema } from '../../src/protocol/api.js'
import { commitOf } from '../../src/protocol/envelope.js'
import { bytesToHex, type Hex, hexToBytes, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { INTENT_VERSION, intentDigest, sealIntent } from '../../src/protocol/intent.js'
import type { Side } from '../../src/protocol/orderTerms.js'
import { postOrderSchema } from '../../src/protocol/postedOrder.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { signDigest } from '../../src/protocol/signDigest.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import { clientOf } from '../../src/sandbox/demo.js'
import { testUsdcAbi } from '../../src/sandbox/generated/testUsdc.js'
import type { Call } from '../../src/sandbox/localChain.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { eventually } from '../../test/support/eventually.js'
import { createWallets, sendFrom, untilMined } from '../../test/support/manyWallets.js'

/** An order whose envelope has not been posted. */
export interface UnpostedOrder {
  readonly orderId: Hex
  readonly account: Hex
  readonly commit: Hex
  /** USDC base units that its escrow holds; 0 for a request. */
  readonly escrowed: bigint
  /** Unix seconds. */
  readonly expiry: number
  /** The body of `POST /orders`. */
  readonly body: string
}

/** Accounts of a sandbox, as many as are wanted. Each may buy. */
export interface Crowd {
  readonly accounts: readonly SandboxAccount[]
  /** A buy for each account named, in the order of their nonces: an account may be named again. */
  seal(accounts: readonly SandboxAccount[]): Promise<UnpostedOrder[]>
}

type Place = Pick<Sandbox, 'provider' | 'info' | 'secrets'>

/** The escrow allows an account no more at once. */
export const MOST_OPEN = 20
/** A rulebook must fit into its envelope. */
const MEMBERS = 100
const AMOUNT = 20n * ONE_USDC
const FUNDS = 1_000_000n * ONE_USDC
const SYMBOL = 'AAPL'
const LIFETIME_SECONDS = 86_400
const STATUSES_AT_ONCE = 32
const RULES = { canBuy: true, canSell: true, restricted: [] }

const escrow = new Interface(orderEscrowAbi)
const registry = new Interface(institutionRegistryAbi)
const usdc = new Interface(testUsdcAbi)
let institutions = 0

/**
 * Wallets with KYC and USDC, members of institutions that have a rulebook. It takes seconds, however many there are.
 *
 * @param published whether the rulebooks are published: without them the enclave refuses whatever they order
 */
export async function createCrowd(
  sandbox: Sandbox,
  count: number,
  { published = true }: { published?: boolean } = {},
): Promise<Crowd> {
  const { provider, info, accounts: roles } = sandbox
  const { institutionRegistry, orderEscrow } = info.contracts
  const [accounts, admins] = [
    await createWallets(sandbox, count),
    await createWallets(sandbox, Math.ceil(count / MEMBERS)),
  ]
  const groups = admins.map((admin, index) => ({
    admin,
    orgId: nameToBytes32(`Crowd ${++institutions}`),
    members: accounts.slice(index * MEMBERS, (index + 1) * MEMBERS),
  }))
  const call = (method: string, ...args: unknown[]): Call => ({
    to: institutionRegistry,
    abi: registry,
    method,
    args,
  })
  const pay = (method: string, ...args: unknown[]): Call => ({
    to: info.contracts.usdc,
    abi: usdc,
    method,
    args,
  })
  const mint = accounts.map(({ address }) => pay('mint', address, FUNDS))
  // The next step builds on these.
  await Promise.all([
    sendFrom(provider, roles.owner.address, mint),
    ...accounts.map(({ address }) => sendFrom(provider, address, [pay('approve', orderEscrow, MaxUint256)])),
    ...groups.map(({ admin, orgId }) =>
      sendFrom(provider, admin.address, [call('registerInstitution', orgId)]),
    ),
  ])
  await untilMined(provider)
  const admitted = groups.map(({ admin, orgId }) => call('setAdmitted', orgId, admin.address, true))
  await sendFrom(provider, roles.owner.address, admitted)
  await untilMined(provider)
  await Promise.all(
    groups.map(({ admin, members }) =>
      sendFrom(
        provider,
        admin.address,
        members.map(({ address }) => call('setMember', address, true)),
      ),
    ),
  )
  await untilMined(provider)
  await Promise.all(
    groups.flatMap(({ orgId, members }) =>
      members.map(({ address }) => sendFrom(provider, address, [call('join', orgId)])),
    ),
  )
  await untilMined(provider)
  if (published) {
    for (const { admin, orgId, members } of groups) {
      // The server's newest block may be two seconds old.
      await eventually('the institution', async () => (await fetch(`${info.url}/policy/${orgId}`)).ok)
      const employees = Object.fromEntries(members.map(({ address }) => [address.toLowerCase(), RULES]))
      const policy = { employees, maxOrderNotional: FUNDS, allowWithdrawShares: false }
      await publishRulebook(clientOf(sandbox, admin), policy)
    }
  }

  const sealOrder = createSealer(sandbox)
  let nonce = 0
  return {
    accounts,
    async seal(buyers) {
      const expiry = await expiryOn(provider)
      return Promise.all(buyers.map((account) => sealOrder(account, { side: 'BUY', expiry, nonce: ++nonce })))
    },
  }
}

/** When an order that is opened now may end at the latest. */
async function expiryOn(provider: JsonRpcProvider): Promise<number> {
  const latest = await provider.getBlock('latest')
  return (latest?.timestamp ?? 0) + LIFETIME_SECONDS
}

type SealOrder = (
  account: SandboxAccount,
  order: { readonly side: Side; readonly expiry: number; readonly nonce: number },
) => Promise<UnpostedOrder>

/** Makes orders as the client library does, sealed to the enclave. A buy is paid by its escrow. */
function createSealer({ secrets, info }: Place): SealOrder {
  const domain = { chainId: info.chainId, escrow: info.contracts.orderEscrow }
  const { intentPublicKey } = secrets
  return async ({ address, privateKey }, { side, expiry, nonce }) => {
    const unsigned = {
      v: INTENT_VERSION,
      orderId: bytesToHex(crypto.getRandomValues(new Uint8Array(32))),
      account: address,
      orgId: ZERO_BYTES32,
      side,
      symbol: SYMBOL,
      maxSpend: AMOUNT,
      expiry,
      nonce,
      userPubKey: publicKeyOf(hexToBytes(privateKey)),
    } as const
    const sig = signDigest(intentDigest(unsigned, domain), privateKey)
    const envelope = await sealIntent({ ...unsigned, sig }, intentPublicKey)
    const { orderId } = unsigned
    const body = JSON.stringify(z.encode(postOrderSchema, { orderId, ...envelope }))
    const escrowed = side === 'BUY' ? AMOUNT : 0n
    return { orderId, account: address, commit: commitOf(envelope), escrowed, expiry, body }
  }
}

/** Opens the escrows of all, and resolves when each is open with its commit. */
export async function openAll({ provider, info }: Place, orders: readonly UnpostedOrder[]): Promise<void> {
  const { orderEscrow: to } = info.contracts
  const calls = new Map<Hex, Call[]>()
  for (const { account, orderId, commit, escrowed, expiry } of orders) {
    const own = calls.get(account) ?? []
    calls.set(account, own)
    own.push(
      escrowed > 0n
        ? { to, abi: escrow, method: 'openBuy', args: [orderId, commit, escrowed, expiry] }
        : { to, abi: escrow, method: 'openRequest', args: [orderId, commit, expiry] },
    )
  }
  await Promise.all([...calls].map(([account, own]) => sendFrom(provider, account, own)))
  await untilMined(provider)
  const views = createOrderEscrow(provider, to)
  const found = await Promise.all(orders.map(({ orderId }) => views.orders(orderId)))
  const wrong = orders.filter(
    ({ commit }, index) => found[index]?.state !== 'OPEN' || found[index]?.commit !== commit,
  )
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${orders.length} escrows are not open`)
}

/** One order of each account after the other, so that escrows and nonces of an account come in the same order. */
export async function openRounds(
  place: Place,
  { accounts, seal }: Crowd,
  rounds: number,
): Promise<UnpostedOrder[]> {
  const orders: UnpostedOrder[] = []
  for (let round = 0; round < rounds; round++) {
    const sealed = await seal(accounts)
    await openAll(place, sealed)
    orders.push(...sealed)
  }
  return orders
}

/** Posts its envelope, as the client library does. @throws when the server does not take it */
export async function post(url: string, { body }: UnpostedOrder): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/orders`, { method: 'POST', headers, body })
  const text = await response.text()
  if (response.status !== 202) throw new Error(`POST /orders: ${response.status} ${text}`)
}

/**
 * The status of each order, as `GET /orders/:orderId` answers it.
 * @param get the body of the answer for the order in that place. @throws at any status but 200
 */
export async function readStatuses(
  url: string,
  orders: readonly Pick<UnpostedOrder, 'orderId'>[],
  get: (url: string, index: number) => Promise<string> = getText,
): Promise<OrderStatus[]> {
  const statuses: OrderStatus[] = []
  for (let first = 0; first < orders.length; first += STATUSES_AT_ONCE) {
    const group = orders.slice(first, first + STATUSES_AT_ONCE)
    const answers = await Promise.all(
      group.map(({ orderId }, index) => get(`${url}/orders/${orderId}`, first + index)),
    )
    statuses.push(...answers.map((answer) => orderStatusSchema.parse(JSON.parse(answer))))
  }
  return statuses
}

async function getText(url: string): Promise<string> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response.text()
}
