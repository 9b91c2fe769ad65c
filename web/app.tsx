import { useCallback, useMemo, useRef } from 'preact/hooks'
import { createReader } from '../src/client/index.js'
import { Header } from './header.js'
import { clockPace } from './hooks/pace.js'
import { useCharts } from './hooks/useCharts.js'
import { useHistories } from './hooks/useHistories.js'
import { useMemory } from './hooks/useMemory.js'
import { usePolled } from './hooks/usePolled.js'
import { useReader } from './hooks/useReader.js'
import { type Route, useRoute } from './hooks/useRoute.js'
import { useSession } from './hooks/useSession.js'
import { useWalletView } from './hooks/useWalletView.js'
import { useRulebook } from './institution/useRulebook.js'
import { PolledFailure, SaidAbove } from './parts/polledFailure.js'
import { ConnectScreen } from './screens/connect.js'
import { DeskScreen } from './screens/desk.js'
import { InstitutionScreen } from './screens/institution.js'
import { OperatorScreen } from './screens/operator.js'
import { WrongChain } from './screens/wrongChain.js'
import type { Settings } from './settings.js'
import { isAsleep } from './words/failures.js'

/** The page asks again by itself, and says meanwhile what is wrong. */
const ONCE = { attempts: 1, baseMs: 0, maxMs: 0 }
const TIMEOUT_MS = 8_000

export function App({ settings }: { settings: Settings }) {
  const route = useRoute()
  const main = useRef<HTMLElement>(null)
  const sessions = useSession(settings)
  const { session } = sessions
  const views = useMemo(
    () => createReader({ serverUrl: settings.serverUrl, timing: ONCE, timeoutMs: TIMEOUT_MS }).views,
    [settings],
  )
  const clock = usePolled(
    useCallback((signal: AbortSignal) => views.clock(signal), [views]),
    clockPace,
  )
  const view = useWalletView(views, session)
  const reader = useReader(settings, session)
  const charts = useCharts()
  const memory = useMemory(session)
  const rulebook = useRulebook(session)
  const orgId = view.value?.orgId ?? null
  const isAdmin = view.value?.role === 'admin'
  const histories = useHistories(settings, { session, orgId, isAdmin, provider: reader })
  const places: readonly (readonly [Route, string])[] = [
    ['desk', 'Desk'],
    ...(orgId === null ? [] : ([['institution', 'Institution']] as const)),
    ['operator', 'Operator'],
  ]

  const screen = () => {
    if (route === 'operator') {
      return (
        <OperatorScreen readEvents={histories.events} session={session} views={views} settings={settings} />
      )
    }
    if (session === null) return <ConnectScreen sessions={sessions} />
    if (session.chainId !== settings.chain.id) return <WrongChain session={session} settings={settings} />
    if (route === 'institution' && orgId !== null && histories.members !== null) {
      return (
        <InstitutionScreen
          key={session}
          session={session}
          views={views}
          settings={settings}
          readMembers={histories.members}
          orgId={orgId}
          isAdmin={isAdmin}
          leavingAt={view.value?.leavingAt ?? null}
          onLeave={view.refresh}
          rulebook={rulebook}
        />
      )
    }
    if (histories.orders === null) return null
    return (
      <DeskScreen
        key={session}
        session={session}
        settings={settings}
        views={views}
        readOrders={histories.orders}
        readStanding={histories.standing}
        view={view}
        clock={clock.value}
        charts={charts}
        memory={memory}
      />
    )
  }

  return (
    <>
      {/* No link: the part of the address after # is the route, and following one would leave the screen. */}
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <Header route={route} places={places} clock={clock} sessions={sessions} />
      <main id="main" tabIndex={-1} ref={main}>
        {location.origin !== settings.origin ? (
          <ForeignOrigin origin={settings.origin} />
        ) : isAsleep(clock.error) ? (
          <PolledFailure error={clock.error} />
        ) : null}
        <SaidAbove.Provider value={isAsleep(clock.error)}>{screen()}</SaidAbove.Provider>
      </main>
    </>
  )
}

/** The browser does not say why it got no answer; the address does. */
function ForeignOrigin({ origin }: { origin: string }) {
  return (
    <div class="box box-bad" role="alert">
      <strong>This page has another address than the server allows</strong>
      <p>
        It answers pages of one origin alone. Open <a href={origin}>{origin}</a> instead.
      </p>
    </div>
  )
}
