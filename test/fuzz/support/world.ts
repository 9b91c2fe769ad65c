import { z } from 'zod'
import { checksum } from '../../../src/protocol/address.js'
import { signAuthorization, signedAuthorizationSchema } from '../../../src/protocol/authorization.js'
import { commitOf, type Envelope } from '../../../src/protocol/envelope.js'
import { bytesToHex, type Hex } from '../../../src/protocol/hex.js'
import { createRandom, type Random } from '../../faults/random.js'
import {
  batchMint,
  digestOf,
  domainOf,
  grantedOrder,
  grantOrders,
  portfolioUpdate,
} from '../../support/authorizations.js'
import type { TestChain } from '../../support/chain.js'
import { AAPL, bytes32, ORG, setUpInstitution, shares } from '../../support/institution.js'
import { ENCLAVE_KEY } from '../../support/roles.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'

export type Json = Readonly<Record<string, unknown>>

/** The subjects of requests: objects on the chain, and some that may come to it. */
export interface World {
  readonly orderIds: readonly [Hex, ...Hex[]]
  readonly digests: readonly [Hex, ...Hex[]]
  readonly orgIds: readonly [Hex, ...Hex[]]
  readonly accounts: readonly [Hex, ...Hex[]]
  /** Bodies of `POST /orders` whose escrows are open. */
  readonly openOrders: readonly [Json, ...Json[]]
  /** Bodies of `POST /relay` that are as they should be, of every outcome. */
  readonly authorizations: readonly [Json, ...Json[]]
  /** Ids of runs whose results the server awaits from its start on. */
  readonly runIds: readonly [string, ...string[]]
  /** Bodies of the enclave's `POST /`. Few, as each is noted on disk; some are of one order. */
  readonly jobs: readonly [Json, ...Json[]]
  /** Bodies of `POST /policy`. Few, as each is noted on disk. */
  readonly rulebooks: readonly [Json, ...Json[]]
  /** The time of signatures. */
  readonly now: () => Date
  readonly token: string
  readonly origin: string
}

/** Any point on the curve will do: whether anybody can open an envelope is not the server's business. */
const POINT = SERVER_ENVIRONMENT.INTENT_PUBKEY
const OPEN_ORDERS = ['alice', 'alice', 'alice', 'bob', 'bob', 'bob'] as const
const RULEBOOKS = 4
const JOBS = 3
const JOB_SECONDS = 86_400
/** The order of all jobs of the fuzzer's own. */
export const ENCLAVES_ORDER = bytes32('at the enclave')
const DEADLINE_SECONDS = 20 * 86_400

/** An envelope of so many bytes that no key opens. */
export function anyEnvelope(random: Random, length: number): Envelope {
  return {
    epk: `0x${POINT.slice(2)}`,
    iv: anyHex(random, 12),
    ct: anyHex(random, length),
    tag: anyHex(random, 16),
  }
}

/** A UUID, as runs have them (RFC 9562, version 4). */
export function anyRunId(random: Random): string {
  const hex = anyHex(random, 16).slice(2)
  const part = (from: number, to: number) => hex.slice(from, to)
  return `${part(0, 8)}-${part(8, 12)}-4${part(13, 16)}-8${part(17, 20)}-${part(20, 32)}`
}

export function anyHex(random: Random, length: number): Hex {
  return bytesToHex(Uint8Array.from({ length }, () => random.integer(0, 255)))
}

/** Sets up the chain, and makes what the requests are made of. The same for the same seed. */
export async function createWorld(chain: TestChain, seed: number, writes: number): Promise<World> {
  await setUpInstitution(chain)
  const random = createRandom(seed)
  const { alice, bob } = { alice: chain.account('alice'), bob: chain.account('bob') }
  const openOrders: Json[] = []
  const deadline = (await chain.now()) + DEADLINE_SECONDS
  for (const [index, role] of OPEN_ORDERS.entries()) {
    const envelope = anyEnvelope(random, 256)
    const orderId = bytes32(`open ${index}`)
    await chain.send(role, 'escrow', 'openRequest', orderId, commitOf(envelope), deadline)
    openOrders.push({ orderId, ...envelope })
  }
  await grantOrders(
    chain,
    Array.from({ length: writes }, (_, index) => accountNumber(index)),
  )
  const authorizations = authorizationsOf(chain, writes)
  const rulebooks = Array.from({ length: RULEBOOKS }, () => ({ ...anyEnvelope(random, 512) }))
  return {
    orderIds: [bytes32('nobody has opened it'), ...OPEN_ORDERS.map((_, index) => bytes32(`open ${index}`))],
    digests: [bytes32('nobody has signed it'), ...authorizations.map(({ digest }) => digest)],
    orgIds: [ORG, bytes32('no institution')],
    accounts: [alice, bob, chain.account('admin'), chain.account('dave')],
    openOrders: atLeastOne(openOrders),
    authorizations: atLeastOne(authorizations.map(({ body }) => body)),
    rulebooks: atLeastOne(rulebooks),
    runIds: [anyRunId(random), anyRunId(random)],
    jobs: atLeastOne(jobsOf(random)),
    now: () => new Date(),
    token: SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN,
    origin: SERVER_ENVIRONMENT.FRONTEND_ORIGIN,
  }
}

function jobsOf(random: Random): Json[] {
  const stopAt = Math.floor(Date.now() / 1_000) + JOB_SECONDS
  return Array.from({ length: JOBS }, () => {
    const common = { job: 'order', runId: anyRunId(random), stopAt, orderId: ENCLAVES_ORDER }
    return { ...common, envelope: anyEnvelope(random, 256) }
  })
}

/** Somebody's wallet, of which nothing but its portfolio matters. */
function accountNumber(index: number): Hex {
  return checksum(bytes32(`account ${index}`).slice(0, 42))
}

/** Portfolios that are written, one after the other, a mint, and one of each that would revert. */
function authorizationsOf(chain: TestChain, writes: number) {
  const updates = Array.from({ length: writes }, (_, index) =>
    portfolioUpdate(grantedOrder(accountNumber(index))),
  )
  const all = [
    ...updates,
    batchMint(AAPL, shares(1)),
    portfolioUpdate(grantedOrder(accountNumber(0)), { version: 7n }),
    batchMint(bytes32('not listed'), shares(1)),
  ]
  return all.map((authorization) => ({
    digest: digestOf(chain, authorization),
    body: z.encode(
      signedAuthorizationSchema,
      signAuthorization(authorization, domainOf(chain, authorization.primaryType), ENCLAVE_KEY),
    ),
  }))
}

function atLeastOne<T>([first, ...others]: readonly T[]): [T, ...T[]] {
  if (first === undefined) throw new Error('nothing to choose from')
  return [first, ...others]
}
