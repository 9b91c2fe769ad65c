import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import {
  complianceSchema,
  contractsSchema,
  enclaveKeySchema,
  healthSchema,
  institutionSchema,
  marketBarsSchema,
  marketClockSchema,
  marketSchema,
  orderReceivedSchema,
  orderStatusSchema,
  policyVersionSchema,
  postOrderSchema,
  receiptSchema,
  revertSchema,
  runResultReceivedSchema,
  sealedNoticeSchema,
  timelineEntrySchema,
  timelineSchema,
  triggerSchema,
  walletSchema,
} from '../../protocol/api.js'
import { signedAuthorizationSchema } from '../../protocol/authorization.js'
import { postCancelSchema } from '../../protocol/cancelIntent.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { symbolSchema } from '../../protocol/identifiers.js'
import { postedResultSchema, provisionalResultSchema, runIdSchema } from '../../protocol/job.js'
import { postedOpeningSchema } from '../../protocol/postedOpening.js'
import { postPolicySchema } from '../../protocol/sealedRulebook.js'
import { uint64Schema, uint256Schema } from '../../protocol/units.js'
import { problemBodySchema } from '../http/errors.js'
import { EXAMPLES } from './examples.js'

/** The files that the pages at /docs and /errors load. */
export const pageFileSchema = z.enum(['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js', 'errors.css'])
export type PageFile = z.output<typeof pageFileSchema>

/** The schemas that the document names: the very ones that parse the requests and encode the answers. */
const SCHEMAS = {
  Address: [
    addressSchema,
    'An address. Any case in, with a right EIP-55 checksum if it has one; checksummed out.',
  ],
  Bytes32: [bytes32Schema, '32 bytes as hex. Either case in, lower case out.'],
  Uint256: [uint256Schema, 'An unsigned integer as a decimal string; amounts are in base units.'],
  Uint64: [uint64Schema, 'An unsigned integer of 64 bits as a decimal string.'],
  Symbol: [symbolSchema, "An equity's ticker."],
  EnclaveKey: [enclaveKeySchema, 'What a client needs to seal an intent and to open its escrow.'],
  PostOrder: [
    postOrderSchema,
    'A sealed order and the orderId that its escrow has on the chain, or that `opening` opens it under.',
  ],
  Opening: [
    postedOpeningSchema,
    "The account's signature that opens the escrow, and what it fixes beside the envelope.",
  ],
  PostCancel: [
    postCancelSchema,
    "A sealed cancel; `sig` is the signature of the envelope's hash by the order's account.",
  ],
  PostPolicy: [
    postPolicySchema,
    'A sealed rulebook; `author` has the signature of the envelope by the admin of its institution.',
  ],
  SealedNotice: [sealedNoticeSchema, 'An envelope that only the employee can open.'],
  OrderReceived: [orderReceivedSchema, '`commit` is keccak256(ct) of the envelope that is stored.'],
  Trigger: [
    triggerSchema,
    'A run of the enclave. While it is under way, `finishedAt` and `outcome` are null.',
  ],
  OrderStatus: [orderStatusSchema, 'What is null is not on the chain yet, or not in the cache.'],
  TimelineEntry: [timelineEntrySchema, 'One thing that happened to an order; `kind` tells what.'],
  Timeline: [timelineSchema, 'What happened to an order, oldest first.'],
  PolicyVersion: [policyVersionSchema, "A rulebook's version; 0 before the first one."],
  Wallet: [
    walletSchema,
    'Which screen a wallet sees: `found` an institution, `wait` for clearance, or `trade`.',
  ],
  Institution: [institutionSchema, "An institution, and the whole platform's pool."],
  Compliance: [complianceSchema, "A wallet's flags, by equity."],
  Market: [marketSchema, 'Prices are USD with 6 decimals, in base units; null where the provider has none.'],
  MarketBars: [
    marketBarsSchema,
    'Closes are USD with 6 decimals, in base units; the oldest bar comes first.',
  ],
  MarketClock: [marketClockSchema, "The market's hours."],
  Contracts: [contractsSchema, 'Addresses of the five contracts.'],
  Health: [healthSchema, 'What the server is set up for.'],
  SignedAuthorization: [signedAuthorizationSchema, 'An EIP-712 authorization that the enclave signed.'],
  Receipt: [receiptSchema, "The relay's record of one authorization."],
  Revert: [revertSchema, "A contract's error: its name, and its arguments as text."],
  RunId: [runIdSchema, 'A UUID.'],
  RunNotice: [
    provisionalResultSchema,
    'What a run of the enclave says before its end; a notice is sealed to the employee.',
  ],
  RunResult: [
    postedResultSchema,
    'What a run of the enclave came to; it never says why an order was refused.',
  ],
  RunResultReceived: [runResultReceivedSchema, '`not-awaited`: the run is unknown, or is over.'],
  Problem: [problemBodySchema, 'RFC 9457. A program branches on `code`, whose meaning never changes.'],
  OpenApi: [z.looseObject({ openapi: z.string() }), 'An OpenAPI document.'],
  PageFile: [pageFileSchema, "A file of the documentation's pages."],
} as const satisfies Record<string, readonly [z.ZodType, string]>

/** Name of a schema in the document. */
export type SchemaName = keyof typeof SCHEMAS

/** A JSON Schema (2020-12), or another part of the document. */
export type JsonObject = Record<string, unknown>

/** How the document refers to a schema. */
export function schemaRef(name: SchemaName): JsonObject {
  return { $ref: `#/components/schemas/${name}` }
}

/**
 * Every schema as JSON Schema, in the form that travels: a codec's input. Where one is part of another, it is referred
 * to by its name. Each has its example.
 */
export function jsonSchemas(): Record<string, JsonObject> {
  const registry = z.registry<{ id: string; description: string }>()
  for (const [id, [schema, description]] of Object.entries(SCHEMAS)) registry.add(schema, { id, description })
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: (id) => `#/components/schemas/${id}`,
    override({ jsonSchema }) {
      // `date-time` says it; the pattern knows the leap years, in 300 characters.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
    },
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _place, ...schema }]) => [
      name,
      { ...schema, ...exampleOf(name) },
    ]),
  )
}

function exampleOf(name: string): JsonObject {
  return name in EXAMPLES ? { examples: [EXAMPLES[name]] } : {}
}
