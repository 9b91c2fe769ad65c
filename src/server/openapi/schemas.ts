import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import {
  complianceSchema,
  contractsSchema,
  enclaveKeySchema,
  healthChecksSchema,
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
  resolvedSchema,
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
import { ENVELOPE_SCHEME } from '../../protocol/envelope.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { symbolSchema } from '../../protocol/identifiers.js'
import { postedResultSchema, provisionalResultSchema, runIdSchema } from '../../protocol/job.js'
import { postedOpeningSchema } from '../../protocol/postedOpening.js'
import { postResolutionSchema } from '../../protocol/resolution.js'
import { postPolicySchema } from '../../protocol/sealedRulebook.js'
import { uint64Schema, uint256Schema } from '../../protocol/units.js'
import { problemBodySchema } from '../http/errors.js'
import {
  ACCOUNT,
  COMMIT,
  CONTRACTS,
  DIGEST,
  ESCROW,
  NOTICE,
  ORDER_ENVELOPE,
  ORDER_ID,
  ORG_ID,
  RECEIVED_AT,
  RUN_ID,
  SETTLED_AT,
  TRIGGERED_AT,
  TX_HASH,
  USDC,
} from './exampleValues.js'

/** The files that the pages at /docs and /errors load. */
export const pageFileSchema = z.enum(['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js', 'errors.css'])
export type PageFile = z.output<typeof pageFileSchema>

interface Described {
  readonly schema: z.ZodType
  readonly description: string
  /** As it travels; undefined for a schema that is only part of others. */
  readonly example: unknown
}

function described<T extends z.ZodType>(schema: T, description: string, example?: z.input<T>): Described {
  return { schema, description, example }
}

/**
 * The schemas that the document names: the very ones that parse the requests and encode the answers. Each body of a request or an
 * answer has an example.
 */
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
    publicKey: '0x036aa3da9b5c1d61956076cb3014ffdaa0996bacdae29ba4b89e39b4088f86ec78',
    chainId: 31337,
    escrow: ESCROW,
    scheme: ENVELOPE_SCHEME,
    usdc: USDC,
    takesOpenings: true,
  }),
  PostOrder: described(
    postOrderSchema,
    'A sealed order and the orderId that its escrow has on the chain, or that `opening` opens it under.',
    { orderId: ORDER_ID, ...ORDER_ENVELOPE },
  ),
  Opening: described(
    postedOpeningSchema,
    "The account's signature that opens the escrow, and what it fixes beside the envelope.",
  ),
  PostCancel: described(
    postCancelSchema,
    "A sealed cancel; `sig` is the signature of the envelope's hash by the order's account.",
    {
      epk: '0x031eafc5715a488cec873b85f397b6aeda16392e2ae1e24e7998737472d23ce451',
      iv: '0x000102030405060708090a0b',
      ct: '0x1c0c62246ca4fbde0c76213985bc562947d05c122a3b09f4a5468d2fc87cca943e505e3806be2c350cc5d29832e26f2035026dec35aa566128f045dbcb395fdcbe4d920b61c5607aec182baa1b29f7f258ee6ba8b1018597bd038cade284519c66d3710e57bce122cd27b8818c47c7902dc941ec562fa8be4265af29530fc86c0312646877e9670238f29cd0301c6b966416d7d1ebe2b88b2d2fe441f781b1742125ae0dfb24674254cc2d09b16ea5a749c37d52201ce04a81d8628c34326a062b954070e79b08a1e52e15cf7acd598d2176882e2054a3eddb1a457d4f881dbca9a7c96436e47998dd2064e882f3974a2f15e9d510657957e455559e447b8e661299f6bb458029b47e49f47e464a8605aed515a623b49b84d55bfb1c4d32eaa6fd640098859311a4b71afacb31f95526a42f4a2214aae0d8f8f6afaf458cc8223cc08b6382ff4c9094162061008278135308de8ca8b5f32ec3d78e78b5ebb9a63a186523c3848c629f81b47111b0c6ea15433eedae13598aefd1f640898711a5a3aa28b4133fb0c0a04c98f40e2f6d39740ba3e8b8edce09ada3a71143c0cb51dbe241286dfdbafc7de1e85ef4ee0baeb5200e09b150ec4ad07b46f03664b156d6856a61aaa64ccbffafa0e3600419699252b2d9f18e1a51e9b4e387e854449a875616c7bd9166a15a52132f15ec6a68d3e077c9ce4b78d7fbf6afb520041233',
      tag: '0x14a27ecc435f6046cdb01ca9c9e42b90',
      sig: '0xd47fd328d5cb7b1c600e3d73a8fe028b6592bfdcbffba7d2ebccbce05d4f66b52427a11075c0f4282cb68cd70c54a59e9ed1b07062259a964d2b376dcba3c98b1b',
    },
  ),
  PostResolution: described(
    postResolutionSchema,
    "A sealed resolution; `validBefore` is as inside the seal, and `sig` the signature of it and the envelope's hash by the platform's owner.",
    {
      epk: '0x031eafc5715a488cec873b85f397b6aeda16392e2ae1e24e7998737472d23ce451',
      iv: '0x000102030405060708090a0b',
      ct: '0x1c0c666325fabb8a06776766d59a406f18804e46387c1bfca4599f748a2d9fd047034c3a14b764640d97d0cb31b66b7530546aec33ab5f6320f315df983c0ddaeb4ac60336cd612aec4b28f8197cf2a65cb96fa9a41c9fc7e75182e9eec1109720d26c0a55bbb239d840b9a9cd0787eb7f8f18f85c4bdef74d64f851510acb1a06406b3876ba35566b849bc27f5b2b9d6603d990ecacbbd82e73b040a8d2e0217574f90dfc23331301cf2d08e66aaaa440972c572a13b34d96c6739e7432344176855d63ec8f0bf2b62a16c779cb0bdb626cc8687308e4b9c910012b4e871de5aaf29b3775ad6dd98c2d6feef8a0c9473b42a8db406e2b02e35952cb4772912151c6f5a01bc42afa7d4ea371154a8b50f7d213aa2ab0c8d49115be5f5823afe4bb7c43db968507e5a159bcde74bd4335e537093500b9a6c1e1b0eebc54cadb662cd3ce7094eb0ad58453327518c16150104a9dc9bef3b668d1cecc6cf3fca0e32f5921308597c8208ec7a43253f5d1f9575278fdbd564a9afa92e452989106e0e1b239ac567aa7d1b10e9aa90e2f6d39740ba3e8b8edce09ada3a71143c0cb51dbe241286dfdbafc7de1e85ef4ee0baeb5200e09b150ec4ad07b46f03664b156d6856a61aaa64ccbffafa0e3600419699252b2d9f18e1a51e9b4e387e854449a875616c7bd9166a15a52132f15ec6a68d3e077c9ce4b78d7fbf6afb520041233',
      tag: '0x0ce6cf366cb0483450da009e2d6d2255',
      validBefore: 1_800_090_000,
      sig: '0x005d0c6a57a17043b42c04c0d747483c4082b0f7eb2055f55c69791d670f5d484ccc18f38c1ee03146468fd1b7cf92570f2622d4f2a77048a196941085b036b71c',
    },
  ),
  Resolved: described(resolvedSchema, 'The resolution has taken effect.', { result: 'done' }),
  PostPolicy: described(
    postPolicySchema,
    'A sealed rulebook; `author` has the signature of the envelope by the admin of its institution.',
    {
      ...{
        epk: '0x031eafc5715a488cec873b85f397b6aeda16392e2ae1e24e7998737472d23ce451',
        iv: '0x000102030405060708090a0b',
        ct: '0x1c0c62246ca4fbde0c76221593d708294d8a585f2d320ff7a3118a2bce2acc973c575a3300b62b640a9ed5cf34b7692635546cec34ab576329f344dfca3c5edabf4a930360cc612bed4a2af91a7df6a759b87bb4b14cc39bb70ec1e2aec00b9320d66a020acce65dc150e5f48a40cf952eba36eb5e5988ce4b61f82c060fc01e50403e6e70cb36102494de9d70577b86210e96d1bef7f9d02733e313e293e86a6176b55af975341959cc7857e16aa4f24b972f532243b6498cda378e30676b517bc51d77e1cb5af2b67e14d573801988212ea86b6b46aba8995f463455dd45b3c9a7c76b75bb29ce813263a698b7ca5b3d55e38205337f10e93b40af240efc210e8dd3c371aa38df3504bc651a48cb7ee4d012ec5cecde8e9848ba504f28e8b3ed741088958301b4a718f6c970b51969f35803765ceeb299af85e7ee17c99b202694d936c7a24092c253723249cd36114919d28efbfcb42cd9d59e20a5aeabb52d0c7c32d6c095268b96a26652a0d5a8545128fabd054e99acc2e404c89050e1e1ba31a25029a4d8e35c8fed1e382f2d364eb5fdfaaf8a1cbfe0b70854d6dc129af7596d7aecf9ee3ef8f01fecfd19e8f764171fa815ff52913d54e17374a24ecf922b20efb5098ee9ecb7a5241d092cd140a29de8ca0349fbf6fb9ff91646c7875616c7bd9166a15a52132f15ec6a68d3e077c9ce4b78d7fbf6afb520041233',
        tag: '0x7edcc258bdc17321b6694d63a72c5549',
      },
      author: {
        orgId: '0x4578616d706c65204361706974616c0000000000000000000000000000000000',
        sig: '0x15b967b28a0d65b4de89dfc762448393c8857ee90bd58cafd4688da66926e9ca5f7e56fcad59eef4e4e2154e11dd4d36df68086196bd3e31292dc905a49a5e8b1b',
      },
    },
  ),
  SealedNotice: described(sealedNoticeSchema, 'An envelope that only the employee can open.'),
  OrderReceived: described(orderReceivedSchema, '`commit` is keccak256(ct) of the envelope that is stored.', {
    orderId: ORDER_ID,
    result: 'received',
    commit: COMMIT,
    receivedAt: RECEIVED_AT,
  }),
  Trigger: described(
    triggerSchema,
    'A run of the enclave. While it is under way, `finishedAt` and `outcome` are null.',
  ),
  OrderStatus: described(orderStatusSchema, 'What is null is not on the chain yet, or not in the cache.', {
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
  }),
  TimelineEntry: described(timelineEntrySchema, 'One thing that happened to an order; `kind` tells what.'),
  Timeline: described(timelineSchema, 'What happened to an order, oldest first.', {
    orderId: ORDER_ID,
    entries: [
      {
        kind: 'opened',
        at: '2026-11-23T15:04:04.000Z',
        txHash: TX_HASH,
        blockNumber: 118,
        event: 'OrderOpened',
      },
      { kind: 'received', at: RECEIVED_AT, commit: COMMIT },
      { kind: 'triggered', at: TRIGGERED_AT, attempt: 1, reason: 'received' },
      { kind: 'relayed', at: '2026-11-23T15:04:09.310Z', digest: DIGEST, status: 'confirmed' },
      { kind: 'settled', at: SETTLED_AT, txHash: TX_HASH, blockNumber: 125, event: 'OrderSettled' },
      { kind: 'outcome', at: SETTLED_AT, attempt: 1, outcome: 'settled' },
    ],
  }),
  PolicyVersion: described(policyVersionSchema, "A rulebook's version; 0 before the first one.", {
    orgId: ORG_ID,
    version: 1,
  }),
  Wallet: described(
    walletSchema,
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
  Institution: described(institutionSchema, "An institution, and the whole platform's pool.", {
    orgId: ORG_ID,
    name: 'Example Capital',
    admin: ACCOUNT,
    walletCount: 12,
    rulesVersion: 1,
    openOrders: 2,
    pool: { usdc: '250000000000', openOrders: 7, equities: [{ symbol: 'AAPL', shares: '4721700000' }] },
  }),
  Compliance: described(complianceSchema, "A wallet's flags, by equity.", {
    address: ACCOUNT,
    equities: [{ symbol: 'AAPL', kyc: true, listed: true, frozen: false }],
  }),
  Market: described(
    marketSchema,
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
    marketBarsSchema,
    'Closes are USD with 6 decimals, in base units; the oldest bar comes first.',
    {
      asOf: RECEIVED_AT,
      stale: false,
      barSeconds: 900,
      symbols: [{ symbol: 'AAPL', bars: [{ at: '2026-11-23T14:30:00.000Z', close: '211790000' }] }],
    },
  ),
  MarketClock: described(marketClockSchema, "The market's hours.", {
    isOpen: true,
    nextOpen: '2026-11-24T14:30:00.000Z',
    nextClose: '2026-11-23T21:00:00.000Z',
  }),
  Contracts: described(contractsSchema, 'Addresses of the five contracts.'),
  Health: described(healthSchema, 'What the server is set up for.', {
    status: 'ok',
    version: '0.1.0',
    chainId: 31337,
    contracts: CONTRACTS,
    symbols: ['AAPL', 'TSLA'],
    relayer: '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
    relayers: ['0x976EA74026E726554dB657fA54763abd0C3a0aa9'],
  }),
  HealthChecks: described(
    healthChecksSchema,
    'The checks of its readiness, and what the relayer has left. Amounts of gas are units, balances wei.',
    {
      asOf: RECEIVED_AT,
      status: 'degraded',
      checks: [
        { name: 'server', status: 'healthy', reason: null },
        { name: 'relayer', status: 'degraded', reason: 'balance-low' },
      ],
      relayers: [{ address: '0x976EA74026E726554dB657fA54763abd0C3a0aa9', balance: '81250000000000000' }],
      minBalance: '50000000000000000',
      gas: { limit: '100000000', left: '62450000', reserve: '20000000', reserveLeft: '20000000' },
    },
  ),
  SignedAuthorization: described(
    signedAuthorizationSchema,
    'An EIP-712 authorization that the enclave signed.',
    {
      primaryType: 'OrderSettlement',
      message: {
        orderId: '0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20',
        account: '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2',
        asset: '0x5553444300000000000000000000000000000000000000000000000000000000',
        amount: '1000000000',
        commit: '0xa51616d43f3b3c223e66d3d34bcaffcae223938be94548ab7a1d9abc8240b8e2',
        payoutAsset: '0x5553444300000000000000000000000000000000000000000000000000000000',
        payout: '2500000',
        version: '3',
        previous: '0xed5bb5e7973b0878180ba6b0988b7de4f0067ea10f7e7c999691c016dd321c6c',
        enclaveBlob: '0x01ee',
        userBlob: '0x01ff',
      },
      signature:
        '0x09a59ee9ca700489d0904ae2459ab9d758c7aea5d94211799e8917a8a21a8eca3df099b50cbdd8a0ffb7343d1418df6f01439d9fc151e9b7415bdfcbbe539c441c',
    },
  ),
  Receipt: described(receiptSchema, "The relay's record of one authorization.", {
    digest: DIGEST,
    primaryType: 'OrderSettlement',
    target: ESCROW,
    status: 'confirmed',
    txHash: TX_HASH,
    blockNumber: 125,
    gasUsed: '310442',
    createdAt: '2026-11-23T15:04:09.310Z',
    updatedAt: SETTLED_AT,
    error: null,
  }),
  Revert: described(revertSchema, "A contract's error: its name, and its arguments as text."),
  RunId: described(runIdSchema, 'A UUID.', RUN_ID),
  RunNotice: described(
    provisionalResultSchema,
    'What a run of the enclave says before its end; a notice is sealed to the employee.',
    { notice: NOTICE },
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
  OpenApi: described(z.looseObject({ openapi: z.string() }), 'An OpenAPI document.'),
  PageFile: described(pageFileSchema, "A file of the documentation's pages."),
}

/** The examples by the names of their schemas. */
export const EXAMPLES: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(SCHEMAS).flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])),
)

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
  for (const [id, { schema, description }] of Object.entries(SCHEMAS))
    registry.add(schema, { id, description })
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
