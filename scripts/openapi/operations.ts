import type { z } from 'zod'
import {
  type ApiPath,
  complianceSchema,
  healthChecksSchema,
  healthSchema,
  institutionSchema,
  marketBarsSchema,
  marketClockSchema,
  marketSchema,
  orderReceivedSchema,
  orderStatusSchema,
  policyVersionSchema,
  timelineSchema,
  walletSchema,
} from '../../src/protocol/api.js'
import { attestationSchema } from '../../src/protocol/attestation.js'
import { signedAuthorizationSchema } from '../../src/protocol/authorization.js'
import { postCancelSchema } from '../../src/protocol/cancelIntent.js'
import { enclaveKeySchema } from '../../src/protocol/enclaveKey.js'
import {
  postedResultSchema,
  provisionalResultSchema,
  runResultReceivedSchema,
} from '../../src/protocol/job.js'
import {
  attestationReceivedSchema,
  challengeSchema,
  postAttestationSchema,
} from '../../src/protocol/postedAttestation.js'
import { postOrderSchema } from '../../src/protocol/postedOrder.js'
import { receiptSchema } from '../../src/protocol/relayReceipt.js'
import { postResolutionSchema, resolvedSchema } from '../../src/protocol/resolution.js'
import { postPolicySchema } from '../../src/protocol/sealedRulebook.js'
import type { ProblemCode } from '../../src/server/http/problemCodes.js'
import { openApiSchema } from './schemas.js'

/** One route and method: a row of the table that the document is made from. */
export interface Operation extends Row {
  readonly method: 'get' | 'post'
  readonly path: ApiPath
  /** Unique and stable: generated clients name their functions after it. */
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
}

interface Row {
  readonly description?: string
  /** The request's body. */
  readonly body?: z.core.$ZodType
  readonly answers: readonly Answer[]
  /** Codes besides those that follow from the rest of the row: see `problemsOf` of document.ts. */
  readonly problems?: readonly ProblemCode[]
}

/** An answer that is no error. A GET is answered 304 too. */
interface Answer {
  readonly status: 200 | 202 | 302
  readonly description: string
  /** The JSON body, or the types of an answer that is a file. Left out for an answer without a body. */
  readonly content?: z.core.$ZodType | readonly string[]
  /** Sent besides those of every answer. */
  readonly headers?: readonly ('Location' | 'Link')[]
}

export const TAGS = {
  Intake: 'Sealed orders and rulebooks, and their state. For clients.',
  Status: 'Public facts of a wallet, an institution and the market.',
  Relay: "For the enclave: relays what it signed to the chain. Takes the relay's token.",
  Runs: 'For the enclave: the notices and results of its runs. Signed with the shared secret.',
  Documentation: 'This description, as JSON and as a page, and the error codes.',
} as const
type Tag = keyof typeof TAGS

const operation =
  (method: Operation['method']) =>
  (path: ApiPath, operationId: string, tag: Tag, summary: string, row: Row): Operation => ({
    ...{ method, path, operationId, tag, summary },
    ...row,
  })
const get = operation('get')
const post = operation('post')

const ok = (description: string, content: z.core.$ZodType | readonly string[]): Answer => ({
  ...{ status: 200, description, content },
})
const accepted = (description: string, content: z.core.$ZodType): Answer => ({
  ...{ status: 202, description, content, headers: ['Location'] },
})

const UNREADABLE = ['chain-unavailable', 'storage-unavailable'] as const
/** A run that the caller waits for. */
const OF_A_RUN = [
  'relay-quota-exhausted',
  'relay-budget-exhausted',
  'platform-paused',
  'enclave-failed',
  'enclave-busy',
  'enclave-timeout',
  ...UNREADABLE,
] as const

/** Every route of the API. The document is made from it, and a test holds the routers against it. */
export const OPERATIONS: readonly Operation[] = [
  get('/enclave-key', 'getEnclaveKey', 'Intake', 'The key that clients seal to', {
    description: 'Pin the key and the escrow: an envelope that is sealed to another key has another reader.',
    answers: [
      ok("Key, chain, escrow and USDC, and the enclave's evidence if it gives any.", enclaveKeySchema),
    ],
    problems: ['keys-awaited', ...UNREADABLE],
  }),
  post('/enclave-key/challenge', 'challengeEnclave', 'Intake', 'Fresh evidence, with a nonce', {
    description:
      "The enclave answers, one challenge at a time. Each counts as 120 reads of the chain against its client's rate. Draw 32 random bytes, and hold the evidence against them.",
    body: challengeSchema,
    answers: [ok('Evidence with the nonce.', attestationSchema)],
    problems: ['unattested-enclave', 'enclave-unavailable'],
  }),
  post('/orders', 'postOrder', 'Intake', 'Takes a sealed order, and opens its escrow if signed', {
    description:
      "Answers once the envelope is durable; the enclave runs later. Idempotent per orderId: posted again, it is `already-received` and starts nothing. With `opening`, the relay opens the escrow: the opening is checked first, and is durable too when this answers. Its gas counts on the account's quota, and the opening itself on a quota of openings that is for members of admitted institutions.",
    body: postOrderSchema,
    answers: [accepted('The envelope is stored.', orderReceivedSchema)],
    problems: [
      'invalid-envelope',
      'invalid-opening',
      'opening-not-sponsored',
      'opening-under-way',
      'would-revert',
      'too-many-waiting',
      'intake-full',
      'relay-quota-exhausted',
      'relay-budget-exhausted',
      'relay-overloaded',
      'relayer-underfunded',
      ...UNREADABLE,
    ],
  }),
  get('/orders/:orderId', 'getOrder', 'Intake', 'State on the chain, and the runs so far', {
    answers: [ok('The order as it is now.', orderStatusSchema)],
    problems: ['order-not-found', ...UNREADABLE],
  }),
  get('/orders/:orderId/timeline', 'getOrderTimeline', 'Intake', 'The history of an order, as one list', {
    answers: [ok('Its entries so far.', timelineSchema)],
    problems: ['order-not-found', ...UNREADABLE],
  }),
  post('/orders/:orderId/cancel', 'postCancel', 'Intake', 'Takes a sealed cancel of an open order', {
    description:
      "Answers once the cancel is durable; the order's next run has it. `sig` is the signature of the envelope's hash by the escrow's account. Idempotent, also after the order has ended.",
    body: postCancelSchema,
    answers: [accepted('The cancel is stored.', orderReceivedSchema)],
    problems: ['invalid-envelope', 'order-not-found', 'not-order-account', 'order-ended', ...UNREADABLE],
  }),
  post('/policy', 'postPolicy', 'Intake', 'Publishes a sealed rulebook', {
    description:
      "Answers after the enclave's whole run, once the new version is on the chain. With `author` it waits in its institution's line, without it among those of its client.",
    body: postPolicySchema,
    answers: [ok('It is published.', policyVersionSchema)],
    problems: ['invalid-envelope', 'policy-rejected', ...OF_A_RUN],
  }),
  post(
    '/resolutions',
    'postResolution',
    'Intake',
    "Carries a sealed decision of the platform's owner to the enclave",
    {
      description:
        "Ends an order that no run can end, or lowers an account's nonce that has leapt. Answers after the enclave's whole run. `sig` is the owner's signature of the envelope's hash and `validBefore`. Each resolution has its effect once.",
      body: postResolutionSchema,
      answers: [ok('It has taken effect.', resolvedSchema)],
      problems: ['invalid-envelope', 'resolution-rejected', ...OF_A_RUN],
    },
  ),
  get('/policy/:orgId', 'getPolicyVersion', 'Intake', "The rulebook's version", {
    answers: [ok('The current version.', policyVersionSchema)],
    problems: ['institution-not-found', 'chain-unavailable'],
  }),
  get('/wallet/:address', 'getWallet', 'Status', 'Which screen the wallet sees', {
    answers: [ok('The screen, and why.', walletSchema)],
    problems: ['chain-unavailable'],
  }),
  get('/org/:orgId', 'getInstitution', 'Status', "An institution, and the whole platform's pool", {
    description: 'Never the balance of one institution.',
    answers: [ok('Public facts and totals.', institutionSchema)],
    problems: ['institution-not-found', 'chain-unavailable'],
  }),
  get('/compliance/:address', 'getCompliance', 'Status', 'KYC, listing and freezes by equity', {
    answers: [ok('One entry for each equity.', complianceSchema)],
    problems: ['chain-unavailable'],
  }),
  get('/market', 'getMarket', 'Status', 'Tradable symbols with prices', {
    description: 'While the provider fails, the last answer is given with `stale: true`.',
    answers: [ok('Symbols and prices.', marketSchema)],
    problems: ['market-unavailable', 'chain-unavailable'],
  }),
  get('/market/bars', 'getMarketBars', 'Status', 'Prices of the last five days, for charts', {
    description:
      'One answer for all listed symbols, so that the server does not learn which one is looked at. While the provider fails, the last answer is given with `stale: true`.',
    answers: [ok('Bars by symbol.', marketBarsSchema)],
    problems: ['market-unavailable', 'chain-unavailable'],
  }),
  get('/market/clock', 'getMarketClock', 'Status', 'Whether the market is open', {
    answers: [ok("The market's hours.", marketClockSchema)],
    problems: ['market-unavailable'],
  }),
  get('/health', 'getHealth', 'Status', "The server's chain and contracts", {
    description: 'Answered from memory: it asks neither chain nor broker.',
    answers: [ok('The server answers.', healthSchema)],
  }),
  get(
    '/health/checks',
    'getHealthChecks',
    'Status',
    "Readiness by check, the relayer's balance and the gas of the day",
    {
      description: 'All callers share one check for 15 seconds. Use `GET /health` for probes.',
      answers: [ok('The latest check.', healthChecksSchema)],
    },
  ),
  post('/attestation', 'postAttestation', 'Relay', "Takes the enclave's evidence", {
    description:
      'Shown by `GET /enclave-key` for two hours, or until it is posted again. The server does not judge it: clients do.',
    body: postAttestationSchema,
    answers: [ok('Until when it is shown.', attestationReceivedSchema)],
    problems: ['storage-unavailable'],
  }),
  post('/relay', 'postAuthorization', 'Relay', 'Carries an authorization to the chain', {
    description:
      'The signature is checked before any gas is spent. Idempotent per digest: posted again, it joins what is under way, or answers the earlier receipt when the chain confirms it.',
    body: signedAuthorizationSchema,
    answers: [
      { ...ok('It is `confirmed` or `failed`.', receiptSchema), headers: ['Location'] },
      accepted('It is under way.', receiptSchema),
    ],
    problems: [
      'invalid-signature',
      'would-revert',
      'relayer-underfunded',
      'relay-quota-exhausted',
      'relay-budget-exhausted',
      'relay-overloaded',
      ...UNREADABLE,
    ],
  }),
  get('/relay/:digest', 'getReceipt', 'Relay', 'The receipt of an authorization', {
    answers: [ok('Its status so far.', receiptSchema)],
    problems: ['receipt-not-found', ...UNREADABLE],
  }),
  post('/runs/:runId/notice', 'postRunNotice', 'Runs', 'A notice that a run posts before its end', {
    description:
      'Durable before it is answered: only after that does the enclave relay the refund that the notice explains. It ends no run.',
    body: provisionalResultSchema,
    answers: [ok('Whether the server waits for the run.', runResultReceivedSchema)],
    problems: ['storage-unavailable'],
  }),
  post('/runs/:runId/result', 'postRunResult', 'Runs', 'The result of a run', {
    description: 'Idempotent per run: the first result counts.',
    body: postedResultSchema,
    answers: [ok('Whether the server waits for it.', runResultReceivedSchema)],
    problems: ['storage-unavailable'],
  }),
  get('/', 'getStart', 'Documentation', 'Leads to the documentation', {
    answers: [{ status: 302, description: 'To `/docs`.', headers: ['Location', 'Link'] }],
  }),
  get('/openapi.json', 'getOpenApi', 'Documentation', 'The API as an OpenAPI document', {
    answers: [ok('OpenAPI 3.1.', openApiSchema)],
  }),
  get('/docs', 'getDocsPage', 'Documentation', 'The API as a page with examples', {
    answers: [ok('The page.', ['text/html'])],
  }),
  get('/docs/:file', 'getDocsPageFile', 'Documentation', 'A file that the pages load', {
    answers: [ok('The file.', ['text/css', 'text/javascript'])],
    problems: ['not-found'],
  }),
  get('/errors', 'getErrorsPage', 'Documentation', 'Every error code with its remedy, as a page', {
    description: 'The `type` of a problem is a section of it.',
    answers: [ok('The page.', ['text/html'])],
  }),
]
