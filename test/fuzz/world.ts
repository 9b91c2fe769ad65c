import * as z from 'zod'
import { checksum } from '../../src/protocol/address.js'
import { signAuthorization, signedAuthorizationSchema } from '../../src/protocol/authorization.js'
import { commitOf } from '../../src/protocol/envelope.js'
import type { Hex } from '../../src/protocol/hex.js'
import { digestOf, domainOf, grantedOrder, grantOrders, portfolioUpdate } from '../support/authorizations.js'
import type { TestChain } from '../support/chain.js'
import { bytes32, ORG, setUpInstitution } from '../support/institution.js'
import { ENCLAVE_KEY, ROLES, type Role } from '../support/roles.js'
import { SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { signedCancel } from '../support/signedCancels.js'
import { signedResolution } from '../support/signedResolutions.js'
import { signedRulebook } from '../support/signedRulebooks.js'

/** Any point on the curve will do: the server opens no envelope. */
export const POINT: Hex = `0x${SERVER_ENVIRONMENT.INTENT_PUBKEY.slice(2)}`
/** The order of all jobs that the fuzzer itself gives the enclave. */
export const FUZZED_ORDER = bytes32('at the enclave')
/** Runs whose results the server awaits from its start on. */
export const RUN_IDS = [1, 2].map((n) => `00000000-0000-4000-8000-00000000000${n}`)

export type World = Awaited<ReturnType<typeof createWorld>>

const OPENERS: readonly Role[] = ['alice', 'alice', 'alice', 'bob', 'bob', 'bob']
const DAY_SECONDS = 86_400
/** Portfolios to write, one after the other. */
const WRITES = 12

const envelope = (digit: string) => ({
  epk: POINT,
  iv: `0x${digit.repeat(24)}` as const,
  ct: `0x${digit.repeat(512)}` as const,
  tag: `0x${digit.repeat(32)}` as const,
})

/** Sets up the chain, and makes the subjects of requests: objects on the chain, and some that may come to it. */
export async function createWorld(chain: TestChain) {
  await setUpInstitution(chain)
  const now = await chain.now()
  const deadline = now + 20 * DAY_SECONDS
  const orders: { orderId: Hex }[] = []
  for (const [index, role] of OPENERS.entries()) {
    const orderId = bytes32(`open ${index}`)
    const sealed = envelope(`${index}`)
    await chain.send(role, 'escrow', 'openRequest', orderId, commitOf(sealed), deadline)
    orders.push({ orderId, ...sealed })
  }
  const wallets = Array.from({ length: WRITES }, (_, index) =>
    checksum(bytes32(`account ${index}`).slice(0, 42)),
  )
  await grantOrders(chain, wallets)
  const authorizations = wallets.map((wallet) => portfolioUpdate(grantedOrder(wallet)))
  const stopAt = Math.floor(Date.now() / 1_000) + DAY_SECONDS
  const order = { job: 'order', stopAt, orderId: FUZZED_ORDER, envelope: envelope('c') }
  const jobs = [4, 5, 6].map((n) => ({ ...order, runId: `00000000-0000-4000-8000-00000000000${n}` }))
  const rulebooks = ['a', 'b'].map((digit) => ({ orgId: ORG, envelope: envelope(digit) }))
  /** By their names in paths. */
  const parameters: Readonly<Record<string, readonly string[]>> = {
    orderId: orders.map(({ orderId }) => orderId),
    digest: authorizations.map((one) => digestOf(chain, one)),
    orgId: [ORG],
    address: ROLES.map((role) => chain.account(role)),
    runId: RUN_IDS,
  }
  /** Bodies as their own clients would send them, by service and path. Few, as many are noted on disk. */
  const bodies: Readonly<Record<string, readonly object[]>> = {
    'server /orders': orders,
    'server /orders/:orderId/cancel': await Promise.all(
      orders.slice(0, 2).map(({ orderId }) => signedCancel(chain, 'alice', orderId)),
    ),
    'server /policy': await Promise.all(rulebooks.map((one) => signedRulebook(chain, 'admin', one))),
    'server /resolutions': [await signedResolution(chain)],
    'server /relay': authorizations.map((one) =>
      z.encode(
        signedAuthorizationSchema,
        signAuthorization(one, domainOf(chain, one.primaryType), ENCLAVE_KEY),
      ),
    ),
    'server /runs/:runId/result': [{ outcome: 'rejected', code: 'wrong-version' }],
    'enclave /': [...jobs, { ...order, runId: jobs[0]?.runId, stopAt: 1 }],
  }
  return { chain, now, parameters, bodies }
}
