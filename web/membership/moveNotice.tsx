import { useState } from 'preact/hooks'
import { type AccountMove, bytes32ToName, ClientError, type PendingMove } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { isKeyMissing } from '../state/account.js'
import { useAccount, useStore } from '../state/context.js'
import { moveWords } from '../words/moves.js'

/** Shows, on every screen, that this wallet's portfolio is to be moved, or that one is to be moved to this wallet. */
export function MoveNotices() {
  const { move, movesHere } = useAccount()
  const [hasObjected, setObjected] = useState(false)
  return (
    <>
      {move.value === null ? null : <Objection move={move.value} onObjected={() => setObjected(true)} />}
      {hasObjected && move.value === null ? (
        <p class="box box-good" role="status" data-test="objected">
          You have objected. The portfolio stays with this wallet.
        </p>
      ) : null}
      {movesHere.value?.moves.map((one) =>
        one.isAccepted ? <Accepted key={one.from} move={one} /> : <Acceptance key={one.from} move={one} />,
      )}
    </>
  )
}

/** For the wallet whose portfolio is to be moved: it can object until the move has been carried out. */
function Objection({ move: found, onObjected }: { move: AccountMove; onObjected: () => void }) {
  const { session, move } = useAccount()
  const { now } = useStore()
  const { busy, error, run } = useAction()
  const object = () =>
    run(async () => {
      await session.client.withdrawMove()
      onObjected()
      move.refresh()
    })
  return (
    <div class="box box-bad" role="alert" data-test="move">
      <strong>This wallet’s portfolio is to be moved to another wallet</strong>
      <p>
        The admin of {bytes32ToName(found.orgId) ?? 'your institution'} proposes to move it to{' '}
        <code class="whole">{found.to}</code>. {moveWords(found, now.value)}
      </p>
      <p>
        A portfolio is moved when its wallet’s key is lost. You still have the key: object, unless you asked
        for this move. Once it is carried out, nothing brings the portfolio back.
      </p>
      <button type="button" class="primary" disabled={busy} onClick={object}>
        {busy ? 'Objecting…' : 'Object: the portfolio stays here'}
      </button>
      <FailureBox error={error} />
    </div>
  )
}

/** For the new wallet, which has done its part. */
function Accepted({ move }: { move: PendingMove }) {
  const { now } = useStore()
  return (
    <p class="box" role="status" data-test="move-accepted">
      The portfolio of <code class="whole">{move.from}</code> is to be moved to this wallet.{' '}
      {moveWords(move, now.value)}
    </p>
  )
}

/** For the new wallet of a person whose wallet is lost. */
function Acceptance({ move: { from, orgId } }: { move: PendingMove }) {
  const { session, movesHere, key, unlock } = useAccount()
  const { busy, error, run } = useAction()
  const accept = () =>
    run(async () => {
      // The portfolio would be sealed to the older key, which may be phished.
      if (isKeyMissing(session.address, key.peek())) {
        throw new ClientError('portfolio-key-missing', 'A newer portfolio key was made.')
      }
      await unlock()
      await session.client.acceptMove(from)
      movesHere.refresh()
    })
  return (
    <div class="box box-warn" role="status" data-test="move-here">
      <strong>A portfolio is to be moved to this wallet</strong>
      <p>
        The admin of {bytes32ToName(orgId) ?? 'your institution'} proposes to move the portfolio of{' '}
        <code class="whole">{from}</code> here. Accept it only if that is your own lost wallet. The platform’s
        owner approves it next, and a week later it can be carried out. Your wallet signs twice for the key
        that the portfolio is sealed to, unless you have chosen a key file.
      </p>
      <button type="button" class="primary" disabled={busy} onClick={accept}>
        {busy ? 'Accepting…' : 'Accept the portfolio'}
      </button>
      <FailureBox error={error} />
    </div>
  )
}
