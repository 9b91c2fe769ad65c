// A platform for the client's tests: the real contracts, and the documented answers of a server.
import { signAsync } from '@noble/secp256k1'
import { getBytes, hashMessage, hexlify, type JsonRpcProvider, Wallet } from 'ethers'
import { type ClientOptions, createClient } from '../../src/client/index.js'
import { commitOf } from '../../src/protocol/envelope.js'
import { type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { postOrderSchema } from '../../src/protocol/postedOrder.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import type { ApiAnswer, ApiRequest, ApiStandIn } from '../support/apiStandIn.js'
import type { TestChain } from '../support/chain.js'
import { ROLES, type Role } from '../support/roles.js'

/** The enclave's intent key in these tests. */
export const INTENT_PRIVATE_KEY: Hex = `0x${'b2'.repeat(32)}`
export const INTENT_PUBLIC_KEY = publicKeyOf(hexToBytes(INTENT_PRIVATE_KEY))
export const ORG_ID = nameToBytes32('Example Capital')
/** The balances of alice and bob in USDC base units. */
export const WALLET_USDC = 1_000_000_000n

/** Waits that tests can afford. */
export const FAST = { attempts: 4, baseMs: 1, maxMs: 5 }

/** AAPL is listed. An institution with alice and bob in it, cleared and with USDC in their wallets. Carol is cleared, in none. */
export async function clearForTrading(chain: TestChain): Promise<void> {
  await chain.send('owner', 'token', 'setListed', nameToBytes32('AAPL'), true)
  await chain.send('admin', 'registry', 'registerInstitution', ORG_ID)
  await chain.send('owner', 'registry', 'setAdmitted', ORG_ID, chain.account('admin'), true)
  for (const role of ['alice', 'bob'] as const) {
    await chain.send('admin', 'registry', 'setMember', chain.account(role), true)
    await chain.send(role, 'registry', 'join', ORG_ID)
    await chain.send('owner', 'token', 'setKyc', chain.account(role), true)
    await chain.send('owner', 'usdc', 'mint', chain.account(role), WALLET_USDC)
  }
  await chain.send('owner', 'token', 'setKyc', chain.account('carol'), true)
}

/** The wallet of a role, signing here as a browser's does there. */
export function walletOf(chain: TestChain, role: Role, provider: JsonRpcProvider = chain.provider): Wallet {
  const found = chain.anvil.accounts[ROLES.indexOf(role)]
  if (!found) throw new Error(`no account for ${role}`)
  return new Wallet(found.privateKey, provider)
}

/** A valid signature of the text with fresh entropy in its nonce (RFC 6979, 3.6). */
export async function signAtRandom(privateKey: string, text: string): Promise<string> {
  const [digest, key] = [getBytes(hashMessage(text)), getBytes(privateKey)]
  const options = { prehash: false, extraEntropy: true, format: 'recovered' } as const
  const [recovery = 0, ...rs] = await signAsync(digest, key, options)
  return hexlify(Uint8Array.of(...rs, 27 + recovery))
}

/** A client of the stand-in with the wallet of a role. */
export function clientOf(
  chain: TestChain,
  api: ApiStandIn,
  role: Role,
  options: Partial<ClientOptions> = {},
) {
  const setting = { serverUrl: api.url, wallet: walletOf(chain, role), timing: FAST }
  return createClient({ ...setting, ...options, allowUnattested: true })
}

/** The answer of `GET /enclave-key`. */
export function enclaveKeyOf(chain: TestChain) {
  return {
    publicKey: INTENT_PUBLIC_KEY,
    chainId: chain.anvil.chainId,
    escrow: chain.addressOf('escrow'),
    scheme: 'service-ecies-v1',
    usdc: chain.addressOf('usdc'),
    takesOpenings: true,
  }
}

/** Answers the key and takes every order; `more` answers the rest, and these when it wants to. */
export function answerAsServer(
  api: ApiStandIn,
  chain: TestChain,
  more: (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer> | undefined = () => undefined,
): void {
  api.requests.length = 0
  api.answerWith((request) => {
    const given = more(request)
    if (given) return given
    if (request.path === '/enclave-key') return { body: enclaveKeyOf(chain) }
    if (request.method === 'POST' && request.path === '/orders') return receive(request.body)
    return { status: 404 }
  })
}

/** What a server says of an order that it knows nothing of, but for its state. */
export const NO_STATUS = {
  ...{ account: null, amount: null, deadline: null, commit: null, receivedAt: null },
  ...{ triggers: [], nextTriggerAt: null, notice: null },
}

/** The answer to an order that is stored. */
export function receive(body: unknown): ApiAnswer {
  const { orderId, opening: _, ...envelope } = postOrderSchema.parse(body)
  const received = { orderId, commit: commitOf(envelope), result: 'received' }
  return { status: 202, body: { ...received, receivedAt: '2030-01-01T00:00:00.000Z' } }
}
