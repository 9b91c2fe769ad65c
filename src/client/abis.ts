// The functions of the contracts that the client calls: whole ABIs would be in every page. Those that send, with the errors that name why a
// call is refused, are in escrowAbi.ts and registryAbi.ts, which load later.

/** The escrow's immutables. */
export const IMMUTABLES_ABI = ['authority', 'usdc', 'ledger', 'registry', 'token', 'pool'].map(
  (name) => `function ${name}() view returns (address)`,
)

/** The views of owner and enclave. */
export const AUTHORITY_ABI = [
  'function owner() view returns (address)',
  'function enclaveSigner() view returns (address)',
  'function signerProgram() view returns ((bytes32 measurement, bytes32 config))',
  'function isRevoked(bytes32 measurement) view returns (bool)',
  'function pendingRotation(uint8 role) view returns (address to, uint64 effectiveAt)',
  'function pendingProgram() view returns ((bytes32 measurement, bytes32 config) program)',
]

/** The views of `EquityToken`. */
export const TOKEN_ABI = [
  'function actions() view returns (address)',
  'function listedSymbols() view returns (bytes32[])',
  'function isListed(bytes32 symbol) view returns (bool)',
]

/** The list of corporate actions. */
export const ACTIONS_ABI = [
  'function listHash() view returns (bytes32)',
  'function count() view returns (uint256)',
  'function list(uint256 from, uint256 to) view returns ((uint8 kind, uint64 recordAt, uint64 numerator, uint64 denominator, uint32 entitlement, bytes32 symbol, bytes32 successor)[] actions)',
]

/** Escrow and ledger answer it alike. */
export const DIGEST_ABI = ['function usedDigest(bytes32 digest) view returns (bool)']

/** The parts of a rulebook that the ledger has. */
export const PENDING_ABI = ['function pendingPolicyBlob(bytes32 orgId) view returns (bytes)']

/** The views of an account's portfolio. */
export const PORTFOLIO_ABI = [
  'function userBlob(bytes32 accountId) view returns (bytes)',
  'function portfolioVersion(bytes32 accountId) view returns (uint64)',
  'function portfolioHash(bytes32 accountId) view returns (bytes32)',
]

/** What an admin's functions read of the registry. */
export const ADMIN_ABI = [
  'function orgOf(address wallet) view returns (bytes32)',
  'function adminOf(bytes32 orgId) view returns (address)',
  'function membershipsOf(bytes32 orgId, address[] wallets) view returns (uint8[] memberships)',
]

/** What may wait for somebody's decision. */
export const PENDING_MATTERS_ABI = [
  'function foundingOf(address wallet) view returns (bytes32)',
  'function moveOf(address from) view returns ((bytes32 orgId, address to, uint64 effectiveAt, bool hasBegun, bytes userPubKey))',
]

/** The events that establish facts of the past: a frame has no time to parse all that the contracts have. */
export const PAST_EVENTS = [
  'event ListingUpdated(bytes32 indexed symbol, bool listed)',
  'event FreezeUpdated(bytes32 indexed symbol, address indexed wallet, bool frozen)',
  'event KycUpdated(address indexed wallet, bool verified)',
  'event InstitutionRegistered(bytes32 indexed orgId, address indexed admin)',
  'event MemberUpdated(bytes32 indexed orgId, address indexed wallet, bool active)',
  'event AdminTransferred(bytes32 indexed orgId, address indexed from, address indexed to)',
  'event MoveProposed(bytes32 indexed orgId, address indexed from, address indexed to)',
  'event MoveWithdrawn(address indexed from, address indexed to, address by)',
  'event PolicyUpdated(bytes32 indexed orgId, uint64 version)',
  'event PortfolioMoved(address indexed from, address indexed to, uint64 partsLeft)',
]
