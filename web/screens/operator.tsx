import { AdmitCard } from '../operator/admitCard.js'
import { EventsCard } from '../operator/eventsCard.js'
import { HealthCard } from '../operator/healthCard.js'
import { ListingsCard } from '../operator/listingsCard.js'
import { MovesCard } from '../operator/movesCard.js'
import { ReadinessCard } from '../operator/readinessCard.js'
import { VerifyCard } from '../operator/verifyCard.js'
import { WaitingCard } from '../operator/waitingCard.js'
import { useStore } from '../state/context.js'

/** The platform's state. Without its own node, the page reads the chain through the wallet. */
export function OperatorScreen() {
  const { canRead, account } = useStore()
  return (
    <>
      <h1>Operator</h1>
      <div class="columns">
        <div>
          {canRead.value ? (
            <EventsCard />
          ) : (
            <p class="muted">Connect a wallet: the page reads the chain through it.</p>
          )}
        </div>
        <div>
          {canRead.value ? <WaitingCard /> : null}
          <ReadinessCard />
          {canRead.value ? <MovesCard /> : null}
          {canRead.value ? <ListingsCard /> : null}
          {account.value === null ? null : <VerifyCard />}
          {account.value === null ? null : <AdmitCard />}
          <HealthCard />
        </div>
      </div>
    </>
  )
}
