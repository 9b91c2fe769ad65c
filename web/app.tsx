import { useCallback, useMemo } from 'preact/hooks'
import { createServerViews } from '../src/client/index.js'
import { Header } from './header.js'
import { usePolled } from './hooks/usePolled.js'
import { type Route, useRoute } from './hooks/useRoute.js'
import { useSession } from './hooks/useSession.js'
import { FailureBox } from './parts/failureBox.js'
import { ConnectScreen } from './screens/connect.js'
import { DeskScreen } from './screens/desk.js'
import { WrongChain } from './screens/wrongChain.js'
import type { Settings } from './settings.js'
import { isAsleep } from './words/failures.js'

const CLOCK_MS = 5_000
/** The page asks again by itself, and says meanwhile what is wrong. */
const ONCE = { attempts: 1, baseMs: 0, maxMs: 0 }
const TIMEOUT_MS = 8_000

const PLACES: readonly (readonly [Route, string])[] = [['desk', 'Desk']]

export function App({ settings }: { settings: Settings }) {
  const route = useRoute()
  const sessions = useSession(settings)
  const { session } = sessions
  const views = useMemo(
    () => createServerViews({ serverUrl: settings.serverUrl, timing: ONCE, timeoutMs: TIMEOUT_MS }),
    [settings],
  )
  const clock = usePolled(
    useCallback((signal: AbortSignal) => views.clock(signal), [views]),
    CLOCK_MS,
  )
  const isHome = location.origin === settings.origin
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header route={route} places={PLACES} clock={clock.value} sessions={sessions} />
      <main id="main" tabIndex={-1}>
        {isHome ? null : <ForeignOrigin origin={settings.origin} />}
        {isHome && isAsleep(clock.error) ? <FailureBox error={clock.error} /> : null}
        {session === null ? (
          <ConnectScreen sessions={sessions} />
        ) : session.chainId !== settings.chain.id ? (
          <WrongChain session={session} settings={settings} />
        ) : (
          <DeskScreen
            key={session.address}
            session={session}
            views={views}
            settings={settings}
            clock={clock.value}
          />
        )}
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
