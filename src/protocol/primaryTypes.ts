// Their fields are in authorizationTypes.ts, which a page need not load for their names.
/** The EIP-712 primary types of authorizations. */
export const PRIMARY_TYPES = [
  'PortfolioUpdate',
  'PortfolioMove',
  'PolicyUpdate',
  'OrderSettlement',
  'OrderRefund',
  'BatchMint',
  'BatchBurn',
] as const
/** Name of an authorization's EIP-712 primary type. */
export type PrimaryType = (typeof PRIMARY_TYPES)[number]
