import { Interface } from 'ethers'
import * as z from 'zod'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { type Eip1193Provider, type Hex, type LogListing, readLogs } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import type { Ask } from '../query.js'
import type { Settings } from '../settings.js'
import { contractsOf } from './contracts.js'
import { once } from './once.js'
import { readView, topicOf } from './read.js'
import { createTail } from './tail.js'

/** Matters that wait for the platform's owner, who alone can end them. */
export interface Waiting {
  /** Institutions that were founded and never admitted. */
  readonly founded: readonly { readonly orgId: Hex; readonly founder: Hex }[]
  /** Members that have not passed KYC, the longest waiting first. */
  readonly unverified: readonly Hex[]
  /** Whether every event has been read. */
  readonly isComplete: boolean
}

const registry = new Interface(institutionRegistryAbi)
const token = new Interface(equityTokenAbi)
const foundedSchema = z.object({ orgId: bytes32Schema, admin: addressSchema })
const memberSchema = z.object({ wallet: addressSchema, active: z.boolean() })
const kycSchema = z.object({ wallet: addressSchema, verified: z.boolean() })

/** Reads events from the deployment on, and for each founding whether it still waits: an admission has no event. */
export function createWaitingReader(provider: Eip1193Provider, { pins, chain }: Settings): Ask<Waiting> {
  const begun = once(async () => {
    const contracts = await contractsOf(provider, pins.escrow)
    const topics = [
      topicOf(institutionRegistryAbi, 'InstitutionRegistered'),
      topicOf(institutionRegistryAbi, 'MemberUpdated'),
      topicOf(equityTokenAbi, 'KycUpdated'),
    ]
    const query = { addresses: [contracts.registry, contracts.token], topics: [topics] }
    const look = createTail<LogListing>((options) =>
      readLogs(provider, query, { fromBlock: chain.firstBlock, ...options }),
    )
    return { contracts, look }
  })

  return async (signal) => {
    const { contracts, look } = await begun()
    const { logs, isComplete } = await look(signal, () => undefined)
    const { founders, unverified } = factsOf(logs)
    const waiting = await Promise.all(
      [...founders].map(async ([founder, orgId]) => {
        const founding = await readView<Hex>(provider, {
          ...{ address: contracts.registry, abi: institutionRegistryAbi, method: 'foundingOf' },
          ...{ args: [founder], schema: bytes32Schema },
        })
        return founding === orgId ? [{ orgId, founder }] : []
      }),
    )
    return { founded: waiting.flat(), unverified, isComplete }
  }
}

/** The last founding of each founder, and the active members whose last KYC event does not clear them. */
function factsOf(logs: LogListing['logs']) {
  const founders = new Map<Hex, Hex>()
  const members = new Set<Hex>()
  const verified = new Set<Hex>()
  for (const log of logs) {
    const event = parsed(registry, log) ?? parsed(token, log)
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

function parsed(contract: Interface, { topics, data }: LogListing['logs'][number]) {
  return contract.parseLog({ topics: [...topics], data })
}

function change(set: Set<Hex>, wallet: Hex, isIn: boolean): void {
  if (isIn) set.add(wallet)
  else set.delete(wallet)
}
