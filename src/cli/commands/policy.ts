import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import {
  type Client,
  ClientError,
  type ClientErrorCode,
  type Policy,
  type PolicyVersion,
  type RulebookChange,
  type RulebookCopy,
  rulebookChanges,
} from '../../client/index.js'
import { addressSchema } from '../../protocol/address.js'
import { policySchema } from '../../protocol/policy.js'
import { rulebookCopySchema } from '../../protocol/rulebookCopy.js'
import { parseStrictJson } from '../../protocol/strictJson.js'
import { usage } from '../../terminal/failure.js'
import { fields, line } from '../../terminal/render.js'
import type { Terminal } from '../../terminal/terminal.js'
import type { AddCommand, CommandContext } from '../context.js'
import { withWallet } from '../input/connection.js'
import { createKeptRulebooks, type KeptRulebooks } from '../input/keptRulebooks.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'

/** Accepts addresses in any case, as people copy them; a wrong checksum is an error. */
const filedPolicySchema = z.strictObject({
  ...policySchema.shape,
  employees: z
    .record(
      z.string().refine((key) => addressSchema.safeParse(key).success, 'expected an address'),
      policySchema.shape.employees.valueType,
    )
    .refine(
      (employees) =>
        new Set(Object.keys(employees).map((key) => key.toLowerCase())).size ===
        Object.keys(employees).length,
      'an employee is listed twice',
    ),
})

const ABOUT = `Publishes the file's rulebook, as the institution's admin. It replaces the whole rulebook in force, so it lists every employee:

  {
    "employees": { "0x…": { "canBuy": true, "canSell": true, "restricted": ["TSLA"] } },
    "maxOrderNotional": "25000000000",
    "allowWithdrawShares": false
  }

maxOrderNotional is in USDC base units (6 decimals). The server answers after the enclave's whole run.

Only the enclave can open a rulebook on the chain. So each publication leaves a copy in the state directory, sealed to the admin's wallet, and the next publication first shows which rules it adds, lifts and tightens.`

export const addPolicy: AddCommand = (root, context) => {
  const { env } = context
  const kept = createKeptRulebooks(env)
  const acting = (options: WalletOptions, act: (deps: Deps) => Promise<void>) =>
    withWallet(options, env, (client) => act({ ...context, client, kept }))
  const summary = "publishes an institution's rulebook from a JSON file, as its admin"
  const policy = addWalletCommand(root, 'policy', summary, ABOUT)
    .argument('<file>', 'the rulebook')
    .option('--yes', 'publishes even if it lifts rules, or if no copy shows which rules it lifts')
    .action(async (file: string, options: WalletOptions & { yes?: true }) => {
      const rules = await readPolicy(file)
      await acting(options, (deps) => publish(deps, rules, options.yes === true))
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

async function publish(deps: Deps, policy: Policy, yes: boolean): Promise<void> {
  const { client, terminal, signal } = deps
  const inForce = await client.getRulebookVersion({ signal })
  const known = await knownRules(deps, inForce)
  const changes = rulebookChanges(known.policy, policy)
  show(terminal, changes, inForce.version)
  const lifted = changes.filter(({ effect }) => effect === 'lifted').length
  if (!yes && !known.isKnown) {
    throw usage(
      `the rules of version ${inForce.version} that it lifts are unknown: import a copy, or give --yes to publish anyway`,
    )
  }
  if (!yes && lifted > 0) {
    throw usage(`it lifts ${lifted} of the rules of version ${inForce.version}: give --yes to publish it`)
  }
  terminal.progress('signing and sealing the rulebook for the enclave')
  const { orgId, version, copy } = await client.publishRulebook(policy, { base: inForce.version, signal })
  await keep(deps, copy)
  terminal.result({
    json: { orgId, version, changes: known.isKnown ? changes : null },
    blocks: [resultOf(orgId, version)],
  })
}

async function exportCopy(deps: Deps, open: boolean): Promise<void> {
  const { client, terminal, signal } = deps
  const inForce = await client.getRulebookVersion({ signal })
  const copy = await findCopy(deps, inForce)
  if (copy === null) {
    throw usage(
      `this machine has no copy of version ${inForce.version}: import one that the page or another machine exports`,
    )
  }
  const policy = await client.openRulebookCopy(copy, inForce.version)
  const json = open ? z.encode(policySchema, policy) : copy
  terminal.result({ json, blocks: [line([JSON.stringify(json)])] })
}

async function importCopy({ client, kept, terminal, signal }: Deps, copy: unknown): Promise<void> {
  const { orgId, version } = await client.getRulebookVersion({ signal })
  await client.openRulebookCopy(copy, version)
  await kept.keep(rulebookCopySchema.parse(copy))
  terminal.result({ json: { orgId, version }, blocks: [resultOf(orgId, version)] })
}

const resultOf = (orgId: PolicyVersion['orgId'], version: number) =>
  fields([['institution', orgId] as const, ['version', String(version)] as const])

async function findCopy({ client, kept }: Deps, { orgId }: PolicyVersion): Promise<unknown> {
  return kept.find({ escrow: (await client.getPlatform()).escrow, orgId })
}

/** Failures that leave the rules in force unknown. Any other failure ends the command. */
const USELESS = new Set<ClientErrorCode>(['invalid-copy', 'outdated-copy', 'copy-undecryptable'])

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
    return { isKnown: true, policy: await client.openRulebookCopy(copy, inForce.version) }
  } catch (error) {
    if (error instanceof ClientError && USELESS.has(error.code)) return unknown(error.message)
    throw error
  }
}

function show(terminal: Terminal, changes: readonly RulebookChange[], version: number): void {
  const before = version === 0 ? 'no rulebook is in force' : `version ${version} is in force`
  terminal.progress(`${before}; this file, as version ${version + 1}, would change:`)
  if (changes.length === 0) terminal.progress('no difference')
  for (const { effect, employee, text } of changes) {
    terminal.progress(`${effect.padEnd(9)}  ${employee === null ? text : `${employee} ${text}`}`)
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

/** Refuses repeated JSON members: of two rules for one employee, one would be dropped silently. */
async function readPolicy(file: string): Promise<Policy> {
  const policy = filedPolicySchema.safeParse(await readJson(file))
  if (policy.success) return policy.data
  const faults = policy.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the rulebook'}: ${message}`,
  )
  throw usage(faults.join('; '))
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw usage(`the file ${file} cannot be read`)
  })
  try {
    return parseStrictJson(text)
  } catch (error) {
    throw usage(`${file}: ${error instanceof Error ? error.message : 'is not JSON'}`)
  }
}
