import * as z from 'zod'
import {
  alikeChanges,
  getRulebookVersion,
  openRulebookCopy,
  type PartsOnChain,
  type Publication,
  publishRulebook,
  type RulebookChange,
  type RulebookCopy,
  resumeRulebook,
  rulebookChanges,
} from '../../client/admin.js'
import {
  type Client,
  ClientError,
  type ClientErrorCode,
  type Hex,
  type Policy,
  type PolicyVersion,
  ServerError,
} from '../../client/index.js'
import { policyHash, policySchema } from '../../protocol/policy.js'
import { rulebookCopySchema } from '../../protocol/rulebookCopy.js'
import { usage } from '../../terminal/failure.js'
import { fields, line } from '../../terminal/render.js'
import type { Terminal } from '../../terminal/terminal.js'
import type { AddCommand, CommandContext } from '../context.js'
import { withWallet } from '../input/connection.js'
import { createKeptNames } from '../input/keptNames.js'
import { createKeptRulebooks, type KeptRulebooks } from '../input/keptRulebooks.js'
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
  const kept = createKeptRulebooks(env)
  const acting = (options: WalletOptions, act: (deps: Deps) => Promise<void>) =>
    withWallet(options, env, (client) => act({ ...context, client, kept }))
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
  readonly kept: KeptRulebooks
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
  const onItsWay = await cutOff(deps, inForce)
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
  result(await send(deps, policy, inForce, onItsWay))
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

/**
 * What an earlier command posted here and the chain does not have yet. If it is in force by now, which the enclave confirms, its copy
 * is kept.
 */
async function cutOff(deps: Deps, inForce: PolicyVersion): Promise<Publication | null> {
  const { client, kept, terminal, signal } = deps
  const place = await placeOf(deps, inForce)
  const found = await kept.findOnItsWay(place)
  if (found === null || found.version > inForce.version) return found
  if (found.version === inForce.version) {
    terminal.progress(`asking whether version ${found.version} is the rulebook that was cut off here`)
    await resumeRulebook(client, found, { signal })
      .then(({ copy }) => keep(deps, copy))
      .catch(ignoreRejection)
  }
  await kept.forgetOnItsWay(place)
  return null
}

/** Publishes, or goes on with the same rulebook where it was cut off. */
async function send(deps: Deps, policy: Policy, inForce: PolicyVersion, onItsWay: Publication | null) {
  const { client, kept, terminal, signal } = deps
  const place = await placeOf(deps, inForce)
  const onProgress = ({ written, parts }: PartsOnChain) =>
    terminal.progress(`${written} of ${parts} parts are on the chain`)
  const options = { signal, onProgress }
  const isSame = onItsWay !== null && (await isOf(client, onItsWay, policy))
  terminal.progress(
    isSame ? 'going on where it was cut off' : 'signing and sealing the rulebook for the enclave',
  )
  const beforePost = (publication: Publication) => kept.keepOnItsWay(place, publication)
  try {
    const published = await (isSame
      ? resumeRulebook(client, onItsWay, options)
      : publishRulebook(client, policy, { base: inForce.version, beforePost, ...options }))
    await keep(deps, published.copy)
    await kept.forgetOnItsWay(place)
    return published
  } catch (error) {
    if (isRejection(error)) await kept.forgetOnItsWay(place)
    throw error
  }
}

async function isOf(client: Client, { copy, version }: Publication, policy: Policy): Promise<boolean> {
  if (copy === null) return false
  const sealed = await openRulebookCopy(client, copy, version).catch(() => null)
  return sealed !== null && policyHash(sealed) === policyHash(policy)
}

const isRejection = (error: unknown) => error instanceof ServerError && error.code === 'policy-rejected'

function ignoreRejection(error: unknown): void {
  if (!isRejection(error)) throw error
}

async function exportCopy(deps: Deps, open: boolean): Promise<void> {
  const { client, terminal, signal } = deps
  const inForce = await getRulebookVersion(client, { signal })
  const copy = await findCopy(deps, inForce)
  if (copy === null) {
    throw usage(
      `this machine has no copy of version ${inForce.version}: import one that the page or another machine exports`,
    )
  }
  const policy = await openRulebookCopy(client, copy, inForce.version)
  const json = open ? z.encode(policySchema, policy) : copy
  terminal.result({ json, blocks: [line([JSON.stringify(json)])] })
}

async function importCopy({ client, kept, terminal, signal }: Deps, copy: unknown): Promise<void> {
  const { orgId, version } = await getRulebookVersion(client, { signal })
  await openRulebookCopy(client, copy, version)
  await kept.keep(rulebookCopySchema.parse(copy))
  terminal.result({ json: { orgId, version }, blocks: [resultOf(orgId, version)] })
}

const resultOf = (orgId: PolicyVersion['orgId'], version: number) =>
  fields([['institution', orgId] as const, ['version', String(version)] as const])

async function placeOf({ client }: Deps, { orgId }: PolicyVersion) {
  return { escrow: (await client.getPlatform()).escrow, orgId }
}

async function findCopy(deps: Deps, inForce: PolicyVersion): Promise<unknown> {
  return deps.kept.find(await placeOf(deps, inForce))
}

/** Failures that leave the rules in force unknown. Any other failure ends the command. */
const USELESS = new Set<ClientErrorCode>([
  'invalid-copy',
  'outdated-copy',
  'copy-undecryptable',
  'copy-unconfirmed',
])

/** The rules in force: empty before the first version, else from the copy if there is one. */
async function knownRules(deps: Deps, inForce: PolicyVersion) {
  const { client, terminal } = deps
  if (inForce.version === 0) return { isKnown: true, policy: null }
  const copy = await findCopy(deps, inForce)
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

/** Failing to keep the copy is no failure of the command, because the rulebook is in force. */
async function keep({ kept, terminal }: Deps, copy: RulebookCopy | null): Promise<void> {
  if (copy === null) {
    terminal.progress(
      'WARNING: this wallet does not sign deterministically, so it could never open a copy of the rulebook.',
    )
    return
  }
  await kept.keep(copy).catch(() => {
    terminal.progress('WARNING: the copy of the rulebook could not be written to the state directory.')
  })
}
