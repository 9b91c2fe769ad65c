import { useEffect, useMemo } from 'preact/hooks'
import type { PartsOnChain } from '../../src/client/admin.js'
import type { Hex } from '../../src/client/index.js'
import { useChanges } from '../hooks/useChanges.js'
import { useNames } from '../membership/walletName.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { ListState } from '../parts/listState.js'
import { Paged } from '../parts/paged.js'
import {
  beginningOf,
  isUncovered,
  isUnknown,
  maxOrderOf,
  policyOf,
  type RulebookDraft,
  type RulebookInForce,
  type RulesDraft,
  type SharedRules,
  withEmployees,
  withRules,
} from '../rulebooks/rulebookDraft.js'
import { useAccount, useStore } from '../state/context.js'
import { inForceOf, isInForce } from '../state/rulebookWork.js'
import { Changes } from './changes.js'
import { CopyBox } from './copyBox.js'
import { ImportBox } from './importBox.js'
import { RulesHead } from './rights.js'
import { RulesRow } from './rulesRow.js'
import { SharedRulesBox } from './sharedRules.js'

interface RulebookProps {
  readonly orgId: Hex
  /** Null until the members have been read. */
  readonly employees: readonly Hex[] | null
  readonly symbols: readonly string[]
  /** The version in force when last read; 0 before the first one. */
  readonly version: number
}

/** The rules in force come from a copy: only the enclave can open the rulebook on the chain. */
export function Rulebook(props: RulebookProps) {
  const { orgId, employees, symbols } = props
  const { rulebook, institution, versions, members, isFileNeeded } = useAccount()
  const work = rulebook.state.value
  const { publishingSince, published, error } = work
  const inForce = inForceOf(work, props.version)
  const { version } = inForce
  const unknown = isUnknown(inForce)
  const busy = publishingSince !== null
  const draft = useMemo(() => work.draft ?? beginningOf(inForce), [work.draft, version, inForce.policy])
  const isOvertaken = work.draft !== null && work.draft.base !== version
  // A rulebook without its members would bar them all, so none is built before they are known.
  const lines = useMemo(
    () => employees && withEmployees(draft, employees, inForce).rules,
    [draft.rules, draft.groups, draft.byDefault, employees, version, inForce.policy],
  )
  const listed = symbols.join()
  const build = useMemo(() => {
    const maxOrder = maxOrderOf(draft)
    if (lines === null || maxOrder === null) return null
    return () => policyOf({ ...draft, rules: lines }, maxOrder, symbols)
  }, [draft, lines, listed])
  const isAmountWrong = lines !== null && build === null
  const review = useChanges(inForce.policy, build)
  const changes = review?.changes ?? null
  const isComparing = build !== null && !(review?.isCurrent ?? false)
  const isTooLarge = review !== null && !review.fits
  const isUnchanged = !unknown && version > 0 && changes?.length === 0
  const lifted = unknown ? 0 : (changes ?? []).filter(({ effect }) => effect === 'lifted').length
  const onEdit = (to: (before: RulebookDraft) => RulebookDraft) => rulebook.edit(to, inForce)
  useEffect(() => {
    rulebook.load(orgId, props.version)
  }, [rulebook, orgId, props.version])
  useEffect(() => {
    // A failure, too, may say that another version is in force.
    if (published === null && error === null) return
    institution.refresh()
    versions.refresh()
  }, [published, error, institution, versions])
  const buttonWords = () => {
    if (isOvertaken) return 'The draft is out of date'
    if (isAmountWrong) return 'Enter the largest order'
    if (isComparing) return 'Comparing the rules…'
    if (isUnchanged) return 'No changes to publish'
    return isTooLarge ? 'The rulebook is too large' : publishWords(version + 1, lifted, isFileNeeded.value)
  }
  const isBlocked = isAmountWrong || isComparing || isTooLarge || isUnchanged || isOvertaken
  const publish = (event: Event) => {
    event.preventDefault()
    if (review?.isCurrent && !isBlocked) rulebook.publish(review.policy, version)
  }
  return (
    <Card
      title="Rulebook"
      aside={
        <span class="muted" data-test="version">
          {version === 0 ? 'none published yet' : `version ${version} is in force`}
        </span>
      }
    >
      <p class="muted">
        Publishing replaces the whole rulebook. This page seals the new one, so that only the enclave can open
        it.{isFileNeeded.value ? null : ' A copy for you, sealed to your wallet, stays on this device.'}
      </p>
      {version === 0 || work.copies === null ? null : (
        <CopyBox
          key={version}
          version={version}
          isKnown={!unknown}
          copy={work.copies.get(version) ?? null}
          onOpen={(given) => rulebook.open(given, version)}
        />
      )}
      {work.cutOff === null || busy || work.cutOff < version ? null : (
        <CutOff version={work.cutOff} onResume={rulebook.resume} onForget={rulebook.forget} />
      )}
      {isOvertaken ? <Overtaken version={version} onRestart={rulebook.restart} /> : null}
      <form onSubmit={publish}>
        <ImportBox symbols={symbols} groups={draft.groups} inForce={inForce} />
        <SharedRulesBox draft={draft} symbols={symbols} onEdit={onEdit} />
        <Employees lines={lines ?? NOBODY} groups={draft.groups} symbols={symbols} inForce={inForce} />
        {lines === null ? (
          <ListState what="members" query={members} count={members.value?.members.length ?? 0} />
        ) : null}
        <Field
          label="Largest order, in USDC"
          id="max-order"
          hint="The enclave refuses larger orders."
          error={isAmountWrong && work.draft !== null ? 'Enter a plain number, such as 25000.' : null}
        >
          <input
            id="max-order"
            aria-describedby={hintId('max-order')}
            inputMode="decimal"
            autocomplete="off"
            aria-invalid={isAmountWrong && work.draft !== null}
            value={draft.maxOrder}
            onInput={({ currentTarget: { value } }) => onEdit((before) => ({ ...before, maxOrder: value }))}
          />
        </Field>
        <p>
          <label class="check">
            <input
              type="checkbox"
              checked={draft.allowWithdrawShares}
              onChange={({ currentTarget: { checked } }) =>
                onEdit((before) => ({ ...before, allowWithdrawShares: checked }))
              }
            />
            Shares may be withdrawn
          </label>
        </p>
        {changes === null || busy ? null : (
          <Changes
            changes={changes}
            version={version}
            isKnown={!unknown}
            restored={work.restored}
            onDiscard={work.draft === null || isOvertaken ? null : rulebook.restart}
          />
        )}
        {isTooLarge ? (
          <p class="box box-bad" role="alert">
            <strong>The rulebook is too large to publish.</strong> It has room for about 20,000 employees with
            two restricted symbols each. Give groups the rules that several share, or restrict fewer symbols.
          </p>
        ) : null}
        {isFileNeeded.value ? <Copyless /> : null}
        <button type="submit" class="primary" disabled={busy || build === null || isBlocked}>
          {busy ? 'Publishing…' : buttonWords()}
        </button>
      </form>
      {busy ? <Publishing since={publishingSince} parts={work.parts} /> : null}
      {isInForce(published, version) ? (
        <p class="box box-good" role="status">
          Version {published} is in force.
        </p>
      ) : null}
      <FailureBox error={error} />
    </Card>
  )
}

const NOBODY: readonly RulesDraft[] = []

interface EmployeesProps {
  readonly lines: readonly RulesDraft[]
  readonly groups: SharedRules['groups']
  readonly symbols: readonly string[]
  readonly inForce: RulebookInForce
}

/** The employees in pages: ten thousand rows would not stay usable. */
function Employees({ lines, groups, symbols, inForce }: EmployeesProps) {
  const { rulebook } = useAccount()
  const nameOf = useNames()
  return (
    <Paged
      id="employees"
      what="employees"
      items={lines}
      textOf={({ address, rule }) =>
        `${nameOf(address) ?? ''} ${address} ${'group' in rule ? rule.group : ''}`
      }
    >
      {(shown) => (
        <div class="scroll">
          <table class="rules">
            <RulesHead what="Employee" />
            <tbody>
              {shown.map((rules) => (
                <RulesRow
                  key={rules.address}
                  rules={rules}
                  groups={groups}
                  symbols={symbols}
                  isUncovered={isUncovered(inForce, rules.address)}
                  onChange={(changed) => rulebook.edit((before) => withRules(before, changed), inForce)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Paged>
  )
}

function publishWords(version: number, lifted: number, isCopyless: boolean): string {
  const publish = `Publish version ${version}${isCopyless ? ' without a copy' : ''}`
  return lifted === 0 ? publish : `${publish}, which lifts ${lifted === 1 ? 'a rule' : `${lifted} rules`}`
}

/** Warns an admin whose wallet derives no key, before it signs. */
function Copyless() {
  return (
    <div class="box box-warn" role="alert" data-test="copyless">
      <strong>No copy of the rulebook can be kept for you</strong>
      <p>
        Your wallet derives no key that would open it. At your next visit this page cannot show the rules in
        force, and its form starts with no member allowed. Make a key file under “Portfolio key” below, or
        choose yours, and publish after that.
      </p>
    </div>
  )
}

function Overtaken({ version, onRestart }: { version: number; onRestart: () => void }) {
  return (
    <div class="box box-bad" role="alert">
      <strong>Version {version} came into force while you were editing</strong>
      <p>The draft below is based on an older version, so it cannot be published.</p>
      <button type="button" onClick={onRestart}>
        Start again from version {version}
      </button>
    </div>
  )
}

interface CutOffProps {
  readonly version: number
  readonly onResume: () => void
  readonly onForget: () => void
}

/** Offers to go on with a publication whose answer was lost. It waits for its admin, who may have changed their mind. */
function CutOff({ version, onResume, onForget }: CutOffProps) {
  return (
    <div class="box box-warn" data-test="cut-off">
      <strong>The publication of version {version} was cut off</strong>
      <p>
        It may be in force already, or parts of it may be on the chain. Going on sends the same sealed
        rulebook again, and your wallet signs nothing.
      </p>
      <p class="row">
        <button type="button" onClick={onResume}>
          Go on with version {version}
        </button>
        <button type="button" class="quiet" onClick={onForget}>
          Forget it
        </button>
      </p>
    </div>
  )
}

interface PublishingProps {
  /** Milliseconds. */
  readonly since: number
  readonly parts: PartsOnChain | null
}

/** Progress while the server keeps the request open. */
export function Publishing({ since, parts }: PublishingProps) {
  const seconds = Math.max(0, Math.round((useStore().now.value - since) / 1_000))
  return (
    <div class="box">
      <p role="status">
        Your wallet signs the rulebook, this page seals it, your wallet signs the envelope, and the enclave
        checks it and writes it to the chain. The server answers when all steps are done, usually within
        seconds. Without an answer this page keeps asking for up to half an hour. You can use the rest of the
        page while it runs.
      </p>
      {parts === null ? (
        <progress aria-label="Publishing" />
      ) : (
        <>
          <progress aria-label="Publishing" value={parts.written} max={parts.parts} />
          <p class="muted">
            {parts.written} of {parts.parts} parts are on the chain.
          </p>
        </>
      )}
      <p class="muted" aria-hidden="true">
        {seconds} s
      </p>
    </div>
  )
}
