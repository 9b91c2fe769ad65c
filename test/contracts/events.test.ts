import { expect, it } from 'vitest'
import { type ContractKey, INTERFACES } from '../support/chain.js'

/** What the contracts take over from OpenZeppelin. */
const INHERITED = [
  'OwnershipTransferStarted',
  'OwnershipTransferred',
  'EIP712DomainChanged',
  'Transfer',
  'Approval',
  'OperatorSet',
]

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
]

it('the five contracts declare these thirteen events and no other', () => {
  const keys: ContractKey[] = ['registry', 'escrow', 'ledger', 'token', 'pool']
  const found: [ContractKey, string][] = []
  for (const key of keys) {
    INTERFACES[key].forEachEvent((event) => {
      const declared = event.format('full').replace(/^event /, '')
      if (!INHERITED.includes(event.name)) found.push([key, declared])
    })
  }
  expect(new Set(found.map(String))).toEqual(new Set(DECLARED.map(String)))
  expect(found).toHaveLength(13)
})
