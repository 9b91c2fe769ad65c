import type { Provider } from 'ethers'
import { useMemo } from 'preact/hooks'
import type { Hex } from '../../src/client/index.js'
import { createEventsReader } from '../chain/events.js'
import type { LogsSoFar } from '../chain/logs.js'
import { createMembersReader, type Members } from '../chain/members.js'
import { createOrderHistory, type OrderHistory } from '../chain/orderHistory.js'
import { type Ask, remembered } from '../chain/remembered.js'
import { createStandingReader, type Standing } from '../chain/standing.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'

/** What is read from the chain's past. It goes on where it was, wherever in the page one has been meanwhile. */
export interface Histories {
  /** Null without a wallet. */
  readonly orders: Ask<OrderHistory> | null
  /** Null without an institution. */
  readonly members: Ask<Members> | null
  /** Null without an institution, and for its admin, who writes the rulebook. */
  readonly standing: Ask<Standing | null> | null
  /** Null without a node. */
  readonly events: Ask<LogsSoFar> | null
}

interface Sources {
  readonly session: Session | null
  readonly orgId: Hex | null
  readonly isAdmin: boolean
  /** Of the events. */
  readonly provider: Provider | null
}

export function useHistories(settings: Settings, { session, orgId, isAdmin, provider }: Sources): Histories {
  const orders = useMemo(
    () =>
      session === null ? null : remembered(createOrderHistory(session.provider, settings, session.address)),
    [session, settings],
  )
  const members = useMemo(
    () =>
      session === null || orgId === null
        ? null
        : remembered(createMembersReader(session.provider, settings, orgId)),
    [session, settings, orgId],
  )
  const standing = useMemo(
    () =>
      session === null || orgId === null || isAdmin
        ? null
        : createStandingReader(session.provider, settings, { orgId, wallet: session.address }),
    [session, settings, orgId, isAdmin],
  )
  const events = useMemo(
    () => (provider === null ? null : remembered(createEventsReader(provider, settings))),
    [provider, settings],
  )
  return { orders, members, standing, events }
}
