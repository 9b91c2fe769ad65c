import * as z from 'zod'
import { addressSchema, sameAddress } from '../../protocol/address.js'
import { type Attestation, attestationSchema } from '../../protocol/attestation.js'
import type { Hex } from '../../protocol/hex.js'
import { publicKeySchema } from '../../protocol/point.js'
import {
  attestationReceivedSchema,
  challengeSchema,
  postAttestationSchema,
} from '../../protocol/postedAttestation.js'
import type { Logger } from '../../service/logger.js'
import { createSharedValue } from '../../service/waiting.js'
import { requireRelayToken } from '../http/auth.js'
import { parseBody } from '../http/body.js'
import type { ClientReaders } from '../http/clients.js'
import { Problem } from '../http/errors.js'
import type { Route } from '../http/routes.js'
import { createStateDocument } from '../store/documents.js'
import type { Engine } from '../store/engine.js'

/** Verifiers believe evidence for as long, and the enclave posts new one each hour. */
const SHOWN_FOR_MS = 7_200_000
/** How long a server shows what another one has replaced. */
const KEPT_MS = 5_000

const postedSchema = z.strictObject({
  attestation: attestationSchema,
  signer: addressSchema,
  sealKey: publicKeySchema,
  postedAt: z.int(),
})
/** The enclave in force, the next one, and one that was replaced or withdrawn. */
const MOST = 3

const statedSchema = z.object({ signer: addressSchema, sealKey: publicKeySchema })

/** @throws Problem `invalid-body` where the statement names no signer and no key, as before the enclave has its keys */
function statedIn({ statement }: Attestation) {
  try {
    return statedSchema.parse(JSON.parse(statement))
  } catch {
    throw new Problem('invalid-body', { detail: 'The statement names no signer and key.' })
  }
}

export type ShownAttestation = ReturnType<typeof createShownAttestation>

/**
 * The evidence that each enclave posted last, in the store of all servers. The server cannot forge it, and does not judge it: clients do.
 * Every method rejects with StorageError.
 */
export function createShownAttestation(deps: {
  readonly engine: Engine
  readonly logger: Logger
  /** Unix milliseconds. */
  readonly now: () => number
}) {
  const { now } = deps
  const document = createStateDocument({ ...deps, id: 'attestations', schema: z.array(postedSchema) })
  const known = createSharedValue({
    load: document.load,
    freshMs: () => KEPT_MS,
    isOver: (_record, ageMs) => ageMs >= KEPT_MS,
  })
  const isShown = ({ postedAt }: { postedAt: number }) => now() < postedAt + SHOWN_FOR_MS
  return {
    /** That of each enclave that posted some within two hours, the last one first. */
    async current() {
      return ((await known.get()).value ?? []).filter(isShown)
    },
    /** @returns Unix milliseconds until which it is shown */
    async post(attestation: Attestation): Promise<number> {
      const posted = { attestation, ...statedIn(attestation), postedAt: now() }
      const isOther = (one: typeof posted) => isShown(one) && !sameAddress(one.signer, posted.signer)
      await document.change((all = []) => [posted, ...all.filter(isOther)].slice(0, MOST))
      known.expire()
      return posted.postedAt + SHOWN_FOR_MS
    },
  }
}

export function attestationRoute(deps: {
  readonly shown: ShownAttestation
  readonly authToken: string
}): Route {
  return {
    method: 'POST',
    path: '/attestation',
    check: requireRelayToken(deps.authToken),
    async answer(body) {
      const shownUntil = await deps.shown.post(parseBody(postAttestationSchema, body))
      return {
        status: 200,
        body: z.encode(attestationReceivedSchema, { shownUntil: new Date(shownUntil).toISOString() }),
      }
    },
  }
}

/** The cost of a challenge, in the calls of nodes that a client may cause: the attestation device is busy for that long. */
const CHALLENGE_CALLS = 120

/** The public route that has the enclave prove itself afresh. */
export function challengeRoute(deps: {
  readonly challenge: (nonce: Hex, charge: () => void) => Promise<Attestation>
  readonly readers: Pick<ClientReaders, 'chargeOrRefuse'>
}): Route {
  return {
    method: 'POST',
    path: '/enclave-key/challenge',
    async answer(body) {
      const { nonce } = parseBody(challengeSchema, body)
      const charge = () => deps.readers.chargeOrRefuse(CHALLENGE_CALLS)
      return { status: 200, body: z.encode(attestationSchema, await deps.challenge(nonce, charge)) }
    },
  }
}
