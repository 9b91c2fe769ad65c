// The entry `confidential-trading-client/admin`: an institution's rulebook and its members.
import type { PolicyVersion } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import type { Policy } from '../protocol/policy.js'
import type { RulebookCopy } from '../protocol/rulebookCopy.js'
import type { Client } from './client.js'
import { partsOf } from './clientParts.js'
import type { CallOptions } from './http.js'
import type { HistoryStore } from './keptLists.js'
import { createKeptRulebooks } from './keptRulebooks.js'
import { type MemberList, type MemberListOptions, membersOf } from './members.js'
import {
  openCopy,
  type PublishedRulebook,
  type PublishOptions,
  postKept,
  postRulebook,
  rulebookVersion,
} from './rulebook.js'

export { memberRules } from '../protocol/policy.js'
export type { RulebookCopy } from '../protocol/rulebookCopy.js'
export {
  type EmployeeFile,
  type EmployeeRow,
  isName,
  MAX_NAME,
  type Nameable,
  type RowFault,
  readEmployeeFile,
} from './employeeFile.js'
export { exceptionsOf, rulesOfRows } from './employeeRules.js'
export type { Member, MemberList, MemberListOptions, MembershipEvent } from './members.js'
export type { PublishedRulebook, PublishOptions, PublishStep } from './rulebook.js'
export { type AlikeChanges, alikeChanges, type RulebookChange, rulebookChanges } from './rulebookChanges.js'
export type { PartsOnChain } from './rulebookParts.js'

async function rulebookDeps(client: Client, options?: CallOptions) {
  const { within, platform, ...parts } = partsOf(client)
  return { ...within(options), ...parts, platform: await platform(options) }
}

export interface KeptOptions extends CallOptions {
  /** That of `publishRulebook`. */
  readonly store: HistoryStore
}

/** Needs no server where the escrow is pinned. */
async function keptIn(client: Client, { store, ...options }: KeptOptions) {
  const { within, contracts } = partsOf(client)
  const { wallet } = within(options)
  const [account, chainId, { escrow }] = await Promise.all([
    wallet.account(),
    wallet.chainId(),
    contracts(options),
  ])
  return createKeptRulebooks(store, { account, chainId, escrow })
}

/**
 * The institution and the version of its rulebook in force.
 * @example const { version } = await getRulebookVersion(client)
 */
export async function getRulebookVersion(client: Client, options?: CallOptions): Promise<PolicyVersion> {
  return rulebookVersion(await rulebookDeps(client, options), options)
}

/**
 * Replaces the rulebook. Show `rulebookChanges` first. Give a store, or keep the returned copy: it is the admin's only readable record of
 * the rulebook. With a store the same call again, after a failure or a restart, goes on where it was cut off, and requests no signature.
 * @example const { version, copy } = await publishRulebook(client, policy, { base: 1, store })
 */
export async function publishRulebook(
  client: Client,
  policy: Policy,
  options?: PublishOptions,
): Promise<PublishedRulebook> {
  return postRulebook(policy, await rulebookDeps(client, options), options)
}

/**
 * The version that this wallet has posted, and that was neither in force nor refused when the call or the program ended; null without one.
 * @example const version = await getKeptPublication(client, { store })
 */
export async function getKeptPublication(client: Client, options: KeptOptions): Promise<number | null> {
  return (await (await keptIn(client, options)).publication())?.version ?? null
}

/**
 * Posts the kept publication again, without a signature: the enclave goes on with the parts that the chain lacks, and accepts a rulebook
 * again that is in force. Null if none is kept.
 * @throws ServerError `policy-rejected`: it is not in force, never will be, and is forgotten
 * @example const published = await resumePublication(client, { store })
 */
export async function resumePublication(
  client: Client,
  options: KeptOptions & Pick<PublishOptions, 'onProgress'>,
): Promise<PublishedRulebook | null> {
  const kept = await keptIn(client, options)
  const found = await kept.publication()
  return found && postKept(found, kept, await rulebookDeps(client, options), options)
}

/**
 * Gives the kept publication up. What is on the chain of it stays there.
 * @example await forgetPublication(client, { store })
 */
export async function forgetPublication(client: Client, options: KeptOptions): Promise<void> {
  await (await keptIn(client, options)).forgetPublication()
}

/**
 * The copy of a version that the store keeps; null without one.
 * @example const kept = await getRulebookCopy(client, await getRulebookVersion(client), { store })
 */
export async function getRulebookCopy(
  client: Client,
  of: PolicyVersion,
  options: KeptOptions,
): Promise<RulebookCopy | null> {
  return (await keptIn(client, options)).copy(of)
}

/**
 * Opens the rulebook in a copy from an earlier publication. A store then keeps the copy.
 * @param copy JSON, unvalidated
 * @param version the version that it must be of: the one in force before a publication, any to read the past
 * @throws ClientError `invalid-copy`, `outdated-copy`, `copy-undecryptable`, `copy-unconfirmed`
 * @example const policyInForce = await openRulebookCopy(client, JSON.parse(text), 1)
 */
export async function openRulebookCopy(
  client: Client,
  copy: unknown,
  version: number,
  options?: Partial<KeptOptions>,
): Promise<Policy> {
  return openCopy(copy, version, await rulebookDeps(client, options), options?.store)
}

/**
 * The wallets that belong or belonged to an institution, or are invited: events name them, the registry gives each one's
 * state. Yields and resumes as `listOrders` does.
 * @throws ClientError `node-unavailable`, `unexpected-answer`
 * @example for await (const { members } of listMembers(client, orgId, { fromBlock: 1 })) console.log(members.length)
 */
export async function* listMembers(
  client: Client,
  orgId: Hex,
  options?: MemberListOptions,
): AsyncGenerator<MemberList, void, undefined> {
  const { within, contracts } = partsOf(client)
  yield* membersOf({ ...within(options), contracts: await contracts(options) }, orgId, options)
}
