import type { Provider } from 'ethers'
import type { Views } from '../../src/client/index.js'
import { EventsCard } from '../operator/eventsCard.js'
import { HealthCard } from '../operator/healthCard.js'
import { VerifyCard } from '../operator/verifyCard.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'

interface OperatorProps {
  readonly provider: Provider | null
  readonly session: Session | null
  readonly views: Views
  readonly settings: Settings
}

/** How the platform is doing. Without a node of the page's own, the chain is read through the wallet. */
export function OperatorScreen({ provider, session, views, settings }: OperatorProps) {
  return (
    <>
      <h1>Operator</h1>
      <div class="columns">
        <div>
          {provider === null ? (
            <p class="muted">Connect a wallet: the page reads the chain through it.</p>
          ) : (
            <EventsCard provider={provider} settings={settings} />
          )}
        </div>
        <div>
          {session === null ? null : <VerifyCard session={session} settings={settings} />}
          <HealthCard views={views} settings={settings} />
        </div>
      </div>
    </>
  )
}
