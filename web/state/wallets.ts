import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import type { Settings } from '../settings.js'
import { discoverWallets, type FoundWallet, injectedProvider, injectedWallet } from '../wallet/discovery.js'
import { demoWallet } from '../wallet/node.js'
import { isSameSession, openSession, resumeSession, type Session, watchWallet } from '../wallet/session.js'
import type { BrowserState } from './browser.js'

/**
 * The available wallets and the connected one. After a reload or a wallet change, the user is not asked again: a wallet
 * that does not reveal its account is disconnected.
 */
export interface Wallets {
  readonly found: ReadonlySignal<readonly FoundWallet[]>
  readonly session: ReadonlySignal<Session | null>
  /** The wallet whose connection is pending. */
  readonly connecting: ReadonlySignal<FoundWallet | null>
  readonly error: ReadonlySignal<unknown>
  connect(wallet: FoundWallet): void
  /** Cancels the pending connection; a later answer is ignored. */
  cancel(): void
  disconnect(): void
}

const LAST_WALLET = 'desk:wallet'

export function createWallets(settings: Settings, { now }: Pick<BrowserState, 'now'>): Wallets {
  const found = createFound(settings, now)
  const session = signal<Session | null>(null)
  const connecting = signal<FoundWallet | null>(null)
  const error = signal<unknown>(null)
  /** Wallets may answer in any order; only the answer to the latest request counts. */
  let turn = 0

  function cancel() {
    turn += 1
    connecting.value = null
  }
  function disconnect() {
    cancel()
    sessionStorage.removeItem(LAST_WALLET)
    session.value = null
  }
  async function enter(wallet: FoundWallet, open: typeof openSession) {
    turn += 1
    const mine = turn
    error.value = null
    try {
      const opened = await open(wallet, settings)
      if (mine !== turn) return
      if (opened === null) return disconnect()
      connecting.value = null
      sessionStorage.setItem(LAST_WALLET, wallet.id)
      session.value = replaced(session.peek(), opened)
    } catch (failure) {
      if (mine !== turn) return
      connecting.value = null
      session.value = null
      error.value = failure
    }
  }

  effect(() => {
    const opened = session.value
    if (opened === null) return
    return watchWallet(opened.wallet, () => enter(opened.wallet, resumeSession))
  })
  let isResumed = sessionStorage.getItem(LAST_WALLET) === null
  effect(() => {
    if (isResumed) return
    const last = found.value.find(({ id }) => id === sessionStorage.getItem(LAST_WALLET))
    if (last === undefined) return
    isResumed = true
    enter(last, resumeSession)
  })
  return {
    ...{ found, session, connecting, error, cancel, disconnect },
    connect(wallet) {
      isResumed = true
      connecting.value = wallet
      enter(wallet, openSession)
    },
  }
}

/** Keeps the previous session if unchanged: its derived key would need new signatures. */
function replaced(before: Session | null, opened: Session): Session {
  return before === null || !isSameSession(before, opened) ? opened : before
}

function createFound(
  { demoWallets, chain: { rpcUrl } }: Settings,
  now: BrowserState['now'],
): ReadonlySignal<readonly FoundWallet[]> {
  const announced = signal<readonly FoundWallet[]>([])
  discoverWallets((wallet) => {
    announced.value = [...announced.peek(), wallet]
  })
  const demo = rpcUrl === null ? [] : demoWallets.map((wallet) => demoWallet(wallet, rpcUrl))
  // A provider may appear late or be replaced. The wallet's identity marks the pending connection, so it stays.
  const provider = computed(() => {
    now.value
    return injectedProvider()
  })
  const injected = computed(() => (provider.value === null ? null : injectedWallet(provider.value)))
  return computed(() => {
    if (announced.value.length > 0) return [...announced.value, ...demo]
    return injected.value === null ? demo : [injected.value, ...demo]
  })
}
