import { useMemo, useRef } from 'preact/hooks'
import { Header } from './header.js'
import { MoveNotices } from './membership/moveNotice.js'
import { NodeFailures, PolledFailure, SaidAbove } from './parts/failureBox.js'
import { later } from './parts/later.js'
import { ConnectScreen } from './screens/connect.js'
import { DeskScreen } from './screens/desk.js'
import { WrongChain } from './screens/wrongChain.js'
import type { Settings } from './settings.js'
import { AccountContext, StoreContext, useStore } from './state/context.js'
import { createStore, type Store } from './state/store.js'
import { isAsleep } from './words/failures.js'
import './app.css'

// Most people trade, and see neither.
const InstitutionScreen = later(async () => (await import('./screens/institution.js')).InstitutionScreen)
const OperatorScreen = later(async () => (await import('./screens/operator.js')).OperatorScreen)

export function App({ settings }: { settings: Settings }) {
  const store = useMemo(() => createStore(settings), [settings])
  const main = useRef<HTMLElement>(null)
  const { error } = store.clock
  const account = store.account.value
  return (
    <StoreContext.Provider value={store}>
      <AccountContext.Provider value={account}>
        {/* A button, not a link: the URL fragment is the route, so following a link would leave the screen. */}
        <button type="button" class="skip" onClick={() => main.current?.focus()}>
          Skip to the content
        </button>
        <Header />
        <main id="main" tabIndex={-1} ref={main}>
          {location.origin !== settings.origin ? (
            <ForeignOrigin origin={settings.origin} />
          ) : isAsleep(error) ? (
            <PolledFailure error={error} />
          ) : null}
          <SaidAbove.Provider value={isAsleep(error)}>
            {account?.session.chainId === settings.chain.id ? <MoveNotices key={account.session} /> : null}
            <NodeFailures>
              <Screen key={account?.session} store={store} />
            </NodeFailures>
          </SaidAbove.Provider>
        </main>
        <ToastList />
      </AccountContext.Provider>
    </StoreContext.Provider>
  )
}

function Screen({ store: { route, account, settings } }: { store: Store }) {
  if (route.value === 'operator') return <OperatorScreen />
  if (account.value === null) return <ConnectScreen />
  const { session, orgId } = account.value
  if (session.chainId !== settings.chain.id) return <WrongChain />
  return route.value === 'institution' && orgId.value !== null ? (
    <InstitutionScreen key={orgId.value} orgId={orgId.value} />
  ) : (
    <DeskScreen />
  )
}

/** A browser hides the reason of a blocked request; comparing the origins shows it. */
function ForeignOrigin({ origin }: { origin: string }) {
  return (
    <div class="box box-bad" role="alert">
      <strong>The server does not allow this page's address</strong>
      <p>
        It only answers pages of one origin. Open <a href={origin}>{origin}</a> instead.
      </p>
    </div>
  )
}

/** How many of the orders that were placed here are followed on every screen. */
const FOLLOWED = 5

/** Reports each order sent and ended, on every screen. */
function ToastList() {
  const { toasts, account } = useStore()
  const orders = account.value?.orders
  // Reading follows the orders, also where no card shows them.
  void account.value?.progress.value
  for (const orderId of orders?.memory.value.placed.slice(0, FOLLOWED) ?? []) {
    void orders?.of(orderId).status.value
  }
  return (
    <div class="toasts" role="status" data-test="toasts">
      {toasts.shown.value.map(({ id, tone, says }) => (
        <div key={id} class={`toast toast-${tone}`}>
          <span>{says}</span>
          <button type="button" class="quiet" onClick={() => toasts.dismiss(id)}>
            Dismiss
          </button>
        </div>
      ))}
    </div>
  )
}
