import type { Views } from '../../src/client/index.js'
import type { LogsSoFar } from '../chain/logs.js'
import type { Ask } from '../chain/remembered.js'
import { AdmitCard } from '../operator/admitCard.js'
import { EventsCard } from '../operator/eventsCard.js'
import { HealthCard } from '../operator/healthCard.js'
import { VerifyCard } from '../operator/verifyCard.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'

interface OperatorProps {
  /** Null where nothing reads the chain. */
  readonly readEvents: Ask<LogsSoFar> | null
  readonly session: Session | null
  readonly views: Views
  readonly settings: Settings
}

/** How the platform is doing. Without a node of the page's own, the chain is read through the wallet. */
export function OperatorScreen({ readEvents, session, views, settings }: OperatorProps) {
  return (
    <>
      <h1>Operator</h1>
      <div class="columns">
        <div>
          {readEvents === null ? (
            <p class="muted">Connect a wallet: the page reads the chain through it.</p>
          ) : (
            <EventsCard readEvents={readEvents} />
          )}
        </div>
        <div>
          {session === null ? null : <VerifyCard session={session} settings={settings} />}
          {session === null ? null : <AdmitCard session={session} settings={settings} />}
          <HealthCard views={views} settings={settings} />
        </div>
      </div>
    </>
  )
}
