import type { Operation } from './operation.js'

const ORDER_ID = { schema: 'Bytes32', description: "The order's id, chosen by the client." } as const
const ORG_ID = { schema: 'Bytes32', description: "The institution's name as ASCII, zero-padded." } as const
const UNREADABLE = ['chain-unavailable', 'storage-unavailable'] as const

/** The routes of `createIntakeRouter` and of `createTimelineRouter`. */
const INTAKE_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/enclave-key',
    operationId: 'getEnclaveKey',
    tag: 'Intake',
    summary: 'The key that clients seal to',
    description: 'Pin the key and the escrow: an envelope that is sealed to another key has another reader.',
    answers: [{ status: 200, description: 'Key, chain, escrow and USDC.', content: 'EnclaveKey' }],
    problems: ['chain-unavailable'],
  },
  {
    method: 'post',
    path: '/orders',
    operationId: 'postOrder',
    tag: 'Intake',
    summary: 'Takes a sealed order, and opens its escrow if signed',
    description:
      "Answers once the envelope is durable; the enclave runs later. Idempotent per orderId: posted again, it is `already-received` and starts nothing. With `opening`, the relay opens the escrow: the opening is checked first, and is durable too when this answers. Its gas counts on the account's quota, and the opening itself on a quota of openings that is for members of admitted institutions.",
    body: 'PostOrder',
    answers: [
      {
        status: 202,
        description: 'The envelope is stored.',
        content: 'OrderReceived',
        headers: ['Location'],
      },
    ],
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
  },
  {
    method: 'get',
    path: '/orders/:orderId',
    operationId: 'getOrder',
    tag: 'Intake',
    summary: 'State on the chain, and the runs so far',
    parameters: { orderId: ORDER_ID },
    answers: [{ status: 200, description: 'The order as it is now.', content: 'OrderStatus' }],
    problems: ['order-not-found', ...UNREADABLE],
  },
  {
    method: 'get',
    path: '/orders/:orderId/timeline',
    operationId: 'getOrderTimeline',
    tag: 'Intake',
    summary: 'The history of an order, as one list',
    parameters: { orderId: ORDER_ID },
    answers: [{ status: 200, description: 'Its entries so far.', content: 'Timeline' }],
    problems: ['order-not-found', ...UNREADABLE],
  },
  {
    method: 'post',
    path: '/orders/:orderId/cancel',
    operationId: 'postCancel',
    tag: 'Intake',
    summary: 'Takes a sealed cancel of an open order',
    description:
      "Answers once the cancel is durable; the order's next run has it. `sig` is the signature of the envelope's hash by the escrow's account. Idempotent, also after the order has ended.",
    parameters: { orderId: ORDER_ID },
    body: 'PostCancel',
    answers: [
      { status: 202, description: 'The cancel is stored.', content: 'OrderReceived', headers: ['Location'] },
    ],
    problems: ['invalid-envelope', 'order-not-found', 'not-order-account', 'order-ended', ...UNREADABLE],
  },
  {
    method: 'post',
    path: '/policy',
    operationId: 'postPolicy',
    tag: 'Intake',
    summary: 'Publishes a sealed rulebook',
    description:
      "Answers after the enclave's whole run, once the new version is on the chain. With `author` it waits in its institution's line, without it among those of its client.",
    body: 'PostPolicy',
    answers: [{ status: 200, description: 'It is published.', content: 'PolicyVersion' }],
    problems: [
      'invalid-envelope',
      'policy-rejected',
      'relay-quota-exhausted',
      'relay-budget-exhausted',
      'platform-paused',
      'enclave-failed',
      'enclave-busy',
      'enclave-timeout',
      ...UNREADABLE,
    ],
  },
  {
    method: 'post',
    path: '/resolutions',
    operationId: 'postResolution',
    tag: 'Intake',
    summary: "Carries a sealed decision of the platform's owner to the enclave",
    description:
      "Ends an order that no run can end, or lowers an account's nonce that has leapt. Answers after the enclave's whole run. `sig` is the owner's signature of the envelope's hash and `validBefore`. Each resolution has its effect once.",
    body: 'PostResolution',
    answers: [{ status: 200, description: 'It has taken effect.', content: 'Resolved' }],
    problems: [
      'invalid-envelope',
      'resolution-rejected',
      'relay-quota-exhausted',
      'relay-budget-exhausted',
      'platform-paused',
      'enclave-failed',
      'enclave-busy',
      'enclave-timeout',
      ...UNREADABLE,
    ],
  },
  {
    method: 'get',
    path: '/policy/:orgId',
    operationId: 'getPolicyVersion',
    tag: 'Intake',
    summary: "The rulebook's version",
    parameters: { orgId: ORG_ID },
    answers: [{ status: 200, description: 'The current version.', content: 'PolicyVersion' }],
    problems: ['institution-not-found', 'chain-unavailable'],
  },
]

/** The routes of `relayRoutes`. */
const RELAY_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/relay',
    operationId: 'postAuthorization',
    tag: 'Relay',
    summary: 'Carries an authorization to the chain',
    description:
      'The signature is checked before any gas is spent. Idempotent per digest: posted again, it joins what is under way, or answers the earlier receipt when the chain confirms it.',
    body: 'SignedAuthorization',
    requestHeaders: ['Prefer'],
    answers: [
      {
        status: 200,
        description: 'It is `confirmed` or `failed`.',
        content: 'Receipt',
        headers: ['Location'],
      },
      { status: 202, description: 'It is under way.', content: 'Receipt', headers: ['Location'] },
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
    security: 'relayToken',
  },
  {
    method: 'get',
    path: '/relay/:digest',
    operationId: 'getReceipt',
    tag: 'Relay',
    summary: 'The receipt of an authorization',
    parameters: { digest: { schema: 'Bytes32', description: 'The EIP-712 digest that was signed.' } },
    answers: [{ status: 200, description: 'Its status so far.', content: 'Receipt' }],
    problems: ['receipt-not-found', ...UNREADABLE],
    security: 'relayToken',
  },
]

const runId = { schema: 'RunId', description: 'The id that the run has in its job.' } as const

/** The routes of `createRunsRouter`. */
const RUNS_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/runs/:runId/notice',
    operationId: 'postRunNotice',
    tag: 'Runs',
    summary: 'A notice that a run posts before its end',
    description:
      'Durable before it is answered: only after that does the enclave relay the refund that the notice explains. It ends no run.',
    parameters: { runId },
    body: 'RunNotice',
    requestHeaders: ['webhook-id', 'webhook-timestamp'],
    answers: [
      { status: 200, description: 'Whether the server waits for the run.', content: 'RunResultReceived' },
    ],
    problems: ['storage-unavailable'],
    security: 'runSignature',
  },
  {
    method: 'post',
    path: '/runs/:runId/result',
    operationId: 'postRunResult',
    tag: 'Runs',
    summary: 'The result of a run',
    description: 'Idempotent per run: the first result counts.',
    parameters: { runId },
    body: 'RunResult',
    requestHeaders: ['webhook-id', 'webhook-timestamp'],
    answers: [{ status: 200, description: 'Whether the server waits for it.', content: 'RunResultReceived' }],
    problems: ['storage-unavailable'],
    security: 'runSignature',
  },
]

const WALLET = { schema: 'Address', description: 'A wallet.' } as const

/** The routes of `createStatusRouter` and of `createHealthRouter`. */
const STATUS_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/wallet/:address',
    operationId: 'getWallet',
    tag: 'Status',
    summary: 'Which screen the wallet sees',
    parameters: { address: WALLET },
    answers: [{ status: 200, description: 'The screen, and why.', content: 'Wallet' }],
    problems: ['chain-unavailable'],
  },
  {
    method: 'get',
    path: '/org/:orgId',
    operationId: 'getInstitution',
    tag: 'Status',
    summary: "An institution, and the whole platform's pool",
    description: 'Never the balance of one institution.',
    parameters: { orgId: ORG_ID },
    answers: [{ status: 200, description: 'Public facts and totals.', content: 'Institution' }],
    problems: ['institution-not-found', 'chain-unavailable'],
  },
  {
    method: 'get',
    path: '/compliance/:address',
    operationId: 'getCompliance',
    tag: 'Status',
    summary: 'KYC, listing and freezes by equity',
    parameters: { address: WALLET },
    answers: [{ status: 200, description: 'One entry for each equity.', content: 'Compliance' }],
    problems: ['chain-unavailable'],
  },
  {
    method: 'get',
    path: '/market',
    operationId: 'getMarket',
    tag: 'Status',
    summary: 'Tradable symbols with prices',
    description: 'While the provider fails, the last answer is given with `stale: true`.',
    answers: [{ status: 200, description: 'Symbols and prices.', content: 'Market' }],
    problems: ['market-unavailable', 'chain-unavailable'],
  },
  {
    method: 'get',
    path: '/market/bars',
    operationId: 'getMarketBars',
    tag: 'Status',
    summary: 'Prices of the last five days, for charts',
    description:
      'One answer for all listed symbols, so that the server does not learn which one is looked at. While the provider fails, the last answer is given with `stale: true`.',
    answers: [{ status: 200, description: 'Bars by symbol.', content: 'MarketBars' }],
    problems: ['market-unavailable', 'chain-unavailable'],
  },
  {
    method: 'get',
    path: '/market/clock',
    operationId: 'getMarketClock',
    tag: 'Status',
    summary: 'Whether the market is open',
    answers: [{ status: 200, description: "The market's hours.", content: 'MarketClock' }],
    problems: ['market-unavailable'],
  },
  {
    method: 'get',
    path: '/health',
    operationId: 'getHealth',
    tag: 'Status',
    summary: "The server's chain and contracts",
    description: 'Answered from memory: it asks neither chain nor broker.',
    answers: [{ status: 200, description: 'The server answers.', content: 'Health' }],
    problems: [],
  },
  {
    method: 'get',
    path: '/health/checks',
    operationId: 'getHealthChecks',
    tag: 'Status',
    summary: "Readiness by check, the relayer's balances and the gas of the day",
    description: 'All callers share one check for 15 seconds. Use `GET /health` for probes.',
    answers: [{ status: 200, description: 'The latest check.', content: 'HealthChecks' }],
    problems: [],
  },
]

/** The routes of `createDocsRouter`. */
const DOCS_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/',
    operationId: 'getStart',
    tag: 'Documentation',
    summary: 'Leads to the documentation',
    answers: [{ status: 302, description: 'To `/docs`.', headers: ['Location', 'Link'] }],
    problems: [],
  },
  {
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    tag: 'Documentation',
    summary: 'The API as an OpenAPI document',
    answers: [{ status: 200, description: 'OpenAPI 3.1.', content: 'OpenApi' }],
    problems: [],
  },
  {
    method: 'get',
    path: '/docs',
    operationId: 'getDocsPage',
    tag: 'Documentation',
    summary: 'The API as a page with examples',
    answers: [{ status: 200, description: 'The page.', content: { mediaTypes: ['text/html'] } }],
    problems: [],
  },
  {
    method: 'get',
    path: '/docs/:file',
    operationId: 'getDocsPageFile',
    tag: 'Documentation',
    summary: 'A file that the pages load',
    parameters: { file: { schema: 'PageFile', description: 'Its name.' } },
    answers: [
      { status: 200, description: 'The file.', content: { mediaTypes: ['text/css', 'text/javascript'] } },
    ],
    problems: ['not-found'],
  },
  {
    method: 'get',
    path: '/errors',
    operationId: 'getErrorsPage',
    tag: 'Documentation',
    summary: 'Every error code with its remedy, as a page',
    description: 'The `type` of a problem is a section of it.',
    answers: [{ status: 200, description: 'The page.', content: { mediaTypes: ['text/html'] } }],
    problems: [],
  },
]

/** Every route of the API. The document is made from it, and a test holds the routers against it. */
export const OPERATIONS: readonly Operation[] = [
  ...INTAKE_OPERATIONS,
  ...STATUS_OPERATIONS,
  ...RELAY_OPERATIONS,
  ...RUNS_OPERATIONS,
  ...DOCS_OPERATIONS,
]
