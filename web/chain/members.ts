import type { Provider } from 'ethers'
import * as z from 'zod'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import type { Hex } from '../../src/client/index.js'
import { addressSchema, checksum } from '../../src/protocol/address.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import type { Settings } from '../settings.js'
import { contractsOf } from './contracts.js'
import { createLogTail, topicOf } from './logs.js'
import { readView } from './read.js'

/** A wallet that belongs to an institution, or may join it. */
export interface Member {
  readonly address: Hex
  readonly state: 'admin' | 'member' | 'invited'
}

const CHANGED = topicOf(institutionRegistryAbi, 'MemberUpdated')

const ADDRESS_DIGITS = 40

/**
 * Reads the institution's wallets: the events name all that ever were, the registry says what they are now. Each time
 * only the events that are new are asked for.
 */
export function createMembersReader(
  provider: Provider,
  { pins, chain }: Settings,
  orgId: Hex,
): () => Promise<Member[]> {
  let known: { readonly registry: Hex; readonly look: ReturnType<typeof createLogTail> } | null = null

  async function begin() {
    const { registry } = await contractsOf(provider, pins.escrow)
    const query = { address: registry, topics: [CHANGED, orgId], fromBlock: chain.firstBlock }
    return { registry, look: createLogTail(provider, query) }
  }

  return async () => {
    known ??= await begin()
    const { registry, look } = known
    const view = <T>(method: string, args: readonly unknown[], schema: z.ZodType<T>) =>
      readView(provider, { address: registry, abi: institutionRegistryAbi, method, args, schema })
    const { logs } = await look()
    const admin = await view<Hex>('adminOf', [orgId], addressSchema)
    const named = logs.map(({ topics }) => checksum(`0x${(topics[2] ?? '').slice(-ADDRESS_DIGITS)}`))
    const others = [...new Set(named)].filter((address) => address !== admin)
    const stateOf = async (address: Hex): Promise<Member[]> => {
      const [org, isInvited] = await Promise.all([
        view<Hex>('orgOf', [address], bytes32Schema),
        view('isInvited', [orgId, address], z.boolean()),
      ])
      if (org === orgId) return [{ address, state: 'member' }]
      return isInvited ? [{ address, state: 'invited' }] : []
    }
    return [{ address: admin, state: 'admin' }, ...(await Promise.all(others.map(stateOf))).flat()]
  }
}
