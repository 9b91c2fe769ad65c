import { expect, it } from 'vitest'
import { type ContractKey, INTERFACES } from '../support/chain.js'

/** Events that the contracts inherit from OpenZeppelin. */
const INHERITED = ['EIP712DomainChanged', 'Transfer', 'Approval', 'Initialized']

/** Every event that our contracts declare: indexers read them, so none changes unnoticed. */
const DECLARED = [
  ['registry', 'InstitutionRegistered(bytes32 indexed orgId, address indexed admin)'],
  ['registry', 'AdminTransferred(bytes32 indexed orgId, address indexed from, address indexed to)'],
  ['registry', 'MemberUpdated(bytes32 indexed orgId, address indexed wallet, bool active)'],
  [
    'escrow',
    'OrderOpened(bytes32 indexed orderId, address indexed account, uint256 amount, uint64 deadline, bytes32 commit)',
  ],
  ['escrow', 'OrderSettled(bytes32 indexed orderId, uint256 amount, bytes32 payoutAsset, uint256 payout)'],
  ['escrow', 'OrderRefunded(bytes32 indexed orderId, address indexed account, uint256 amount)'],
  ['ledger', 'PortfolioUpdated(bytes32 indexed accountId, uint64 version)'],
  ['ledger', 'PolicyUpdated(bytes32 indexed orgId, uint64 version)'],
  ['token', 'KycUpdated(address indexed wallet, bool verified)'],
  ['token', 'ListingUpdated(bytes32 indexed symbol, bool listed)'],
  ['token', 'FreezeUpdated(bytes32 indexed symbol, address indexed wallet, bool frozen)'],
  ['pool', 'BatchMinted(bytes32 indexed symbol, uint256 amount, uint256 supply)'],
  ['pool', 'BatchBurned(bytes32 indexed symbol, uint256 amount, uint256 supply)'],
  ['escrow', 'ClaimMade(address indexed account, bytes32 indexed asset, uint256 amount)'],
  ['escrow', 'ClaimPaid(address indexed account, bytes32 indexed asset, address indexed to, uint256 amount)'],
  ['escrow', 'ClaimRecipientApproved(address indexed account, bytes32 indexed asset, address indexed to)'],
  [
    'authority',
    'RotationScheduled(uint8 indexed role, address indexed from, address indexed to, uint64 effectiveAt)',
  ],
  ['authority', 'RotationWithdrawn(uint8 indexed role)'],
  ['authority', 'Paused(uint64 until)'],
  ['authority', 'PauseLifted()'],
]

it('the contracts declare these events, and no other', () => {
  const keys: ContractKey[] = ['registry', 'escrow', 'ledger', 'token', 'aapl', 'pool', 'authority']
  const found: [ContractKey, string][] = []
  for (const key of keys) {
    INTERFACES[key].forEachEvent((event) => {
      const declared = event.format('full').replace(/^event /, '')
      if (!INHERITED.includes(event.name)) found.push([key, declared])
    })
  }
  expect(new Set(found.map(String)), 'a new event goes into DECLARED').toEqual(new Set(DECLARED.map(String)))
})
