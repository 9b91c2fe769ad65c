import type { TypedDataDomain } from 'ethers'
import * as z from 'zod'
import { addressSchema } from './address.js'
import { authorizationTargets, authorizationTypes, type PrimaryType } from './authorizationTypes.js'
import { bytes32Schema, type Hex, hexBetween } from './hex.js'
import { signatureSchema, signDigest } from './signature.js'
import { typedDataDigest } from './typedData.js'
import { uint64Schema, uint256Schema } from './units.js'

/** One transaction carries a blob; a larger one would not fit its gas. */
const blobSchema = hexBetween(0, 20_480)

const batchShape = {
  symbol: bytes32Schema,
  amount: uint256Schema,
  expectedSupply: uint256Schema,
  batch: uint64Schema,
}
const portfolioShape = { version: uint64Schema, enclaveBlob: blobSchema, userBlob: blobSchema }

const messageSchemas = {
  PortfolioUpdate: z.strictObject({ accountId: bytes32Schema, ...portfolioShape }),
  PolicyUpdate: z.strictObject({
    orgId: bytes32Schema,
    admin: addressSchema,
    version: uint64Schema,
    policyBlob: blobSchema,
  }),
  OrderSettlement: z.strictObject({
    orderId: bytes32Schema,
    payoutAsset: bytes32Schema,
    payout: uint256Schema,
    ...portfolioShape,
  }),
  OrderRefund: z.strictObject({ orderId: bytes32Schema, ...portfolioShape }),
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

/** The chain and the contract that an authorization is signed for. */
export interface AuthorizationDomain {
  chainId: number
  /** Address of the contract that `authorizationTargets` names. */
  verifyingContract: Hex
}

/** The EIP-712 domain of an authorization: each contract has its own, under its own name. */
export function authorizationDomain(primaryType: PrimaryType, domain: AuthorizationDomain): TypedDataDomain {
  return { name: authorizationTargets[primaryType].contract, version: '1', ...domain }
}

/** The EIP-712 digest that the enclave signs, the contract marks as used and the relay deduplicates by. */
export function authorizationDigest(
  { primaryType, message }: Authorization,
  domain: AuthorizationDomain,
): Hex {
  const types = { [primaryType]: authorizationTypes[primaryType] }
  return typedDataDigest(authorizationDomain(primaryType, domain), types, message)
}

/** Signs an authorization with the enclave's key, ready for `z.encode(signedAuthorizationSchema, …)`. */
export function signAuthorization(
  authorization: Authorization,
  domain: AuthorizationDomain,
  privateKey: Hex,
): SignedAuthorization {
  return { ...authorization, signature: signDigest(authorizationDigest(authorization, domain), privateKey) }
}
