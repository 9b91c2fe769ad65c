import { Interface } from 'ethers'
import type { ContractAddresses } from '../protocol/api.js'
import type { SignedAuthorization } from '../protocol/authorization.js'
import {
  type AuthorizedContract,
  authorizationTargets,
  authorizationTypes,
  type PrimaryType,
} from '../protocol/authorizationTypes.js'
import { bytesToHex, type Hex, hexToBytes } from '../protocol/hex.js'
import { confidentialLedgerAbi } from './generated/confidentialLedgerAbi.js'
import { orderEscrowAbi } from './generated/orderEscrowAbi.js'
import { platformPoolAbi } from './generated/platformPoolAbi.js'

const interfaces: Record<AuthorizedContract, Interface> = {
  ConfidentialLedger: new Interface(confidentialLedgerAbi),
  OrderEscrow: new Interface(orderEscrowAbi),
  PlatformPool: new Interface(platformPoolAbi),
}

/** The contract that takes an authorization of this type. */
export function targetOf(primaryType: PrimaryType, addresses: ContractAddresses): Hex {
  const { contract } = authorizationTargets[primaryType]
  if (contract === 'ConfidentialLedger') return addresses.confidentialLedger
  return contract === 'OrderEscrow' ? addresses.orderEscrow : addresses.platformPool
}

/** Calldata of the function that takes the authorization with its signature. */
export function encodeAuthorizationCall({ primaryType, message, signature }: SignedAuthorization): Hex {
  const { contract, method } = authorizationTargets[primaryType]
  const values = new Map(Object.entries(message))
  const struct = authorizationTypes[primaryType].map(({ name }) => values.get(name))
  return bytesToHex(hexToBytes(interfaces[contract].encodeFunctionData(method, [struct, signature])))
}
