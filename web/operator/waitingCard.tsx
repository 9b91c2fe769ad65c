import { bytes32ToName, type Hex } from '../../src/client/index.js'
import { applyChange } from '../../src/client/operator.js'
import { useNames, WalletName } from '../membership/walletName.js'
import { Card } from '../parts/card.js'
import { ListState } from '../parts/listState.js'
import { Paged } from '../parts/paged.js'
import { useStore } from '../state/context.js'
import { shortHex } from '../words/format.js'
import { OwnersButton } from './ownersButton.js'

/** A founder with the institution, or a member that waits for KYC. */
interface Item {
  readonly orgId: Hex | null
  readonly wallet: Hex
}

/** Institutions that wait for admission and members that wait for KYC. The owner has a button for each. */
export function WaitingCard() {
  const { waiting } = useStore()
  const nameOf = useNames()
  const { founded = [], unverified = [] } = waiting.value ?? {}
  const items: readonly Item[] = [
    ...founded.map(({ orgId, founder }) => ({ orgId, wallet: founder })),
    ...unverified.map((wallet) => ({ orgId: null, wallet })),
  ]
  const nameOfOrg = (orgId: Hex) => bytes32ToName(orgId) ?? shortHex(orgId)
  return (
    <Card title="Waiting for you" aside={items.length === 0 ? null : <span class="tag">{items.length}</span>}>
      <ListState
        what="members and institutions"
        query={waiting}
        count={items.length}
        none="No institution is waiting for admission, and no member for verification."
      />
      <Paged
        id="waiting"
        what="waiting"
        items={items}
        textOf={({ orgId, wallet }) =>
          `${orgId === null ? '' : nameOfOrg(orgId)} ${nameOf(wallet) ?? ''} ${wallet}`
        }
      >
        {(shown) => (
          <ul class="waiting" data-test="waiting">
            {shown.map(({ orgId, wallet }) =>
              orgId === null ? (
                <li key={wallet}>
                  <WalletName address={wallet} />
                  <OwnersButton
                    says="Verify"
                    subject={nameOf(wallet) ?? shortHex(wallet)}
                    act={({ session }) =>
                      applyChange(session.client, { kind: 'kyc', wallet, isVerified: true })
                    }
                    onDone={waiting.refresh}
                  />
                </li>
              ) : (
                <li key={`${orgId} ${wallet}`}>
                  <b>{nameOfOrg(orgId)}</b> of <WalletName address={wallet} />
                  <OwnersButton
                    says="Admit"
                    subject={nameOfOrg(orgId)}
                    act={({ session }) =>
                      applyChange(session.client, {
                        kind: 'admission',
                        orgId,
                        admin: wallet,
                        isAdmitted: true,
                      })
                    }
                    onDone={waiting.refresh}
                  />
                </li>
              ),
            )}
          </ul>
        )}
      </Paged>
    </Card>
  )
}
