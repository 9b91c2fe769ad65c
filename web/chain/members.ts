import type { Provider } from 'ethers'
import * as z from 'zod'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import type { Hex } from '../../src/client/index.js'
import { addressSchema, checksum } from '../../src/protocol/address.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import type { Settings } from '../settings.js'
import type { Ask } from '../state/query.js'
import { contractsOf } from './contracts.js'
import { createLogTail, type LogsSoFar, topicOf, UNSETTLED_BLOCKS } from './logs.js'
import { once } from './once.js'
import type { ChainLog, LogSource } from './parts.js'
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

interface MembersSettings {
  readonly pins: Pick<Settings['pins'], 'escrow'>
  readonly chain: Pick<Settings['chain'], 'firstBlock'>
}

const CHANGED = topicOf(institutionRegistryAbi, 'MemberUpdated')

const ADDRESS_DIGITS = 40

/** Before the first read, even an empty result counts as unknown. */
const NONE = -1

/**
 * Reads the institution's wallets: events name every wallet that ever belonged, the registry gives its current state.
 * Each read requests only new or unread events.
 */
export function createMembersReader(
  provider: Pick<Provider, 'call'> & LogSource,
  { pins, chain }: MembersSettings,
  orgId: Hex,
): Ask<Members> {
  const begun = once(async () => {
    const { registry } = await contractsOf(provider, pins.escrow)
    const query = { address: registry, topics: [CHANGED, orgId], fromBlock: chain.firstBlock }
    return { registry, look: createLogTail(provider, query) }
  })

  /** The states as of the newest event. Without an event only a departure changes one, when it takes effect. */
  let read: { readonly newest: string; readonly states: ReadonlyMap<Hex, readonly Member[]> } | null = null

  async function membersOf(
    registry: Hex,
    { logs, head }: Pick<LogsSoFar, 'logs' | 'head'>,
  ): Promise<Member[]> {
    const last = logs.at(-1)
    const newest = `${logs.length} ${last?.blockHash} ${last?.index}`
    // A node that lags the one with the events may answer the views from before them.
    const isSettled = head - (last?.blockNumber ?? head) > UNSETTLED_BLOCKS
    const known = read?.newest === newest ? read.states : new Map<Hex, readonly Member[]>()
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
    const states = new Map(
      await Promise.all(
        walletsOf(logs).map(async (address) => {
          const kept = known.get(address)
          const isKept = kept !== undefined && kept[0]?.state !== 'leaving'
          return [address, isKept ? kept : await stateOf(address)] as const
        }),
      ),
    )
    read = isSettled ? { newest, states } : null
    const others = [...states].filter(([address]) => address !== admin)
    return [{ address: admin, state: 'admin' }, ...others.flatMap(([, state]) => state)]
  }

  return async (signal, report) => {
    const { registry, look } = await begun()
    let reported = NONE
    const found = await look({
      signal,
      async onPart(soFar) {
        const named = walletsOf(soFar.logs)
        if (named.length === reported) return
        reported = named.length
        report({ members: await membersOf(registry, soFar), complete: false })
      },
    })
    return { members: await membersOf(registry, found), complete: found.complete }
  }
}

/** The distinct wallets in the events. */
function walletsOf(logs: readonly ChainLog[]): Hex[] {
  return [...new Set(logs.map(({ topics }) => checksum(`0x${(topics[2] ?? '').slice(-ADDRESS_DIGITS)}`)))]
}
