import type { Provider } from 'ethers'
import * as z from 'zod'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import type { Hex } from '../../src/client/index.js'
import { addressSchema, checksum } from '../../src/protocol/address.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import type { Settings } from '../settings.js'
import type { Ask } from '../state/query.js'
import { contractsOf } from './contracts.js'
import { createLogTail, topicOf } from './logs.js'
import { once } from './once.js'
import type { ChainLog } from './parts.js'
import { readView } from './read.js'

/** A wallet that belongs to an institution, or may join it. */
export interface Member {
  readonly address: Hex
  /** `leaving`: still a member until the departure takes effect, but cannot buy. */
  readonly state: 'admin' | 'member' | 'leaving' | 'invited'
}

/** The wallets found so far. */
export interface Members {
  readonly members: readonly Member[]
  readonly complete: boolean
}

const CHANGED = topicOf(institutionRegistryAbi, 'MemberUpdated')

const ADDRESS_DIGITS = 40

/** Before the first read, even an empty result counts as unknown. */
const NONE = -1

/**
 * Reads the institution's wallets: events name every wallet that ever belonged, the registry gives its current state.
 * Each read requests only new or unread events.
 */
export function createMembersReader(provider: Provider, { pins, chain }: Settings, orgId: Hex): Ask<Members> {
  const begun = once(async () => {
    const { registry } = await contractsOf(provider, pins.escrow)
    const query = { address: registry, topics: [CHANGED, orgId], fromBlock: chain.firstBlock }
    return { registry, look: createLogTail(provider, query) }
  })

  async function membersOf(registry: Hex, named: readonly Hex[]): Promise<Member[]> {
    const view = <T>(method: string, args: readonly unknown[], schema: z.ZodType<T>) =>
      readView(provider, { address: registry, abi: institutionRegistryAbi, method, args, schema })
    const admin = await view<Hex>('adminOf', [orgId], addressSchema)
    const stateOf = async (address: Hex): Promise<Member[]> => {
      const [org, isInvited, leavingAt] = await Promise.all([
        view<Hex>('orgOf', [address], bytes32Schema),
        view('isInvited', [orgId, address], z.boolean()),
        view('leavingAt', [address], z.bigint()),
      ])
      if (org === orgId) return [{ address, state: leavingAt === 0n ? 'member' : 'leaving' }]
      return isInvited ? [{ address, state: 'invited' }] : []
    }
    const others = await Promise.all(named.filter((address) => address !== admin).map(stateOf))
    return [{ address: admin, state: 'admin' }, ...others.flat()]
  }

  return async (signal, report) => {
    const { registry, look } = await begun()
    let reported = NONE
    const { logs, complete } = await look({
      signal,
      async onPart(soFar) {
        const named = walletsOf(soFar.logs)
        if (named.length === reported) return
        reported = named.length
        report({ members: await membersOf(registry, named), complete: false })
      },
    })
    return { members: await membersOf(registry, walletsOf(logs)), complete }
  }
}

/** The distinct wallets in the events. */
function walletsOf(logs: readonly ChainLog[]): Hex[] {
  return [...new Set(logs.map(({ topics }) => checksum(`0x${(topics[2] ?? '').slice(-ADDRESS_DIGITS)}`)))]
}
