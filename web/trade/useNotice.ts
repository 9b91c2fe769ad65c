import { useEffect, useState } from 'preact/hooks'
import type { Client, Notice, OrderStatus } from '../../src/client/index.js'
import { hasEnded } from './hasEnded.js'

/** A notice that was opened, and why it was not the last time. */
export interface OpenedNotice {
  readonly notice: Notice | null
  readonly error: unknown
}

const NONE: OpenedNotice = { notice: null, error: null }

/** Opens the notice of an order that has ended, once the wallet has signed for the key. `status` is the newest. */
export function useNotice(
  client: Pick<Client, 'openNotice'>,
  status: OrderStatus | null,
  unlocked: boolean,
): OpenedNotice {
  const [opened, setOpened] = useState(NONE)
  useEffect(() => {
    if (!unlocked || status === null || !hasEnded(status)) return
    let ended = false
    client.openNotice(status).then(
      (notice) => ended || setOpened({ notice, error: null }),
      (error: unknown) => ended || setOpened((before) => ({ ...before, error })),
    )
    return () => {
      ended = true
    }
  }, [client, status, unlocked])
  return opened
}
