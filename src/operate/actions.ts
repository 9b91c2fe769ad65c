import type { Command } from 'commander'
import {
  type ActionTerms,
  claimsOf,
  type Decision,
  dayAfter,
  entryOf,
  haltedOn,
  isInForce,
  isOver,
  planOf,
  startOf,
  UNBOOKED_DAYS,
  type Unplanned,
} from '../broker/index.js'
import { actionStruct } from '../chain/actionList.js'
import type { ProposedAction } from '../client/operator.js'
import { type ActionReport, actionReportSchema, type CorporateEvent } from '../protocol/actionReport.js'
import { sameAddress } from '../protocol/address.js'
import { type CorporateAction, endsSymbol, retiredSymbols } from '../protocol/corporateActions.js'
import { type Hex, hexOf } from '../protocol/hex.js'
import { nameToBytes32 } from '../protocol/identifiers.js'
import { formatDecimal, ONE_SHARE, parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../protocol/units.js'
import { CommandError, usage } from '../terminal/failure.js'
import { type Asked, applyAs } from './applyAs.js'
import { connectChain, type Views, viewsOf } from './chain.js'
import { addReportOptions, NoReportError, type ReportOptions, reportOf } from './doctor/enclavePart.js'
import { addCommand, type CommonOptions, createSpeech, type OperateProcess } from './io.js'
import { readDeployment } from './settings.js'

const HELP = `
Without an action the command lists what the broker has announced, what it has booked, and what the contracts have of it. --propose asks about
everything that can be proposed, and says why the rest can't be. With an action it proposes that one: where the booking differs from the
announcement, --as-booked lets the booking count. The server enacts what is proposed as soon as it is due: --withdraw takes a proposal back, by
its action's name, or by the digest that the list shows of one that the broker's books do not bear out today.

What the broker has is read with the enclave's configuration (ENCLAVE_ENV_FILE, or .env.enclave). Where the enclave is on another machine, or
another user, have it reported there, and name the file with --enclave-report (an attested one reports by --enclave-url):
  ENCLAVE_ENV_FILE=.env.enclave node_modules/.bin/node dist/enclave/doctor/main.js --actions > actions.json`

interface Options extends CommonOptions, Decision, ReportOptions {
  readonly propose?: true
  readonly withdraw?: true
}

/** Adds `actions`: lists corporate actions, and proposes those that the owner confirms. */
export function addActions(root: Command, process: OperateProcess): void {
  const command = addCommand(
    root,
    'actions',
    'lists corporate actions, or proposes what the broker has booked',
  )
    .argument('[action]', 'as the list names it, such as AAPL:split:2026-03-02')
    .option('--propose', 'asks about each one that can be proposed')
    .option('--as-booked', 'takes the terms of the booking, whatever was announced')
    .option(
      '--cash <usdc>',
      'what holders get in all for what the platform cannot hold for them; 0 for nothing',
      cash,
    )
    .option('--withdraw', 'withdraws what was proposed of it')
    .addHelpText('after', HELP)
    .action((id: string | undefined, options: Options) =>
      id === undefined && options.propose === undefined
        ? list(process, options)
        : propose(process, options, id),
    )
  addReportOptions(command)
}

function cash(text: string): bigint {
  return parseDecimal(text, USDC_DECIMALS)
}

/** An entry of a plan, and what the contracts have of it. */
interface Entry {
  readonly terms: ActionTerms
  readonly state: 'listed' | 'proposed' | 'missing'
  /** Of one that is proposed: Unix seconds from which it can be enacted. */
  readonly effectiveAt: number
  /** Null as long as the entry before it is not listed that it refers to. */
  readonly action: ProposedAction | null
  readonly digest: Hex | null
}

/** Whether the entry waits until another one is in the list. */
const isLater = ({ state, action }: Entry): boolean => state === 'missing' && action === null

type Contract = Awaited<ReturnType<Views['actions']>>

async function entriesOf(
  contract: Contract,
  listed: readonly CorporateAction[],
  plan: readonly ActionTerms[],
) {
  const claim = plan.find(({ kind }) => kind === 'ENTITLEMENT')
  const entitlement = claim && entryOf(claim, listed)?.index
  return Promise.all(
    plan.map(async (terms): Promise<Entry> => {
      const none = { terms, effectiveAt: 0, action: null, digest: null }
      if (entryOf(terms, listed, entitlement)) return { ...none, state: 'listed' }
      if (terms.kind === 'PAYMENT' && entitlement === undefined) return { ...none, state: 'missing' }
      const action = { ...terms, entitlement: terms.kind === 'PAYMENT' ? (entitlement ?? 0) : 0 }
      const digest = await contract.digestOf(actionStruct(action))
      const effectiveAt = Number(await contract.effectiveAt(digest))
      return { terms, action, digest, effectiveAt, state: effectiveAt > 0 ? 'proposed' : 'missing' }
    }),
  )
}

/** @throws CommandError `actions-unreadable` */
async function list(process: OperateProcess, options: Options): Promise<void> {
  const speech = createSpeech(process, options)
  const deployment = readDeployment(options.directory)
  using chain = await connectChain(process.env, deployment.chainId)
  const report = await actionsOf(process, options)
  const views = viewsOf(chain, deployment)
  const contract = await views.actions()
  const [listed, proposals] = await Promise.all([contract.all(), views.proposals()])
  const rows = await Promise.all(
    named(report).map(async ({ id, event }) => {
      const plan = planFor(event, {}, { listed, events: report.events })
      const steps = typeof plan === 'string' ? [] : await entriesOf(contract, listed, plan)
      const { state, text } = stateOf(event, plan, { steps, listed })
      const halted = !isInForce(event, listed) && haltedOn(report.today, [event], listed).size > 0
      const { announced, booked } = event
      const known = { announced: announced !== null, booked: booked !== null, halted, state }
      const planned = steps.map(({ terms, ...step }) => ({
        ...{ text: textOf(terms, event.kind), state: step.state },
        ...(step.state === 'proposed' && { effectiveAt: step.effectiveAt }),
      }))
      return {
        line: `${id}  ${halted ? 'halted, ' : ''}${text}`,
        digests: steps.map(({ digest }) => digest),
        row: { id, ...known, reason: typeof plan === 'string' ? plan : null, steps: planned },
        isOld:
          state === 'in-force' ||
          (booked === null && event.day < dayAfter(report.today, -UNBOOKED_DAYS.other)),
      }
    }),
  )
  const shown = rows.filter(({ isOld }) => !isOld)
  const done = rows.length - shown.length
  const planned = new Set(rows.flatMap(({ digests }) => digests))
  const others = proposals.filter(({ digest }) => !planned.has(digest))
  const unlisted = await unlistedNames(views, listed, report.today)
  const lines = [
    ...shown.map(({ line }) => line),
    ...others.map(
      ({ digest, action, effectiveAt }) =>
        `${digest}  proposed, and not borne out by the above: ${proposedText(action)}, enacted by the server from ${timeText(effectiveAt)} on; --withdraw ends it`,
    ),
    ...unlisted.map((name) => `${name}  held, and not listed: nobody trades it before "list ${name}"`),
    `${shown.length + others.length} to look at, ${done} in force or over`,
  ]
  speech.result(lines, {
    command: 'actions',
    chainId: deployment.chainId,
    actions: rows.map(({ row }) => row),
    proposals: others.map(({ digest, action, effectiveAt }) => ({
      digest,
      text: proposedText(action),
      effectiveAt,
    })),
    unlisted,
  })
}

/** The name of each event, which a person types. */
function named({ events }: ActionReport): { id: string; event: CorporateEvent }[] {
  const seen = new Map<string, number>()
  return events.map((event) => {
    const name = `${event.symbol}:${event.kind}:${event.day}`
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    return { id: before === 0 ? name : `${name}:${before + 1}`, event }
  })
}

type Reason = Unplanned | 'successor-taken'

/** The plan of an event, or why it cannot be entered: the contract takes one symbol change to a name. */
function planFor(
  event: CorporateEvent,
  decision: Decision,
  { listed, events }: { listed: readonly CorporateAction[]; events: readonly CorporateEvent[] },
): readonly ActionTerms[] | Reason {
  if (isBesideUnreadable(event, listed, events)) return 'unreadable'
  if (isSold(event, listed) && decision.cash === undefined) return 'needs-cash'
  const plan = planOf(event, decision)
  if (typeof plan === 'string') return plan
  const isTaken = ({ kind, symbol, successor }: ActionTerms) =>
    kind === 'SYMBOL_CHANGE' &&
    listed.some(
      (other) =>
        (other.kind === 'SYMBOL_CHANGE' && other.successor === successor && other.symbol !== symbol) ||
        (endsSymbol(other.kind) && other.symbol === successor),
    )
  return plan.some(isTaken) ? ('successor-taken' as const) : plan
}

/** Whether an entry of the same symbol or day can't be read, and is not settled: what is booked may be more or less by it. */
function isBesideUnreadable(
  { booked: own, symbol }: CorporateEvent,
  listed: readonly CorporateAction[],
  events: readonly CorporateEvent[],
): boolean {
  if (own === null || own.isUnreadable) return false
  const others = events.filter(({ booked }) => booked?.isUnreadable)
  return others.some(
    (other) => (other.symbol === symbol || other.booked?.day === own.day) && !isOver(other, listed),
  )
}

const REASONS: Readonly<Record<Reason, string>> = {
  'successor-taken':
    'booked as shares under a name that another equity has had: sell them at the broker, and name the proceeds with --cash',
  'not-booked': 'announced, and not booked yet',
  'not-announced': 'booked without an announcement: look at it, then --as-booked',
  'days-differ': 'booked on another day than announced: look at it, then --as-booked',
  'terms-differ': 'booked otherwise than announced: look at it, then --as-booked',
  'shares-not-stated': 'booked without the number of shares: ask the broker',
  'needs-cash': 'booked: sell the new shares at the broker, and name the proceeds with --cash',
  'not-income': 'booked as a return of capital or a capital gain: --as-booked pays it out like a dividend',
  unreadable:
    'booked with an entry that cannot be read: have the broker correct or cancel it; --cash 0 of "other" if holders get nothing for it',
  'unknown-kind': 'of a kind that is not carried out: --cash says what holders get for it',
}

/** Why an event has no plan, with the new shares of one whose shares are to be sold. */
function reasonOf(reason: Reason, { booked }: CorporateEvent): string {
  if (reason !== 'needs-cash' || !booked) return REASONS[reason]
  const shares = `${formatDecimal(booked.made, SHARE_DECIMALS)} new shares, ${booked.successor},`
  return `booked: sell the ${shares} at the broker, and name the proceeds with --cash`
}

function stateOf(
  event: CorporateEvent,
  plan: readonly ActionTerms[] | Reason,
  { steps, listed }: { steps: readonly Entry[]; listed: readonly CorporateAction[] },
): { state: string; text: string } {
  const isEntered = steps.length > 0 && steps.every((step) => step.state === 'listed')
  if (isOver(event, listed) && (isEntered || typeof plan === 'string'))
    return { state: 'in-force', text: 'in force' }
  if (typeof plan === 'string')
    return { state: plan, text: hasClaim(event, listed) ? CLAIMED : reasonOf(plan, event) }
  if (isEntered) return { state: 'claimed', text: 'holders have their claim; not booked yet' }
  const waiting = steps.filter(({ state }) => state === 'proposed')
  const textsOf = (some: readonly Entry[]) => some.map(({ terms }) => textOf(terms, event.kind))
  const next = textsOf(steps.filter((step) => step.state === 'missing' && !isLater(step)))
  const then = textsOf(steps.filter(isLater)).map((text) => `; then to propose: ${text}`)
  if (next.length > 0)
    return { state: 'to-propose', text: ['to propose: ', next.join('; '), ...then].join('') }
  const from = Math.min(...waiting.map(({ effectiveAt }) => effectiveAt))
  return {
    state: 'proposed',
    text: [`proposed, enacted by the server from ${timeText(from)} on`, ...then].join(''),
  }
}

const CLAIMED = 'holders have their claim: name the cash with --cash once more, and it is paid'

/** Whether holders have a claim to what was sold for them. */
function hasClaim(event: CorporateEvent, listed: readonly CorporateAction[]): boolean {
  const { kind } = event
  if (kind === 'cash-dividend') return false
  const sold = kind === 'spin-off' ? event : ({ ...event, kind: 'other' } as const)
  return claimsOf(sold).some((claim) => entryOf(claim, listed) !== undefined)
}

/** The names that shares have got lately, and that nobody can trade under. */
async function unlistedNames({ token }: Views, listed: readonly CorporateAction[], today: string) {
  const since = startOf(dayAfter(today, -UNBOOKED_DAYS.other))
  const retired = retiredSymbols(listed)
  const names = listed
    .flatMap((each) => (each.kind === 'SYMBOL_CHANGE' && each.recordAt >= since ? [each.successor] : []))
    .filter((name) => !retired.includes(name))
  const isListed = await Promise.all(names.map((name) => token.isListed(nameToBytes32(name))))
  return names.filter((_, at) => !isListed[at])
}

/** Whether a merger's new shares were sold for the holders. */
function isSold({ kind, symbol, booked }: CorporateEvent, listed: readonly CorporateAction[]): boolean {
  return (
    kind === 'merger' &&
    (booked?.made ?? 0n) > 0n &&
    listed.some((other) => other.kind === 'REMOVAL' && other.symbol === symbol)
  )
}

/**
 * Proposes, or withdraws, what comes next of one action, or of all.
 * @throws CommandError `actions-unreadable`, `action-unplanned`
 */
async function propose(process: OperateProcess, options: Options, only: string | undefined): Promise<void> {
  const digest = hexOf(32).safeParse(only).data
  if (digest !== undefined && options.withdraw) return withdrawProposal(process, options, digest)
  const report = await actionsOf(process, options)
  const known = named(report)
  const chosen = only === undefined ? known : known.filter(({ id }) => id === only)
  if (only !== undefined && chosen.length === 0)
    throw usage(`the broker has no action "${only}": "actions" lists them`)
  const { asBooked, cash: proceeds, withdraw = false } = options
  if (only === undefined && (asBooked !== undefined || proceeds !== undefined || withdraw))
    throw usage('name the action that --as-booked, --cash or --withdraw is about')
  const speech = createSpeech(process, options)
  return applyAs(
    process,
    options,
    { name: 'actions', as: 'owner', oneByOne: only === undefined },
    async ({ actions }) => {
      const contract = await actions()
      const listed = await contract.all()
      const asked: Asked[] = []
      for (const { id, event } of chosen) {
        const plan = planFor(event, { asBooked, cash: proceeds }, { listed, events: report.events })
        if (typeof plan === 'string') {
          if (only !== undefined) throw new CommandError('action-unplanned', reasonOf(plan, event))
          if (!isOver(event, listed)) speech.say(`not proposed: ${id}: ${reasonOf(plan, event)}`)
          continue
        }
        const entries = await entriesOf(contract, listed, plan)
        for (const { terms } of withdraw ? [] : entries.filter(isLater))
          speech.say(`later, by this command again: ${id}: ${textOf(terms, event.kind)}`)
        asked.push(...entries.flatMap((entry) => askedOf(entry, event, withdraw) ?? []))
      }
      return only === undefined ? asked.filter((each) => 'kind' in each) : asked
    },
  )
}

/** Withdraws a proposal that no action of the broker's has today. */
function withdrawProposal(process: OperateProcess, options: Options, digest: Hex): Promise<void> {
  return applyAs(process, options, { name: 'actions', as: 'owner' }, async ({ proposals }) => {
    const found = (await proposals()).find((each) => each.digest === digest)
    const words = `withdraw the proposal: ${found ? proposedText(found.action) : digest}`
    return [found ? { kind: 'actionWithdrawal', digest, words } : { text: words, send: null }]
  })
}

/** What one entry needs; undefined where it waits for another. */
function askedOf(
  { terms, state, effectiveAt, action, digest }: Entry,
  { kind }: CorporateEvent,
  withdraw: boolean,
): Asked | undefined {
  const what = textOf(terms, kind)
  if (withdraw) {
    if (state !== 'proposed' || digest === null) return undefined
    return { kind: 'actionWithdrawal', digest, words: `withdraw the proposal: ${what}` }
  }
  if (state === 'listed') return { text: `in the list: ${what}`, send: null }
  if (action === null) return undefined
  if (state === 'missing') return { kind: 'action', action, words: `propose: ${what}` }
  return { text: `propose: ${what}; the server enacts it from ${timeText(effectiveAt)} on`, send: null }
}

/** @param of what it is an entry of; null where that is unknown */
function textOf(
  { kind, symbol, recordAt, numerator, denominator, successor }: ActionTerms,
  of: CorporateEvent['kind'] | null,
): string {
  if (kind === 'SYMBOL_CHANGE') return `${symbol} is ${successor} from now on`
  if (kind === 'REMOVAL') return `the shares of ${symbol} end${REMOVED[of ?? 'other'] ?? ''}`
  if (kind === 'ENTITLEMENT') return `a claim of those who held ${symbol} at ${timeText(recordAt)}`
  if (kind !== 'PAYMENT') return `${denominator} ${symbol} become ${numerator}`
  // Rounded down, for people: the figures themselves are in the entry.
  const each = formatDecimal((numerator * ONE_SHARE) / denominator, USDC_DECIMALS + 9)
  return `${each} USDC for each ${symbol} that has a claim`
}

/** What ends the shares, in words. */
const REMOVED: Readonly<Partial<Record<CorporateEvent['kind'], string>>> = {
  removal: ', worthless',
  merger: ': holders get the cash of their claim',
}

/** @param action as the chain has it: it names only what its kind needs */
function proposedText(action: CorporateAction): string {
  return textOf({ numerator: 0n, denominator: 1n, successor: '', ...action }, null)
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}

async function actionsOf(process: OperateProcess, options: Options): Promise<ActionReport> {
  const { chainId, contracts } = readDeployment(options.directory)
  const fail = (text: string) => new CommandError('actions-unreadable', text)
  try {
    const asked = { request: { actions: true }, schema: actionReportSchema } as const
    const report = await reportOf(process.env, options, asked)
    if (report.chainId === chainId && sameAddress(report.token, contracts.equityToken)) return report
    throw fail('the report is of another deployment')
  } catch (error) {
    throw error instanceof NoReportError ? fail(error.message) : error
  }
}
