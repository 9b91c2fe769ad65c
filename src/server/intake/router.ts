import * as z from 'zod'
import type { Signers } from '../../chain/authorityView.js'
import type { OrderEscrow } from '../../chain/contracts.js'
import { sameAddress } from '../../protocol/address.js'
import {
  type OrderStatus,
  orderReceivedSchema,
  orderStatusSchema,
  type PolicyVersion,
  policyVersionSchema,
} from '../../protocol/api.js'
import { modeOf } from '../../protocol/attestation.js'
import { postCancelSchema } from '../../protocol/cancelIntent.js'
import { type EnclaveKey, enclaveKeySchema } from '../../protocol/enclaveKey.js'
import { ENVELOPE_SCHEME } from '../../protocol/envelopeForm.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { postOrderSchema } from '../../protocol/postedOrder.js'
import { postResolutionSchema, resolvedSchema } from '../../protocol/resolution.js'
import { postPolicySchema } from '../../protocol/sealedRulebook.js'
import { createTimedValue } from '../../service/waiting.js'
import { fieldErrors, parseBody, parseParam } from '../http/body.js'
import { Problem } from '../http/errors.js'
import type { ProblemCode } from '../http/problemCodes.js'
import { type Route, read } from '../http/routes.js'
import { withRelayProblems } from '../relay/router.js'
import type { ShownAttestation } from './attestation.js'
import type { Cancels, NotReceived, Openings, Orders } from './orders.js'
import { JobRefusal, type Policy, type Resolutions } from './signedJobs.js'

/**
 * The values with which a client seals an intent and opens its escrow: the very same object, until evidence, signer or rotation
 * change. Concurrent callers share the read of USDC, an immutable of the escrow. Rejects as the chain does.
 * @throws Problem `keys-awaited` where the key is neither configured nor posted
 */
export function createEnclaveKey(deps: {
  /** Configured, where the enclave has its keys from files. */
  readonly publicKey: Hex | undefined
  readonly chainId: number
  readonly escrow: Pick<OrderEscrow, 'address' | 'usdc'>
  readonly shown: Pick<ShownAttestation, 'current'>
  /** The chain's signer, and the one that replaces it. */
  readonly signers: () => Promise<Signers>
}) {
  const { publicKey: configured, chainId, escrow, shown, signers } = deps
  const usdcOf = createTimedValue(Number.POSITIVE_INFINITY, escrow.usdc)
  let made: { readonly of: readonly unknown[]; readonly key: EnclaveKey } | undefined
  async function current(): Promise<EnclaveKey> {
    const [usdc, all] = await Promise.all([usdcOf(), shown.current()])
    // A server of file keys without evidence asks the chain for nothing more.
    const { signer, pending = null } = all.length === 0 ? {} : await signers()
    const postedBy = (address?: Hex | null) => all.find((one) => address && sameAddress(one.signer, address))
    const [posted, coming] = [postedBy(signer), postedBy(pending?.to)]
    const publicKey = configured ?? posted?.sealKey
    if (publicKey === undefined) throw new Problem('keys-awaited')
    const attestation = posted?.sealKey === publicKey ? posted.attestation : undefined
    const of = [attestation, publicKey, pending?.to, pending?.effectiveAt, coming?.attestation]
    if (made?.of.every((one, index) => one === of[index])) return made.key
    const next = pending && {
      signer: pending.to,
      effectiveAt: new Date(pending.effectiveAt * 1_000).toISOString(),
      ...(coming && { publicKey: coming.sealKey, attestation: coming.attestation }),
    }
    const fixed = {
      publicKey,
      chainId,
      escrow: escrow.address,
      scheme: ENVELOPE_SCHEME,
      usdc,
      takesOpenings: true,
    }
    const mode = attestation === undefined ? 'file-keys' : modeOf(attestation.format)
    made = { of, key: { ...fixed, mode, ...(attestation && { attestation }), ...(next && { next }) } }
    return made.key
  }

  return {
    current,
    /** That of the last answer; until the first one, what the configuration says. */
    mode: () => made?.key.mode ?? (configured === undefined ? 'keys-awaited' : 'file-keys'),
  }
}

const textFields = z.looseObject({ epk: z.string(), iv: z.string(), ct: z.string(), tag: z.string() })

/**
 * Parses a body with a sealed envelope.
 *
 * @throws Problem `invalid-envelope` when the four fields are there as text and nothing but their content is wrong,
 *   else `invalid-body`
 */
function parseEnvelopeBody<T>(schema: z.core.$ZodType<T>, body: unknown): T {
  const result = z.safeParse(schema, body)
  if (result.success) return result.data
  const onlyEnvelope = result.error.issues.every(({ path }) => Object.hasOwn(textFields.shape, path[0] ?? ''))
  if (!onlyEnvelope || !textFields.safeParse(body).success) return parseBody(schema, body)
  throw new Problem('invalid-envelope', { extensions: { errors: fieldErrors(result.error) } })
}

const NOT_RECEIVED = {
  full: 'intake-full',
  'client-full': 'too-many-waiting',
  // Only the chain could show whether to keep the envelope.
  'ask-chain': 'chain-unavailable',
  undecided: 'chain-unavailable',
  'opening-under-way': 'opening-under-way',
} as const satisfies Record<NotReceived | 'opening-under-way', ProblemCode>

function throwProblem(error: unknown): never {
  if (!(error instanceof JobRefusal)) throw error
  const { code, reason, retryAt } = error
  if (code === 'not-on-chain') {
    throw new Problem('enclave-failed', { detail: 'The rulebook is not on the chain.' })
  }
  throw new Problem(code, {
    ...(retryAt !== undefined && {
      headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAt - Date.now() / 1_000))) },
    }),
    extensions: {
      ...(reason !== undefined && { reason }),
      ...(code === 'relay-quota-exhausted' && { quota: 'institution' }),
    },
  })
}

/** @throws Problem `invalid-parameter` */
const orderIdIn = (param: unknown) => parseParam(bytes32Schema, 'orderId', param)

/** The intake of orders, cancels, rulebooks and resolutions; the key to seal to, an order's state, a rulebook's version. */
export function intakeRoutes(deps: {
  readonly enclaveKey: () => Promise<EnclaveKey>
  readonly orders: Orders
  readonly openings: Openings
  readonly cancels: Cancels
  /** Null when the order is unknown. */
  readonly orderStatus: (orderId: Hex) => Promise<OrderStatus | null>
  readonly policy: Policy
  readonly resolutions: Resolutions
  /** Null when the institution is not registered. */
  readonly policyVersion: (orgId: Hex) => Promise<PolicyVersion | null>
}): Route[] {
  const { enclaveKey, orderStatus, policyVersion, orders, openings, cancels } = deps
  return [
    {
      method: 'POST',
      path: '/orders',
      async answer(body, client) {
        const { opening, ...order } = parseEnvelopeBody(postOrderSchema, body)
        const received =
          opening === undefined
            ? await orders.receive(order, client)
            : await withRelayProblems(() => openings.receive({ ...order, opening }))
        if (typeof received === 'string') throw new Problem(NOT_RECEIVED[received])
        return {
          status: 202,
          location: `/orders/${received.orderId}`,
          body: z.encode(orderReceivedSchema, received),
        }
      },
    },
    read('/orders/:orderId', orderStatusSchema, async (orderId) => {
      const status = await orderStatus(orderIdIn(orderId))
      if (status === null) throw new Problem('order-not-found')
      return status
    }),
    read('/enclave-key', enclaveKeySchema, enclaveKey),
    read('/policy/:orgId', policyVersionSchema, async (orgId) => {
      const version = await policyVersion(parseParam(bytes32Schema, 'orgId', orgId))
      if (version === null) throw new Problem('institution-not-found')
      return version
    }),
    {
      method: 'POST',
      path: '/orders/:orderId/cancel',
      check({ method, params }) {
        if (method === 'POST') orderIdIn(params.orderId)
      },
      async answer(body, _client, _headers, param) {
        const orderId = orderIdIn(param)
        const received = await cancels.receive(orderId, parseEnvelopeBody(postCancelSchema, body))
        if (typeof received === 'string') throw new Problem(received)
        const location = `/orders/${orderId}`
        return { status: 202, location, body: z.encode(orderReceivedSchema, received) }
      },
    },
    {
      method: 'POST',
      path: '/policy',
      longerBody: (headers, answer) => deps.policy.longerBody(headers, answer).catch(throwProblem),
      async answer(body, client) {
        const rulebook = parseEnvelopeBody(postPolicySchema, body)
        const published = await deps.policy.publish(rulebook, client).catch(throwProblem)
        return { status: 200, body: z.encode(policyVersionSchema, published) }
      },
    },
    {
      method: 'POST',
      path: '/resolutions',
      async answer(body) {
        const resolution = parseEnvelopeBody(postResolutionSchema, body)
        const resolved = await deps.resolutions.apply(resolution).catch(throwProblem)
        return { status: 200, body: z.encode(resolvedSchema, resolved) }
      },
    },
  ]
}
