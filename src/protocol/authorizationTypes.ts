// The seven EIP-712 types that the enclave signs, and the contract that accepts each.
import type { WordType } from './abiWord.js'
import type { PrimaryType } from './primaryTypes.js'

/** The contracts that accept authorizations. */
export type AuthorizedContract = 'ConfidentialLedger' | 'OrderEscrow' | 'PlatformPool'

/** The order behind a portfolio write, as the escrow records it; the contracts refuse any other. */
const ORDER = [
  { name: 'orderId', type: 'bytes32' },
  { name: 'account', type: 'address' },
  { name: 'asset', type: 'bytes32' },
  { name: 'amount', type: 'uint256' },
  { name: 'commit', type: 'bytes32' },
] as const

/** The list hash of the corporate actions that an amount of shares or a portfolio has followed: on another chain they are others. */
const ACTIONS = { name: 'actions', type: 'bytes32' } as const

/** One portfolio write; `previous` is the ledger's running hash of all earlier writes. */
const WRITE = [
  { name: 'version', type: 'uint64' },
  { name: 'previous', type: 'bytes32' },
  ACTIONS,
  { name: 'enclaveBlob', type: 'bytes' },
  { name: 'userBlob', type: 'bytes' },
] as const

export const authorizationTypes = {
  PortfolioUpdate: [...ORDER, { name: 'state', type: 'uint8' }, ...WRITE],
  PortfolioMove: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'effectiveAt', type: 'uint64' },
    { name: 'userPubKeyHash', type: 'bytes32' },
    { name: 'partsLeft', type: 'uint64' },
    ...WRITE,
    { name: 'toVersion', type: 'uint64' },
    { name: 'toPrevious', type: 'bytes32' },
    { name: 'toEnclaveBlob', type: 'bytes' },
    { name: 'toUserBlob', type: 'bytes' },
  ],
  PolicyUpdate: [
    { name: 'orgId', type: 'bytes32' },
    { name: 'admin', type: 'address' },
    { name: 'version', type: 'uint64' },
    { name: 'part', type: 'uint8' },
    { name: 'parts', type: 'uint8' },
    { name: 'digest', type: 'bytes32' },
    { name: 'policyBlob', type: 'bytes' },
  ],
  OrderSettlement: [
    ...ORDER,
    { name: 'payoutAsset', type: 'bytes32' },
    { name: 'payout', type: 'uint256' },
    ...WRITE,
  ],
  OrderRefund: [...ORDER, ...WRITE],
  BatchMint: [
    { name: 'symbol', type: 'bytes32' },
    { name: 'amount', type: 'uint256' },
    { name: 'expectedSupply', type: 'uint256' },
    { name: 'batch', type: 'uint64' },
    { name: 'countedUntil', type: 'uint64' },
    ACTIONS,
  ],
  BatchBurn: [
    { name: 'symbol', type: 'bytes32' },
    { name: 'amount', type: 'uint256' },
    { name: 'expectedSupply', type: 'uint256' },
    { name: 'batch', type: 'uint64' },
    { name: 'countedUntil', type: 'uint64' },
    ACTIONS,
  ],
} satisfies Record<PrimaryType, { name: string; type: WordType | 'bytes' }[]>

/** The contract and function that accept each authorization. */
export const authorizationTargets: Record<PrimaryType, { contract: AuthorizedContract; method: string }> = {
  PortfolioUpdate: { contract: 'ConfidentialLedger', method: 'updatePortfolio' },
  PortfolioMove: { contract: 'ConfidentialLedger', method: 'movePortfolio' },
  PolicyUpdate: { contract: 'ConfidentialLedger', method: 'updatePolicy' },
  OrderSettlement: { contract: 'OrderEscrow', method: 'settle' },
  OrderRefund: { contract: 'OrderEscrow', method: 'refund' },
  BatchMint: { contract: 'PlatformPool', method: 'mintBatch' },
  BatchBurn: { contract: 'PlatformPool', method: 'burnBatch' },
}
