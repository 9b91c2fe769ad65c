import type { ApiPath } from '../../protocol/api.js'
import type { ProblemCode } from '../http/problemCodes.js'
import type { SchemaName } from './schemas.js'

/** One route and method: a row of the table that the document is made from. */
export interface Operation {
  readonly method: 'get' | 'post'
  readonly path: ApiPath
  /** Unique and stable: generated clients name their functions after it. */
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** One for each `:name` in the path. */
  readonly parameters?: Readonly<Record<string, PathParameter>>
  /** The schema of the request's body. */
  readonly body?: SchemaName
  /** Names of request headers that this route alone reads. */
  readonly requestHeaders?: readonly ('Prefer' | 'webhook-id' | 'webhook-timestamp')[]
  readonly answers: readonly Answer[]
  /** Codes besides those that follow from the rest of the row: see `problemsOf` of document.ts. */
  readonly problems: readonly ProblemCode[]
  /** The caller's proof: the relay's token, or the enclave's signature. */
  readonly security?: 'relayToken' | 'runSignature'
}

/** A part of the path. */
export interface PathParameter {
  readonly schema: SchemaName
  readonly description: string
}

/** An answer that is no error. A GET is answered 304 too. */
export interface Answer {
  readonly status: 200 | 202 | 302
  readonly description: string
  /** The schema of the JSON body, or the types of an answer that is a file. Left out for an answer without a body. */
  readonly content?: SchemaName | { readonly mediaTypes: readonly string[] }
  /** Sent besides those of every answer. */
  readonly headers?: readonly ('Location' | 'Link')[]
}

export const TAGS = {
  Intake: 'Sealed orders and rulebooks, and their state. For clients.',
  Status: 'Public facts of a wallet, an institution and the market.',
  Relay: "For the enclave: carries what it signed to the chain. Takes the relay's token.",
  Runs: 'For the enclave: the notices and results of its runs. Signed with the shared secret.',
  Documentation: 'This description, as JSON and as a page, and the error codes.',
} as const
type Tag = keyof typeof TAGS
