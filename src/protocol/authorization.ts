import type { TypedDataDomain } from 'ethers'
import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { authorizationTargets, authorizationTypes } from './authorizationTypes.js'
import { bytes32Schema, type Hex, hexBetween, hexToBytes } from './hex.js'
import { MAX_PART_BYTES, MAX_PORTFOLIO_BLOB_BYTES } from './ledgerBlob.js'
import type { PrimaryType } from './primaryTypes.js'
import { signatureSchema } from './signature.js'
import { signDigest } from './signDigest.js'
import { typedDataDigest } from './typedData.js'
import { uint8Schema, uint64Schema, uint256Schema } from './units.js'

/** The version in every contract's EIP-712 domain. */
const VERSION = '1'

const portfolioBlobSchema = hexBetween(0, MAX_PORTFOLIO_BLOB_BYTES)

const batchShape = {
  symbol: bytes32Schema,
  amount: uint256Schema,
  expectedSupply: uint256Schema,
  batch: uint64Schema,
  countedUntil: uint64Schema,
  actions: bytes32Schema,
}
const orderShape = {
  orderId: bytes32Schema,
  account: addressSchema,
  asset: bytes32Schema,
  amount: uint256Schema,
  commit: bytes32Schema,
}
const writeShape = {
  version: uint64Schema,
  previous: bytes32Schema,
  /** The list hash of the corporate actions that the portfolio has followed. */
  actions: bytes32Schema,
  enclaveBlob: portfolioBlobSchema,
  userBlob: portfolioBlobSchema,
}

const messageSchemas = {
  PortfolioUpdate: z.strictObject({ ...orderShape, state: uint8Schema, ...writeShape }),
  PortfolioMove: z.strictObject({
    from: addressSchema,
    to: addressSchema,
    /** Those of the approved move: one that was withdrawn does not act for a later one. */
    effectiveAt: uint64Schema,
    userPubKeyHash: bytes32Schema,
    partsLeft: uint64Schema,
    ...writeShape,
    toVersion: uint64Schema,
    toPrevious: bytes32Schema,
    toEnclaveBlob: portfolioBlobSchema,
    toUserBlob: portfolioBlobSchema,
  }),
  PolicyUpdate: z.strictObject({
    orgId: bytes32Schema,
    admin: addressSchema,
    version: uint64Schema,
    part: uint8Schema,
    parts: uint8Schema,
    digest: bytes32Schema,
    policyBlob: hexBetween(0, MAX_PART_BYTES),
  }),
  OrderSettlement: z.strictObject({
    ...orderShape,
    payoutAsset: bytes32Schema,
    payout: uint256Schema,
    ...writeShape,
  }),
  OrderRefund: z.strictObject({ ...orderShape, ...writeShape }),
  BatchMint: z.strictObject(batchShape),
  BatchBurn: z.strictObject(batchShape),
}

function signed<T extends PrimaryType>(primaryType: T) {
  return z.strictObject({
    primaryType: z.literal(primaryType),
    message: messageSchemas[primaryType],
    signature: signatureSchema,
  })
}

/** The body of `POST /relay`. Integers in `message` are decimal strings, bytes are hex. */
export const signedAuthorizationSchema = z.discriminatedUnion('primaryType', [
  signed('PortfolioUpdate'),
  signed('PortfolioMove'),
  signed('PolicyUpdate'),
  signed('OrderSettlement'),
  signed('OrderRefund'),
  signed('BatchMint'),
  signed('BatchBurn'),
])
export type SignedAuthorization = z.output<typeof signedAuthorizationSchema>

/** An authorization before it is signed. */
export type Authorization = {
  [T in PrimaryType]: { primaryType: T; message: z.output<(typeof messageSchemas)[T]> }
}[PrimaryType]

/** The chain and the contract that an authorization is valid for. */
export interface AuthorizationDomain {
  chainId: number
  /** Address of the contract that `authorizationTargets` names. */
  verifyingContract: Hex
}

/** The EIP-712 domain of an authorization; each contract has its own, named after the contract. */
function authorizationDomain(primaryType: PrimaryType, domain: AuthorizationDomain): TypedDataDomain {
  return { name: authorizationTargets[primaryType].contract, version: VERSION, ...domain }
}

/** The very same object for each, whose encoder is made once. */
const typesOf = new Map<PrimaryType, Parameters<typeof typedDataDigest>[1]>()

/** The EIP-712 digest: the enclave signs it, the contract marks it as used, the relay deduplicates by it. */
export function authorizationDigest(authorization: Authorization, domain: AuthorizationDomain): Hex {
  const { primaryType } = authorization
  const types = typesOf.get(primaryType) ?? { [primaryType]: authorizationTypes[primaryType] }
  typesOf.set(primaryType, types)
  return typedDataDigest(authorizationDomain(primaryType, domain), types, inBytes(authorization))
}

/** The message with bytes in place of hex, which ethers reads far more slowly. */
function inBytes({ primaryType, message }: Authorization): Record<string, unknown> {
  const values: Readonly<Record<string, Hex | bigint>> = message
  return Object.fromEntries(
    authorizationTypes[primaryType].map(({ name, type }) => {
      const value = values[name]
      return [name, type.startsWith('bytes') && typeof value === 'string' ? hexToBytes(value) : value]
    }),
  )
}

/** Signs an authorization with the enclave's key, ready for `z.encode(signedAuthorizationSchema, …)`. */
export function signAuthorization(
  authorization: Authorization,
  domain: AuthorizationDomain,
  privateKey: Hex,
): SignedAuthorization {
  const signature = signDigest(authorizationDigest(authorization, domain), privateKey)
  return { ...authorization, signature }
}
