import { z } from 'zod'
import { checksum } from '../../src/protocol/address.js'
import { signAuthorization, signedAuthorizationSchema } from '../../src/protocol/authorization.js'
import { commitOf } from '../../src/protocol/envelope.js'
import type { Hex } from '../../src/protocol/hex.js'
import {
  batchMint,
  digestOf,
  domainOf,
  grantedOrder,
  grantOrders,
  portfolioUpdate,
} from '../support/authorizations.js'
import type { TestChain } from '../support/chain.js'
import { AAPL, bytes32, ORG, setUpInstitution, shares } from '../support/institution.js'
import { ENCLAVE_KEY } from '../support/roles.js'
import { SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'

/** Any point on the curve. */
export const POINT: Hex = `0x${SERVER_ENVIRONMENT.INTENT_PUBKEY.slice(2)}`

/** The subjects of requests: objects on the chain, and some that may come to it. */
export interface World {
  /** By their names in paths. */
  readonly parameters: Readonly<Record<string, readonly string[]>>
  /** Bodies as their own clients would send them, by service and path. Few, as many are noted on disk. */
  readonly bodies: Readonly<Record<string, readonly object[]>>
}

/** The order of all jobs of the fuzzer's own. */
export const ENCLAVES_ORDER = bytes32('at the enclave')
export const RUN_IDS = [1, 2].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
const OPENERS = ['alice', 'alice', 'alice', 'bob', 'bob', 'bob'] as const
const DAY_SECONDS = 86_400
/** Portfolios to write, one after the other. */
const WRITES = 12

const envelope = (letter: string) => ({
  epk: POINT,
  iv: `0x${letter.repeat(24)}` as const,
  ct: `0x${letter.repeat(512)}` as const,
  tag: `0x${letter.repeat(32)}` as const,
})
const walletOf = (index: number) => checksum(bytes32(`account ${index}`).slice(0, 42))

/** Sets up the chain, and makes the bodies. */
export async function createWorld(chain: TestChain): Promise<World> {
  await setUpInstitution(chain)
  const deadline = (await chain.now()) + 20 * DAY_SECONDS
  const orders: { orderId: Hex }[] = []
  for (const [index, role] of OPENERS.entries()) {
    const orderId = bytes32(`open ${index}`)
    const sealed = envelope(`${index}`)
    await chain.send(role, 'escrow', 'openRequest', orderId, commitOf(sealed), deadline)
    orders.push({ orderId, ...sealed })
  }
  const wallets = Array.from({ length: WRITES }, (_, index) => walletOf(index))
  await grantOrders(chain, wallets)
  // Some would revert.
  const authorizations = [
    ...wallets.map((wallet) => portfolioUpdate(grantedOrder(wallet))),
    batchMint(AAPL, shares(1)),
    portfolioUpdate(grantedOrder(walletOf(0)), { version: 7n }),
    batchMint(bytes32('not listed'), shares(1)),
  ]
  const stopAt = Math.floor(Date.now() / 1_000) + DAY_SECONDS
  const order = { job: 'order', stopAt, orderId: ENCLAVES_ORDER, envelope: envelope('c') }
  const jobs = [4, 5, 6].map((n) => ({ ...order, runId: `00000000-0000-4000-8000-00000000000${n}` }))
  return {
    parameters: {
      orderId: [bytes32('nobody has opened it'), ...orders.map(({ orderId }) => orderId)],
      digest: [bytes32('nobody has signed it'), ...authorizations.map((one) => digestOf(chain, one))],
      orgId: [ORG, bytes32('no institution')],
      address: (['alice', 'bob', 'admin', 'dave'] as const).map((role) => chain.account(role)),
      runId: RUN_IDS,
    },
    bodies: {
      'server /orders': orders,
      'server /policy': ['a', 'b'].map(envelope),
      'server /relay': authorizations.map((one) =>
        z.encode(
          signedAuthorizationSchema,
          signAuthorization(one, domainOf(chain, one.primaryType), ENCLAVE_KEY),
        ),
      ),
      'server /runs/:runId/result': [{ outcome: 'rejected', code: 'wrong-version' }],
      'enclave /': [...jobs, { ...order, runId: jobs[0]?.runId, stopAt: 1 }],
    },
  }
}
