import * as z from 'zod'
import {
  alikeChanges,
  getKeptPublication,
  getRulebookCopy,
  getRulebookVersion,
  openRulebookCopy,
  type PartsOnChain,
  type PublishStep,
  publishRulebook,
  type RulebookChange,
  resumePublication,
  rulebookChanges,
} from '../../client/admin.js'
import {
  type Client,
  ClientError,
  type ClientErrorCode,
  type Hex,
  type HistoryStore,
  type Policy,
  type PolicyVersion,
  ServerError,
} from '../../client/index.js'
import { policyHash, policySchema } from '../../protocol/policy.js'
import { usage } from '../../terminal/failure.js'
import { fields, line } from '../../terminal/render.js'
import type { Terminal } from '../../terminal/terminal.js'
import type { AddCommand, CommandContext } from '../context.js'
import { stateStore, withWallet } from '../input/connection.js'
import { createKeptNames } from '../input/keptNames.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'
import { readJson, readPolicy, withEmployees } from '../input/rulebookFile.js'

const ABOUT = `Publishes the file's rulebook, as the institution's admin. It replaces the whole rulebook in force. An
employee whom it does not list has its "default", or no rights without one:

  {
    "employees": { "0x…": { "canBuy": true, "canSell": true, "restricted": ["TSLA"] } },
    "maxOrderNotional": "25000000000",
    "allowWithdrawShares": false
  }

maxOrderNotional is in USDC base units (6 decimals). "default" and "groups" are optional: docs/protocol.md, section 12.

--employees takes the employees from a CSV file, in place of those of the file. Its first line names the columns:

  wallet,name,buy,sell,restricted,group
  0x…,Ada Lovelace,yes,no,TSLA NVDA,
  0x…,Ben Oduya,,,,Research

Only wallet is required. What a row leaves out is as in the file, or as its default. A name stays on this machine, sealed to the admin's wallet. Nothing is published while a line is wrong.

The server answers after the enclave's whole run. A command that is cut off leaves the sealed rulebook in the state directory, and the same command goes on with it.

Only the enclave can open a rulebook on the chain. So each publication leaves a copy in the state directory, sealed to the admin's wallet, and the next publication first shows which rules it adds, lifts and tightens.`

export const addPolicy: AddCommand = (root, context) => {
  const { env } = context
  const store = told(stateStore(env, 'rulebooks'), context.terminal)
  const acting = (options: WalletOptions, act: (deps: Deps) => Promise<void>) =>
    withWallet(options, env, (client) => act({ ...context, client, store }))
  const summary = "publishes an institution's rulebook from a JSON file, as its admin"
  const policy = addWalletCommand(root, 'policy', summary, ABOUT)
    .argument('<file>', 'the rulebook')
    .option('--employees <csv>', "a CSV file of the employees, in place of the file's")
    .option('--yes', 'publishes even if it lifts rules, or if no copy shows which rules it lifts')
    .action(async (file: string, options: PublishOptions) => {
      const rules = await readPolicy(file)
      await acting(options, (deps) => publish(deps, rules, options))
    })
  addWalletCommand(policy, 'export', 'prints the copy of the version in force')
    .option('--open', 'prints the rulebook itself, as "policy <file>" takes it, instead of the sealed copy')
    .action((options: WalletOptions & { open?: true }) =>
      acting(options, (deps) => exportCopy(deps, options.open === true)),
    )
  addWalletCommand(policy, 'import', 'stores a copy that the page or another machine exported')
    .argument('<copy>', 'its file')
    .action(async (file: string, options: WalletOptions) => {
      const copy = await readJson(file)
      await acting(options, (deps) => importCopy(deps, copy))
    })
}

interface Deps extends CommandContext {
  readonly client: Client
  readonly store: HistoryStore
}

interface PublishOptions extends WalletOptions {
  readonly employees?: string
  readonly yes?: true
}

async function publish(deps: Deps, filed: Policy, { employees, yes }: PublishOptions): Promise<void> {
  const { client, terminal, signal } = deps
  const { policy, names } = employees
    ? await imported(deps, filed, employees)
    : { policy: filed, names: NONE }
  const inForce = await getRulebookVersion(client, { signal })
  await takeUp(deps, inForce)
  const known = await knownRules(deps, inForce)
  const changes = await rulebookChanges(known.policy, policy, { signal })
  const shownNames = await openNames(deps, names)
  show(terminal, changes, inForce.version, shownNames)
  const result = ({ orgId, version }: PolicyVersion) =>
    terminal.result({
      json: { orgId, version, changes: known.isKnown ? changes : null },
      blocks: [resultOf(orgId, version)],
    })
  if (known.policy !== null && policyHash(known.policy) === policyHash(policy)) {
    terminal.progress(`version ${inForce.version} is this rulebook: nothing to publish`)
    return result(inForce)
  }
  const lifted = changes.filter(({ effect }) => effect === 'lifted').length
  if (!yes && !known.isKnown) {
    throw usage(
      `the rules of version ${inForce.version} that it lifts are unknown: import a copy, or give --yes to publish anyway`,
    )
  }
  if (!yes && lifted > 0) {
    throw usage(`it lifts ${lifted} of the rules of version ${inForce.version}: give --yes to publish it`)
  }
  if (names.size > 0) await createKeptNames(deps.env, client).keep(shownNames)
  result(await send(deps, policy, inForce))
}

const NONE: ReadonlyMap<Hex, string> = new Map()

async function imported({ client, signal }: Deps, policy: Policy, file: string) {
  const { symbols } = await client.getMarket({ signal })
  return withEmployees(
    policy,
    file,
    symbols.map(({ symbol }) => symbol),
  )
}

/** The names that are kept here, and those of the file. @throws CommandError `usage` before it would replace names that do not open */
async function openNames({ client, env }: Deps, filed: ReadonlyMap<Hex, string>) {
  const kept = await createKeptNames(env, client).open()
  if (kept === null && filed.size > 0) {
    throw usage('no key opens the names on this machine: name the file of the newer key in --portfolio-keys')
  }
  return new Map([...(kept ?? NONE), ...filed])
}

/** Keeps the copy of what an earlier command posted here, if that is in force by now, which the enclave confirms. */
async function takeUp({ client, store, terminal, signal }: Deps, { version }: PolicyVersion): Promise<void> {
  const options = { store, signal }
  if ((await getKeptPublication(client, options)) !== version) return
  terminal.progress(`asking whether version ${version} is the rulebook that was cut off here`)
  await resumePublication(client, options).catch(ignoreRejection)
}

/** Publishes, or goes on with the same rulebook where it was cut off. */
async function send({ client, store, terminal, signal }: Deps, policy: Policy, { version }: PolicyVersion) {
  const onStep = (step: PublishStep) =>
    terminal.progress(
      step === 'resuming'
        ? 'going on where it was cut off'
        : 'signing and sealing the rulebook for the enclave',
    )
  const onProgress = ({ written, parts }: PartsOnChain) =>
    terminal.progress(`${written} of ${parts} parts are on the chain`)
  const options = { base: version, store, signal, onStep, onProgress }
  const published = await publishRulebook(client, policy, options)
  if (published.copy === null) {
    terminal.progress(
      'WARNING: this wallet does not sign deterministically, so it could never open a copy of the rulebook.',
    )
  }
  return published
}

/** Failing to keep a rulebook is no failure of the command, which says so. */
function told(store: HistoryStore, terminal: Terminal): HistoryStore {
  return {
    ...store,
    async set(name, bytes) {
      await store.set(name, bytes).catch((error: unknown) => {
        terminal.progress('WARNING: the sealed rulebook could not be written to the state directory.')
        throw error
      })
    },
  }
}

function ignoreRejection(error: unknown): void {
  if (!(error instanceof ServerError && error.code === 'policy-rejected')) throw error
}

async function exportCopy({ client, store, terminal, signal }: Deps, open: boolean): Promise<void> {
  const inForce = await getRulebookVersion(client, { signal })
  const copy = await getRulebookCopy(client, inForce, { store, signal })
  if (copy === null) {
    throw usage(
      `this machine has no copy of version ${inForce.version}: import one that the page or another machine exports`,
    )
  }
  const policy = await openRulebookCopy(client, copy, inForce.version)
  const json = open ? z.encode(policySchema, policy) : copy
  terminal.result({ json, blocks: [line([JSON.stringify(json)])] })
}

async function importCopy({ client, store, terminal, signal }: Deps, copy: unknown): Promise<void> {
  const options = { store, signal }
  const inForce = await getRulebookVersion(client, options)
  const { orgId, version } = inForce
  await openRulebookCopy(client, copy, version, options)
  if ((await getRulebookCopy(client, inForce, options)) === null) throw usage('the copy was not kept')
  terminal.result({ json: { orgId, version }, blocks: [resultOf(orgId, version)] })
}

const resultOf = (orgId: PolicyVersion['orgId'], version: number) =>
  fields([['institution', orgId] as const, ['version', String(version)] as const])

/** Failures that leave the rules in force unknown. Any other failure ends the command. */
const USELESS = new Set<ClientErrorCode>([
  'invalid-copy',
  'outdated-copy',
  'copy-undecryptable',
  'copy-unconfirmed',
])

/** The rules in force: empty before the first version, else from the copy if there is one. */
async function knownRules({ client, store, terminal, signal }: Deps, inForce: PolicyVersion) {
  if (inForce.version === 0) return { isKnown: true, policy: null }
  const copy = await getRulebookCopy(client, inForce, { store, signal })
  const unknown = (why: string) => {
    terminal.progress(
      `WARNING: ${why} The rules of version ${inForce.version} that this file lifts are unknown.`,
    )
    return { isKnown: false, policy: null }
  }
  if (copy === null) return unknown(`This machine has no copy of version ${inForce.version}.`)
  try {
    return { isKnown: true, policy: await openRulebookCopy(client, copy, inForce.version) }
  } catch (error) {
    if (error instanceof ClientError && USELESS.has(error.code)) return unknown(error.message)
    throw error
  }
}

/** The employees of one change that are named each. */
const MOST_NAMED = 3

function show(
  terminal: Terminal,
  changes: readonly RulebookChange[],
  version: number,
  names: ReadonlyMap<Hex, string>,
): void {
  const before = version === 0 ? 'no rulebook is in force' : `version ${version} is in force`
  terminal.progress(`${before}; this file, as version ${version + 1}, would change:`)
  if (changes.length === 0) terminal.progress('no difference')
  const named = (employee: Hex) => {
    const name = names.get(employee)
    return name === undefined ? employee : `${employee} (${name})`
  }
  for (const { effect, text, employees } of alikeChanges(changes)) {
    const tell = (words: string) => terminal.progress(`${effect.padEnd(9)}  ${words}`)
    if (employees.length === 0) tell(text)
    else if (employees.length <= MOST_NAMED)
      for (const employee of employees) tell(`${named(employee)} ${text}`)
    else {
      const some = employees.slice(0, MOST_NAMED).map(named).join(', ')
      tell(`${employees.length} employees, each: ${text} (${some} and ${employees.length - MOST_NAMED} more)`)
    }
  }
}
