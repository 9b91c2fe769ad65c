import { useEffect, useRef, useState } from 'preact/hooks'
import { bytes32ToName, type EndedMove, type PastMoves, type PendingMove } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { ListState } from '../parts/listState.js'
import { Paged } from '../parts/paged.js'
import type { Query } from '../query.js'
import { useStore } from '../state/context.js'
import { dayOf, shortHex } from '../words/format.js'
import { endWords, moveWords } from '../words/moves.js'
import { useNames, WalletName } from './walletName.js'

interface Act {
  readonly says: string
  readonly act: () => Promise<unknown>
  /** What it leads to: asked about once more, beside the whole addresses. Nothing by default. */
  readonly leadsTo?: string
}

interface MoveListProps {
  readonly query: Query<PastMoves>
  /** The buttons of a move. */
  readonly actions: (move: PendingMove) => readonly Act[]
}

/** Moves of portfolios: those that have not ended, each with what it waits for, then how the others ended. */
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
      <Ended moves={query.value?.ended ?? []} />
    </>
  )
}

function Ended({ moves }: { readonly moves: readonly EndedMove[] }) {
  if (moves.length === 0) return null
  return (
    <details data-test="ended-moves">
      <summary>Ended: {moves.length}</summary>
      <Paged
        id="ended-moves"
        what="ended moves"
        items={moves}
        textOf={({ orgId, from, to }) => `${bytes32ToName(orgId)} ${from} ${to}`}
      >
        {(shown) => (
          <ul>
            {shown.map((move) => (
              <li key={move.from}>
                From <WalletName address={move.from} /> to <WalletName address={move.to} />, {dayOf(move.at)}:{' '}
                {endWords(move)}
                {move.by === null || move.by === move.from ? null : (
                  <>
                    {' '}
                    <WalletName address={move.by} />
                  </>
                )}
                .
              </li>
            ))}
          </ul>
        )}
      </Paged>
    </details>
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
  const [asked, setAsked] = useState<Act | null>(null)
  const perform = ({ act }: Act) =>
    run(async () => {
      await act()
      setAsked(null)
      onDone()
    })
  const subject = `the move of ${nameOf(move.from) ?? shortHex(move.from)}`
  return (
    <li>
      <span>
        <b>{bytes32ToName(move.orgId) ?? shortHex(move.orgId)}:</b> from <WalletName address={move.from} /> to{' '}
        <WalletName address={move.to} />. {moveWords(move, now.value)}
      </span>
      {actions.map((one) => (
        <button
          key={one.says}
          type="button"
          class="quiet"
          disabled={busy}
          aria-label={`${one.says} ${subject}`}
          onClick={() => (one.leadsTo === undefined ? perform(one) : setAsked(one))}
        >
          {busy ? 'Waiting…' : one.says}
        </button>
      ))}
      {asked === null ? null : (
        <Question
          move={move}
          act={asked}
          busy={busy}
          onYes={() => perform(asked)}
          onNo={() => setAsked(null)}
        />
      )}
      <FailureBox error={error} />
    </li>
  )
}

interface QuestionProps {
  readonly move: PendingMove
  readonly act: Act
  readonly busy: boolean
  readonly onYes: () => void
  readonly onNo: () => void
}

/** Shows both addresses whole: an address can be made whose first and last digits are another's. */
function Question({ move: { from, to }, act: { says, leadsTo }, busy, onYes, onNo }: QuestionProps) {
  const no = useRef<HTMLButtonElement>(null)
  useEffect(() => no.current?.focus(), [])
  return (
    <div class="box box-warn" role="alert" data-test="move-question">
      <p>
        From <code class="whole">{from}</code> to <code class="whole">{to}</code>. {leadsTo}
      </p>
      <p class="row">
        <button type="button" disabled={busy} onClick={onYes}>
          {busy ? 'Waiting…' : `Yes, ${says.toLowerCase()}`}
        </button>
        <button type="button" ref={no} disabled={busy} onClick={onNo}>
          Not now
        </button>
      </p>
    </div>
  )
}
