import type { Interface } from 'ethers'
import * as z from 'zod'
import type { ChainLog } from '../../chain/logReader.js'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { registryEvents, tokenEvents } from '../contractEvents.js'

/** Matters that wait for the platform's owner, who alone can end them. */
export interface Waiting {
  /** Institutions that were founded and never admitted. */
  readonly founded: readonly { readonly orgId: Hex; readonly founder: Hex }[]
  /** Members that have not passed KYC, the longest waiting first. */
  readonly unverified: readonly Hex[]
}

const foundedSchema = z.object({ orgId: bytes32Schema, admin: addressSchema })
const memberSchema = z.object({ wallet: addressSchema, active: z.boolean() })
const kycSchema = z.object({ wallet: addressSchema, verified: z.boolean() })

/** The last founding of each founder, and the active members whose last KYC event does not clear them. */
export function factsOf(logs: readonly ChainLog[]) {
  const founders = new Map<Hex, Hex>()
  const members = new Set<Hex>()
  const verified = new Set<Hex>()
  for (const log of logs) {
    const event = parsed(registryEvents, log) ?? parsed(tokenEvents, log)
    if (event?.name === 'InstitutionRegistered') {
      const { orgId, admin } = foundedSchema.parse(event.args.toObject())
      founders.set(admin, orgId)
    } else if (event?.name === 'MemberUpdated') {
      const { wallet, active } = memberSchema.parse(event.args.toObject())
      change(members, wallet, active)
    } else if (event?.name === 'KycUpdated') {
      const { wallet, verified: isVerified } = kycSchema.parse(event.args.toObject())
      change(verified, wallet, isVerified)
    }
  }
  return { founders, unverified: [...members].filter((wallet) => !verified.has(wallet)) }
}

function parsed(contract: Interface, { topics, data }: ChainLog) {
  return contract.parseLog({ topics: [...topics], data })
}

function change(set: Set<Hex>, wallet: Hex, isIn: boolean): void {
  if (isIn) set.add(wallet)
  else set.delete(wallet)
}
