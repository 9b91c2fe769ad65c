import type { Operation } from './operation.js'

const ORDER_ID = { schema: 'Bytes32', description: "The order's id, chosen by the client." } as const
const ORG_ID = { schema: 'Bytes32', description: "The institution's name as ASCII, zero-padded." } as const
const UNREADABLE = ['chain-unavailable', 'storage-unavailable'] as const

/** The routes of `createIntakeRouter` and of `createTimelineRouter`. */
export const INTAKE_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/enclave-key',
    operationId: 'getEnclaveKey',
    tag: 'Intake',
    summary: 'The key that clients seal to',
    description: 'Pin the key and the escrow: whoever believes another one seals to another reader.',
    answers: [{ status: 200, description: 'Key, chain, escrow and USDC.', content: 'EnclaveKey' }],
    problems: ['chain-unavailable'],
  },
  {
    method: 'post',
    path: '/orders',
    operationId: 'postOrder',
    tag: 'Intake',
    summary: 'Takes a sealed order',
    description:
      'Answers once the envelope is durable; the enclave runs later. Idempotent per orderId: posted again, it is `already-received` and starts nothing.',
    body: 'PostOrder',
    answers: [
      {
        status: 202,
        description: 'The envelope is stored.',
        content: 'OrderReceived',
        headers: ['Location'],
      },
    ],
    problems: ['invalid-envelope', 'too-many-waiting', 'intake-full', ...UNREADABLE],
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
    summary: 'What happened to an order, as one list',
    parameters: { orderId: ORDER_ID },
    answers: [{ status: 200, description: 'Its entries so far.', content: 'Timeline' }],
    problems: ['order-not-found', ...UNREADABLE],
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
