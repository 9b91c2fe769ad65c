import type { PendingMove, PendingMoves } from '../../src/client/index.js'
import { bytes32ToName } from '../../src/protocol/identifiers.js'
import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { ListState } from '../parts/listState.js'
import { Paged } from '../parts/paged.js'
import type { Query } from '../query.js'
import { useStore } from '../state/context.js'
import { shortHex } from '../words/format.js'
import { moveWords } from '../words/moves.js'
import { useNames, WalletName } from './walletName.js'

type Act = readonly [says: string, act: () => Promise<unknown>]

interface MoveListProps {
  readonly query: Query<PendingMoves>
  /** The buttons of a move. */
  readonly actions: (move: PendingMove) => readonly Act[]
}

/** Moves of portfolios that have not ended, each with what it waits for. */
export function MoveList({ query, actions }: MoveListProps) {
  const moves = query.value?.moves ?? []
  return (
    <>
      <ListState what="moves" query={query} count={moves.length} none="No move is proposed." />
      <Paged
        id="moves"
        what="moves"
        items={moves}
        textOf={({ orgId, from, to }) => `${bytes32ToName(orgId)} ${from} ${to}`}
      >
        {(shown) =>
          shown.length === 0 ? null : (
            <ul class="waiting" data-test="moves">
              {shown.map((move) => (
                <Move key={move.from} move={move} actions={actions(move)} onDone={query.refresh} />
              ))}
            </ul>
          )
        }
      </Paged>
    </>
  )
}

interface MoveProps {
  readonly move: PendingMove
  readonly actions: readonly Act[]
  readonly onDone: () => void
}

function Move({ move, actions, onDone }: MoveProps) {
  const { now } = useStore()
  const nameOf = useNames()
  const { busy, error, run } = useAction()
  const subject = `the move of ${nameOf(move.from) ?? shortHex(move.from)}`
  return (
    <li>
      <span>
        <b>{bytes32ToName(move.orgId) ?? shortHex(move.orgId)}:</b> from <WalletName address={move.from} /> to{' '}
        <WalletName address={move.to} />. {moveWords(move, now.value)}
      </span>
      {actions.map(([says, act]) => (
        <button
          key={says}
          type="button"
          class="quiet"
          disabled={busy}
          aria-label={`${says} ${subject}`}
          onClick={() =>
            run(async () => {
              await act()
              onDone()
            })
          }
        >
          {busy ? 'Waiting…' : says}
        </button>
      ))}
      <FailureBox error={error} />
    </li>
  )
}
