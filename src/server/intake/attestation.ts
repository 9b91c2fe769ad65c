import { z } from 'zod'
import {
  type Attestation,
  attestationReceivedSchema,
  attestationSchema,
  postAttestationSchema,
} from '../../protocol/attestation.js'
import type { Logger } from '../../service/logger.js'
import { createSharedValue } from '../../service/waiting.js'
import { requireRelayToken } from '../http/auth.js'
import { parseBody } from '../http/body.js'
import type { Route } from '../http/routes.js'
import { createStateDocument } from '../store/documents.js'
import type { Engine } from '../store/engine.js'

/** Verifiers believe evidence for as long, and the enclave posts new one each hour. */
const SHOWN_FOR_MS = 7_200_000
/** How long a server shows what another one has replaced. */
const KEPT_MS = 5_000

const recordSchema = z.strictObject({ attestation: attestationSchema, postedAt: z.int() })

export type ShownAttestation = ReturnType<typeof createShownAttestation>

/**
 * The evidence that the enclave posted last, in the store of all servers. The server cannot forge it, and does not judge it: clients do.
 * Every method rejects with StorageError.
 */
export function createShownAttestation(deps: {
  readonly engine: Engine
  readonly logger: Logger
  /** Unix milliseconds. */
  readonly now: () => number
}) {
  const { now } = deps
  const document = createStateDocument({ ...deps, id: 'attestation', schema: recordSchema })
  const known = createSharedValue({
    load: document.load,
    freshMs: () => KEPT_MS,
    isOver: (_record, ageMs) => ageMs >= KEPT_MS,
  })
  return {
    /** Undefined where none was posted within two hours. */
    async current(): Promise<Attestation | undefined> {
      const { value: record } = await known.get()
      return record !== undefined && now() < record.postedAt + SHOWN_FOR_MS ? record.attestation : undefined
    },
    /** @returns Unix milliseconds until which it is shown */
    async post(attestation: Attestation): Promise<number> {
      const postedAt = now()
      await document.save({ attestation, postedAt })
      known.expire()
      return postedAt + SHOWN_FOR_MS
    },
  }
}

/** The route at which the enclave posts its evidence, with the relay's token. */
export function attestationRoute(deps: {
  readonly shown: ShownAttestation
  readonly authToken: string
  readonly bodyLimitBytes: number
}): Route {
  return {
    method: 'POST',
    path: '/attestation',
    check: requireRelayToken(deps.authToken),
    bodyLimitBytes: deps.bodyLimitBytes,
    async answer(body) {
      const shownUntil = await deps.shown.post(parseBody(postAttestationSchema, body))
      return {
        status: 200,
        body: z.encode(attestationReceivedSchema, { shownUntil: new Date(shownUntil).toISOString() }),
      }
    },
  }
}
