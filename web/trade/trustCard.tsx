import { useState } from 'preact/hooks'
import type { Evidence } from '../../src/client/index.js'
import { Card } from '../parts/card.js'
import { PolledFailure } from '../parts/failureBox.js'
import { useAccount, useStore } from '../state/context.js'
import { isAsleep, isOfNode } from '../words/failures.js'
import {
  attestedLines,
  changeWords,
  fileKeyLines,
  holdersOf,
  settingRows,
  type TrustLines,
} from '../words/trust.js'
import './trustCard.css'

/** Hardware, program, keys and settings, each for itself: open until the wallet has ordered, and then on request. */
export function TrustCard() {
  const { settings } = useStore()
  const { trust, orders } = useAccount()
  // Null until its reader has opened or closed it.
  const [chosen, setChosen] = useState<boolean | null>(null)
  const isNew = orders.history.answered && orders.listed.value.length === 0
  const isOpen = chosen ?? isNew
  const isAttested = settings.measurements !== undefined
  const evidence = trust.value?.evidence
  const { error } = trust
  return (
    <Card
      title="Who can open your orders"
      aside={isAttested ? null : <span class="tag tag-warn">file keys, not attested</span>}
    >
      <PolledFailure error={error} />
      {isAttested ? (
        <Attested evidence={error === null ? evidence : undefined} error={error} />
      ) : (
        <p class="box box-warn" data-test="file-keys">
          <strong>Nothing proves who else can.</strong> The operator of the enclave’s machine can read its
          memory, and so every order. This page trusts a key that its own operator wrote into it.
        </p>
      )}
      {isAttested && evidence?.next !== undefined && error === null ? <Change next={evidence.next} /> : null}
      <details
        open={isOpen}
        data-test="trust"
        onToggle={({ currentTarget: { open } }) => open !== isOpen && setChosen(open)}
      >
        <summary>Hardware, program, keys and settings</summary>
        {isAttested ? null : <Lines lines={fileKeyLines(settings.pins.enclavePublicKey)} />}
        {isAttested && error === null && evidence !== undefined ? <Proof evidence={evidence} /> : null}
        {isAttested && (error !== null || evidence === undefined) ? (
          <p class="muted">Nothing is proved at the moment.</p>
        ) : null}
      </details>
    </Card>
  )
}

/** The answer to the card's title. */
function Attested({ evidence, error }: { evidence: Evidence | undefined; error: unknown }) {
  if (evidence !== undefined) {
    return (
      <p class="muted">
        The program below, and the broker that trades for you.{' '}
        {holdersOf(evidence.verified.statement.configuration)} together could, too. Your browser checks the
        program again before each order.
      </p>
    )
  }
  if (error === null) return <p class="muted">Checking the evidence…</p>
  return isAsleep(error) || isOfNode(error) ? (
    <p class="muted">This cannot be checked at the moment, and no order is sealed until it is.</p>
  ) : null
}

function Change({ next }: { next: NonNullable<Evidence['next']> }) {
  const { now } = useStore()
  const { says, isKnown } = changeWords(next, new Date(now.value))
  return (
    <p class={isKnown ? 'box box-wait' : 'box box-warn'} role="status" data-test="announced-change">
      <strong>A change is announced.</strong> {says}
    </p>
  )
}

function Proof({ evidence }: { evidence: Evidence }) {
  const { settings, now } = useStore()
  const lines = attestedLines(evidence, new Date(now.value))
  const isTest = IS_SANDBOX && settings.testRoot !== undefined
  return (
    <>
      <Lines
        lines={
          isTest
            ? { ...lines, hardware: 'None: a stand-in for trials vouches, which proves nothing.' }
            : lines
        }
      />
      <details>
        <summary>All settings of the program</summary>
        <dl class="trust-settings" data-test="trust-settings">
          {settingRows(evidence.verified.statement.configuration).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  )
}

function Lines({ lines }: { lines: TrustLines }) {
  return (
    <dl class="facts trust-lines" data-test="trust-lines">
      <dt>Hardware</dt>
      <dd>{lines.hardware}</dd>
      <dt>Program</dt>
      <dd>{lines.program}</dd>
      <dt>Keys</dt>
      <dd>{lines.keys}</dd>
      <dt>Settings</dt>
      <dd>{lines.settings}</dd>
    </dl>
  )
}
