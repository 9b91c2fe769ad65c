// EIP-712 without a library, from the type strings of sections 7 to 9 and 12 of docs/protocol.md.
import { keccak256 } from 'ethers'
import { fromHex, type Hex, uint256be, utf8 } from './bytes.js'
import { canonicalJson } from './json.js'

const DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
const INTENT_TYPE =
  'Intent(uint256 v,bytes32 orderId,address account,bytes32 orgId,string side,string symbol,uint256 maxSpend,uint256 expiry,uint256 nonce,bytes userPubKey)'
const POLICY_TYPE = 'PolicyIntent(uint256 v,bytes32 orgId,address admin,bytes32 policyHash,uint256 version)'

/** An order's intent without its signature, as it stands in JSON. */
export interface Intent {
  readonly v: 1
  readonly orderId: Hex
  readonly account: Hex
  readonly orgId: Hex
  readonly side: 'BUY' | 'SELL' | 'WITHDRAW' | 'DEPOSIT'
  readonly symbol: string
  readonly maxSpend: string
  readonly expiry: number
  readonly nonce: number
  readonly userPubKey: Hex
}

export interface EmployeeRules {
  readonly canBuy: boolean
  readonly canSell: boolean
  readonly restricted: readonly string[]
}

export interface Policy {
  /** By address in lower case. */
  readonly employees: Readonly<Record<string, EmployeeRules>>
  readonly maxOrderNotional: string
  readonly allowWithdrawShares: boolean
}

/** A rulebook without its signature, as it stands in JSON. */
export interface Rulebook {
  readonly v: 1
  readonly orgId: Hex
  readonly admin: Hex
  readonly policy: Policy
  readonly version: number
}

export interface Domain {
  readonly chainId: bigint
  readonly escrow: Hex
}

const keccak = (bytes: Uint8Array): Buffer => fromHex(keccak256(bytes), 32)
const textHash = (text: string): Buffer => keccak(utf8(text))
const integer = (value: number | string): Buffer => uint256be(BigInt(value))
const word = (hex: Hex): Buffer => fromHex(hex, 32)
const address = (hex: Hex): Buffer => Buffer.concat([Buffer.alloc(12), fromHex(hex, 20)])

const hashOf = (type: string, members: readonly Uint8Array[]): Buffer =>
  keccak(Buffer.concat([textHash(type), ...members]))

const SEALED_RULEBOOK_TYPE = 'SealedRulebook(bytes32 orgId,bytes32 envelopeHash)'

const separatorOf = (name: string, version: string, chainId: bigint, contract: Hex): Buffer =>
  hashOf(DOMAIN_TYPE, [textHash(name), textHash(version), uint256be(chainId), address(contract)])

export const domainSeparator = ({ chainId, escrow }: Domain): Buffer =>
  separatorOf('ServiceIntent', '1', chainId, escrow)

const digestUnder = (separator: Buffer, structHash: Buffer): Buffer =>
  keccak(Buffer.concat([Buffer.of(0x19, 0x01), separator, structHash]))

const digestOf = (domain: Domain, structHash: Buffer): Buffer =>
  digestUnder(domainSeparator(domain), structHash)

export const intentStructHash = (intent: Intent): Buffer =>
  hashOf(INTENT_TYPE, [
    integer(intent.v),
    word(intent.orderId),
    address(intent.account),
    word(intent.orgId),
    textHash(intent.side),
    textHash(intent.symbol),
    integer(intent.maxSpend),
    integer(intent.expiry),
    integer(intent.nonce),
    keccak(fromHex(intent.userPubKey)),
  ])

/** The digest of an order, which its wallet signs. */
export const intentDigest = (domain: Domain, intent: Intent): Buffer =>
  digestOf(domain, intentStructHash(intent))

export const policyHash = (policy: Policy): Buffer => textHash(canonicalJson(policy))

export const rulebookStructHash = ({ v, orgId, admin, policy, version }: Rulebook): Buffer =>
  hashOf(POLICY_TYPE, [integer(v), word(orgId), address(admin), policyHash(policy), integer(version)])

/** The digest of a rulebook's envelope, which the admin signs outside the seal. */
export const sealedRulebookDigest = (domain: Domain, orgId: Hex, envelopeHash: Uint8Array): Buffer =>
  digestOf(domain, hashOf(SEALED_RULEBOOK_TYPE, [word(orgId), envelopeHash]))

const CANCEL_TYPE = 'CancelIntent(uint256 v,bytes32 orderId,address account)'
const SEALED_CANCEL_TYPE = 'SealedCancel(bytes32 orderId,bytes32 envelopeHash)'

/** The digest of a cancel, which the wallet signs inside the seal. */
export const cancelDigest = (domain: Domain, orderId: Hex, account: Hex): Buffer =>
  digestOf(domain, hashOf(CANCEL_TYPE, [integer(1), word(orderId), address(account)]))

/** The digest of a cancel's envelope, which the wallet signs outside the seal. */
export const sealedCancelDigest = (domain: Domain, orderId: Hex, envelopeHash: Uint8Array): Buffer =>
  digestOf(domain, hashOf(SEALED_CANCEL_TYPE, [word(orderId), envelopeHash]))

/** The digest of a rulebook, which the admin signs. */
export const rulebookDigest = (domain: Domain, rulebook: Rulebook): Buffer =>
  digestOf(domain, rulebookStructHash(rulebook))

const RECEIVE_TYPE =
  'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'
const BUY_OPENING_TYPE = 'BuyOpening(bytes32 orderId,bytes32 commit,uint64 deadline)'
const REQUEST_OPENING_TYPE =
  'RequestOpening(address account,bytes32 orderId,bytes32 commit,uint64 deadline,uint64 validBefore)'

/** An order as the signature of its opening fixes it. */
export interface Opening {
  readonly account: Hex
  readonly orderId: Hex
  readonly commit: Hex
  readonly deadline: number
  readonly validBefore: number
}

/** USDC's address, and the name and version of its domain. */
export interface Usdc {
  readonly address: Hex
  readonly name: string
  readonly version: string
}

/** The nonce of the authorization that opens a buy. */
export const buyNonce = ({ orderId, commit, deadline }: Omit<Opening, 'account' | 'validBefore'>): Buffer =>
  hashOf(BUY_OPENING_TYPE, [word(orderId), word(commit), integer(deadline)])

/** The payment in USDC that the wallet signs so that a buy can be opened: the struct's hash, and the digest. */
export function buyOpeningHashes(domain: Domain, usdc: Usdc, order: Opening, amount: string) {
  const { chainId, escrow } = domain
  const structHash = hashOf(RECEIVE_TYPE, [
    address(order.account),
    address(escrow),
    integer(amount),
    integer(0),
    integer(order.validBefore),
    buyNonce(order),
  ])
  const separator = separatorOf(usdc.name, usdc.version, chainId, usdc.address)
  return { separator, structHash, digest: digestUnder(separator, structHash) }
}

/** The opening that the wallet signs so that a request can be opened: the struct's hash, and the digest. */
export function requestOpeningHashes({ chainId, escrow }: Domain, order: Opening) {
  const { account, orderId, commit, deadline, validBefore } = order
  const words = [address(account), word(orderId), word(commit), integer(deadline), integer(validBefore)]
  const structHash = hashOf(REQUEST_OPENING_TYPE, words)
  const separator = separatorOf('OrderEscrow', '1', chainId, escrow)
  return { separator, structHash, digest: digestUnder(separator, structHash) }
}

/** The hashes of the types of section 8: both that are signed, and the kind in a buy's nonce. */
export const openingTypeHashes = {
  buy: textHash(RECEIVE_TYPE),
  kind: textHash(BUY_OPENING_TYPE),
  request: textHash(REQUEST_OPENING_TYPE),
}
