import * as z from 'zod'
import { addressSchema } from '../../src/protocol/address.js'
import * as api from '../../src/protocol/api.js'
import { attestationSchema } from '../../src/protocol/attestation.js'
import { signedAuthorizationSchema } from '../../src/protocol/authorization.js'
import { postCancelSchema } from '../../src/protocol/cancelIntent.js'
import { enclaveKeySchema } from '../../src/protocol/enclaveKey.js'
import { ENVELOPE_SCHEME } from '../../src/protocol/envelopeForm.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { symbolSchema } from '../../src/protocol/identifiers.js'
import {
  postedResultSchema,
  provisionalResultSchema,
  runIdSchema,
  runResultReceivedSchema,
} from '../../src/protocol/job.js'
import {
  attestationReceivedSchema,
  challengeSchema,
  postAttestationSchema,
} from '../../src/protocol/postedAttestation.js'
import { postedOpeningSchema } from '../../src/protocol/postedOpening.js'
import { postOrderSchema } from '../../src/protocol/postedOrder.js'
import { receiptSchema } from '../../src/protocol/relayReceipt.js'
import { postResolutionSchema, resolvedSchema } from '../../src/protocol/resolution.js'
import { postPolicySchema } from '../../src/protocol/sealedRulebook.js'
import { uint64Schema, uint256Schema } from '../../src/protocol/units.js'
import { problemBodySchema } from '../../src/server/http/errors.js'
import { pageFileSchema } from '../../src/server/openapi/router.js'
import attestation from '../../test/vectors/attestation.json' with { type: 'json' }
import authorizations from '../../test/vectors/authorizations.json' with { type: 'json' }
import cancel from '../../test/vectors/cancel.json' with { type: 'json' }
import envelopes from '../../test/vectors/envelopes.json' with { type: 'json' }
import intents from '../../test/vectors/intents.json' with { type: 'json' }
import resolution from '../../test/vectors/resolution.json' with { type: 'json' }

// The schemas that the document names: the very ones that parse the requests and encode the answers. Each body of a request or an
// answer has an example. The examples are one story: an order, a rulebook and a receipt. What is sealed or signed in them is a frozen
// vector, so a server whose keys are those of the vectors takes it.

const ACCOUNT = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'
const ORDER_ID = '0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20'
const ORG_ID = '0x4578616d706c65204361706974616c0000000000000000000000000000000000'
const RUN_ID = '5dc2a284-70d3-4eee-95c6-57ac51d6c5e0'
const ESCROW = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const RELAYER = '0x976EA74026E726554dB657fA54763abd0C3a0aa9'
const COMMIT = '0xa51616d43f3b3c223e66d3d34bcaffcae223938be94548ab7a1d9abc8240b8e2'
const DIGEST = '0x95c9f817928c8a177ec6bd3dbd1e53d0306cf0edc37a4d50dfb69363d974966d'
const TX_HASH = '0x3a1f6f1b3a2f0d9c4d1c61be0bd2f9f6c0a6f2f5a07f0e8a95d2f4fd0b1a7c55'
const RECEIVED_AT = '2026-11-23T15:04:05.120Z'
const TRIGGERED_AT = '2026-11-23T15:04:05.480Z'
const RELAYED_AT = '2026-11-23T15:04:09.310Z'
const SETTLED_AT = '2026-11-23T15:04:11.000Z'

const OPENED_AT = '2026-11-23T15:04:04.000Z'
const [order, policy] = envelopes.cases
const settlement = authorizations.authorizations
  .filter(({ primaryType }) => primaryType === 'OrderSettlement')
  .map(({ primaryType, message, signature }) => ({ primaryType, message, signature }))
  .at(0)
const [, notice] = envelopes.toEmployee.cases

export const openApiSchema = z.looseObject({ openapi: z.string() })

interface Described {
  readonly schema: z.core.$ZodType
  readonly description: string
  /** As it travels; undefined for a schema that is only part of others. */
  readonly example: unknown
}

function described<T extends z.core.$ZodType>(
  schema: T,
  description: string,
  example?: z.input<T>,
): Described {
  return { schema, description, example }
}

/** With an example made of a frozen vector. @throws ZodError when the schema refuses it */
function sealed(schema: z.core.$ZodType, description: string, example: unknown): Described {
  z.parse(schema, example)
  return { schema, description, example }
}

export const SCHEMAS = {
  Address: described(
    addressSchema,
    'An address. Any case in, with a right EIP-55 checksum if it has one; checksummed out.',
    ACCOUNT,
  ),
  Bytes32: described(bytes32Schema, '32 bytes as hex. Either case in, lower case out.', ORDER_ID),
  Uint256: described(uint256Schema, 'An unsigned integer as a decimal string; amounts are in base units.'),
  Uint64: described(uint64Schema, 'An unsigned integer of 64 bits as a decimal string.'),
  Symbol: described(symbolSchema, "An equity's ticker."),
  EnclaveKey: described(enclaveKeySchema, 'What a client needs to seal an intent and to open its escrow.', {
    publicKey: envelopes.recipient,
    chainId: 31337,
    escrow: ESCROW,
    scheme: ENVELOPE_SCHEME,
    usdc: '0xB7f8BC63BbcaD18155201308C8f3540b07f84F5e',
    takesOpenings: true,
    mode: 'attested',
    attestation: attestation.base.attestation,
    next: { signer: RELAYER, effectiveAt: '2026-12-01T12:00:00.000Z' },
  }),
  PostOrder: sealed(
    postOrderSchema,
    'A sealed order and the orderId that its escrow has on the chain, or that `opening` opens it under.',
    { orderId: ORDER_ID, ...order?.envelope },
  ),
  Opening: described(
    postedOpeningSchema,
    "The account's signature that opens the escrow, and what it fixes beside the envelope.",
  ),
  PostCancel: sealed(
    postCancelSchema,
    "A sealed cancel; `sig` is the signature of the envelope's hash by the order's account.",
    { ...cancel.envelope, sig: cancel.sig },
  ),
  PostResolution: sealed(
    postResolutionSchema,
    "A sealed resolution; `validBefore` is as inside the seal, and `sig` the signature of it and the envelope's hash by the platform's owner.",
    { ...resolution.envelope, validBefore: resolution.plaintext.validBefore, sig: resolution.sig },
  ),
  Resolved: described(resolvedSchema, 'The resolution has taken effect.', { result: 'done' }),
  PostPolicy: sealed(
    postPolicySchema,
    'A sealed rulebook; `author` has the signature of the envelope by the admin of its institution.',
    { ...policy?.envelope, author: intents.sealedRulebook.author },
  ),
  SealedNotice: described(api.sealedNoticeSchema, 'An envelope that only the employee can open.'),
  OrderReceived: described(
    api.orderReceivedSchema,
    '`commit` is keccak256(ct) of the envelope that is stored.',
    { orderId: ORDER_ID, result: 'received', commit: COMMIT, receivedAt: RECEIVED_AT },
  ),
  Trigger: described(
    api.triggerSchema,
    'A run of the enclave. While it is under way, `finishedAt` and `outcome` are null.',
  ),
  OrderStatus: described(
    api.orderStatusSchema,
    'What is null is not on the chain yet, or not in the cache.',
    {
      orderId: ORDER_ID,
      state: 'SETTLED',
      account: ACCOUNT,
      amount: '1000000000',
      deadline: '2026-11-23T16:04:00.000Z',
      commit: COMMIT,
      receivedAt: RECEIVED_AT,
      triggers: [
        {
          attempt: 1,
          reason: 'received',
          startedAt: TRIGGERED_AT,
          finishedAt: SETTLED_AT,
          outcome: 'settled',
        },
      ],
      nextTriggerAt: null,
      notice: null,
    },
  ),
  TimelineEntry: described(
    api.timelineEntrySchema,
    'One thing that happened to an order; `kind` tells what.',
  ),
  Timeline: described(api.timelineSchema, 'What happened to an order, oldest first.', {
    orderId: ORDER_ID,
    entries: [
      { kind: 'opened', at: OPENED_AT, txHash: TX_HASH, blockNumber: 118, event: 'OrderOpened' },
      { kind: 'received', at: RECEIVED_AT, commit: COMMIT },
      { kind: 'triggered', at: TRIGGERED_AT, attempt: 1, reason: 'received' },
      { kind: 'relayed', at: RELAYED_AT, digest: DIGEST, status: 'confirmed' },
      { kind: 'settled', at: SETTLED_AT, txHash: TX_HASH, blockNumber: 125, event: 'OrderSettled' },
      { kind: 'outcome', at: SETTLED_AT, attempt: 1, outcome: 'settled' },
    ],
  }),
  PolicyVersion: described(api.policyVersionSchema, "A rulebook's version; 0 before the first one.", {
    orgId: ORG_ID,
    version: 1,
  }),
  Wallet: described(
    api.walletSchema,
    'Which screen a wallet sees: `found` an institution, `wait` for clearance, or `trade`.',
    {
      address: ACCOUNT,
      screen: 'trade',
      orgId: ORG_ID,
      role: 'employee',
      waitingFor: [],
      leavingAt: null,
      invitation: null,
    },
  ),
  Institution: described(api.institutionSchema, "An institution, and the whole platform's pool.", {
    orgId: ORG_ID,
    name: 'Example Capital',
    admin: ACCOUNT,
    walletCount: 12,
    rulesVersion: 1,
    openOrders: 2,
    pool: { usdc: '250000000000', openOrders: 7, equities: [{ symbol: 'AAPL', shares: '4721700000' }] },
  }),
  Compliance: described(api.complianceSchema, "A wallet's flags, by equity.", {
    address: ACCOUNT,
    equities: [{ symbol: 'AAPL', kyc: true, listed: true, frozen: false }],
  }),
  Market: described(
    api.marketSchema,
    'Prices are USD with 6 decimals, in base units; null where the provider has none.',
    {
      asOf: RECEIVED_AT,
      stale: false,
      symbols: [
        {
          symbol: 'AAPL',
          name: 'Apple Inc.',
          price: '211790000',
          previousClose: '209330000',
          bid: '211780000',
          ask: '211800000',
          asOf: RECEIVED_AT,
        },
        {
          symbol: 'TSLA',
          name: 'Tesla, Inc.',
          price: null,
          previousClose: null,
          bid: null,
          ask: null,
          asOf: null,
        },
      ],
      fees: [{ name: 'TAF', per: 'share', rate: '166000000', max: '8300000', on: 'sale' }],
    },
  ),
  MarketBars: described(
    api.marketBarsSchema,
    'Closes are USD with 6 decimals, in base units; the oldest bar comes first.',
    {
      asOf: RECEIVED_AT,
      stale: false,
      barSeconds: 900,
      symbols: [{ symbol: 'AAPL', bars: [{ at: '2026-11-23T14:30:00.000Z', close: '211790000' }] }],
    },
  ),
  MarketClock: described(api.marketClockSchema, "The market's hours.", {
    isOpen: true,
    nextOpen: '2026-11-24T14:30:00.000Z',
    nextClose: '2026-11-23T21:00:00.000Z',
  }),
  Contracts: described(api.contractsSchema, 'Addresses of the five contracts.'),
  Health: described(api.healthSchema, 'What the server is set up for.', {
    status: 'ok',
    version: '0.1.0',
    chainId: 31337,
    contracts: {
      institutionRegistry: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
      orderEscrow: ESCROW,
      confidentialLedger: '0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9',
      equityToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      platformPool: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
    },
    symbols: ['AAPL', 'TSLA'],
    relayer: RELAYER,
    mode: 'attested',
  }),
  HealthChecks: described(
    api.healthChecksSchema,
    'The checks of its readiness, the balance of the relayer and its gas. Amounts of gas are units, balances wei.',
    {
      asOf: RECEIVED_AT,
      status: 'degraded',
      checks: [
        { name: 'server', status: 'healthy', reason: null },
        { name: 'relayer', status: 'degraded', reason: 'balance-low' },
      ],
      relayer: { address: RELAYER, balance: '81250000000000000' },
      minBalance: '50000000000000000',
      gas: { limit: '100000000', remaining: '62450000', reserve: '20000000', reserveRemaining: '20000000' },
    },
  ),
  SignedAuthorization: sealed(
    signedAuthorizationSchema,
    'An EIP-712 authorization that the enclave signed.',
    settlement,
  ),
  Attestation: described(
    attestationSchema,
    "An enclave's evidence of where its keys were born, and the statement that it is about.",
    attestation.base.attestation,
  ),
  Challenge: described(challengeSchema, 'Random bytes that the evidence has to have.', {
    nonce: `0x${'5c'.repeat(32)}`,
  }),
  PostAttestation: described(
    postAttestationSchema,
    'Evidence of an enclave, and the statement that it is about.',
    attestation.base.attestation,
  ),
  AttestationReceived: described(attestationReceivedSchema, 'The server shows it.', {
    shownUntil: '2026-11-29T14:00:00.000Z',
  }),
  Receipt: described(receiptSchema, "The relay's record of one authorization.", {
    digest: DIGEST,
    primaryType: 'OrderSettlement',
    target: ESCROW,
    status: 'confirmed',
    txHash: TX_HASH,
    blockNumber: 125,
    gasUsed: '310442',
    createdAt: RELAYED_AT,
    updatedAt: SETTLED_AT,
    error: null,
  }),
  Revert: described(api.revertSchema, "A contract's error: its name, and its arguments as text."),
  RunId: described(runIdSchema, 'A UUID.', RUN_ID),
  RunNotice: sealed(
    provisionalResultSchema,
    'What a run of the enclave says before its end; a notice is sealed to the employee.',
    { notice: notice?.envelope },
  ),
  RunResult: described(
    postedResultSchema,
    'What a run of the enclave came to; it never says why an order was refused.',
    { outcome: 'settled' },
  ),
  RunResultReceived: described(runResultReceivedSchema, '`not-awaited`: the run is unknown, or is over.', {
    runId: RUN_ID,
    result: 'received',
  }),
  Problem: described(
    problemBodySchema,
    'RFC 9457. A program branches on `code`, whose meaning never changes.',
  ),
  OpenApi: described(openApiSchema, 'An OpenAPI document.'),
  PageFile: described(pageFileSchema, "A file of the documentation's pages."),
}

/** The examples by the names of their schemas. */
export const EXAMPLES: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(SCHEMAS).flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])),
)

const registry = z.registry<{ id: string; description: string }>()
for (const [id, { schema, description }] of Object.entries(SCHEMAS)) registry.add(schema, { id, description })

/** The name of a schema in the document. */
export function nameOf(schema: z.core.$ZodType): string {
  const name = registry.get(schema)?.id
  if (name === undefined) throw new Error('a schema of the table of operations has no name in schemas.ts')
  return name
}

/** Every schema as JSON Schema, in the form that travels: a codec's input. Each part that has a name is a reference. */
export function jsonSchemas(): Record<string, object> {
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    metadata: registry,
    uri: (id) => `#/components/schemas/${id}`,
    override({ jsonSchema }) {
      // `date-time` says it; the pattern knows the leap years, in 300 characters.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
    },
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _place, ...schema }]) => [
      name,
      { ...schema, ...(name in EXAMPLES && { examples: [EXAMPLES[name]] }) },
    ]),
  )
}
