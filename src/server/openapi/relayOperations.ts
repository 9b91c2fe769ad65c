import type { Operation } from './operation.js'

/** The routes of `createRelayRouter`. */
export const RELAY_OPERATIONS: readonly Operation[] = [
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
      'chain-unavailable',
      'storage-unavailable',
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
    answers: [{ status: 200, description: 'How far it is.', content: 'Receipt' }],
    problems: ['receipt-not-found', 'chain-unavailable', 'storage-unavailable'],
    security: 'relayToken',
  },
]
