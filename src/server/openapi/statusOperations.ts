import type { Operation } from './operation.js'

const WALLET = { schema: 'Address', description: 'A wallet.' } as const

/** The routes of `createStatusRouter` and of `createHealthRouter`. */
export const STATUS_OPERATIONS: readonly Operation[] = [
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
    parameters: {
      orgId: { schema: 'Bytes32', description: "The institution's name as ASCII, zero-padded." },
    },
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
    summary: 'What the server is set up for',
    description: 'Answered from memory: it says nothing of chain or broker.',
    answers: [{ status: 200, description: 'The server answers.', content: 'Health' }],
    problems: [],
  },
]
