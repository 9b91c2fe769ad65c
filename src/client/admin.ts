// The entry `confidential-trading-client/admin`: an institution's rulebook and its members.
import type { PolicyVersion } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import type { Policy } from '../protocol/policy.js'
import type { Client } from './client.js'
import { partsOf } from './clientParts.js'
import type { CallOptions } from './http.js'
import { type MemberList, type MemberListOptions, membersOf } from './members.js'
import {
  openCopy,
  type PublishedRulebook,
  type PublishOptions,
  postRulebook,
  type ResumeOptions,
  resumePublication,
  rulebookVersion,
} from './rulebook.js'

export { memberRules } from '../protocol/policy.js'
export type { Publication, RulebookCopy } from '../protocol/rulebookCopy.js'
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
export type { PublishedRulebook, PublishOptions, ResumeOptions } from './rulebook.js'
export { type AlikeChanges, alikeChanges, type RulebookChange, rulebookChanges } from './rulebookChanges.js'
export type { PartsOnChain } from './rulebookParts.js'

async function rulebookDeps(client: Client, options?: CallOptions) {
  const { within, platform, ...parts } = partsOf(client)
  return { ...within(options), ...parts, platform: await platform(options) }
}

/**
 * The institution and the version of its rulebook in force.
 * @example const { version } = await getRulebookVersion(client)
 */
export async function getRulebookVersion(client: Client, options?: CallOptions): Promise<PolicyVersion> {
  return rulebookVersion(await rulebookDeps(client, options), options)
}

/**
 * Replaces the rulebook. Show `rulebookChanges` first, and keep the returned copy: it is the admin's
 * only readable record of the rulebook.
 * @example const { version, copy } = await publishRulebook(client, policy, { base: 1 })
 */
export async function publishRulebook(
  client: Client,
  policy: Policy,
  options?: PublishOptions,
): Promise<PublishedRulebook> {
  return postRulebook(policy, await rulebookDeps(client, options), options)
}

/**
 * Goes on with a publication that was cut off, without a signature. The enclave accepts it again if it is in force.
 * @param publication what `beforePost` of `publishRulebook` got, as JSON, unvalidated
 * @throws ServerError `policy-rejected`: forget it, it is not in force and never will be
 * @example const { version, copy } = await resumeRulebook(client, JSON.parse(text))
 */
export async function resumeRulebook(
  client: Client,
  publication: unknown,
  options?: ResumeOptions,
): Promise<PublishedRulebook> {
  return resumePublication(publication, await rulebookDeps(client, options), options)
}

/**
 * Opens the rulebook in a copy from an earlier publication.
 * @param copy JSON, unvalidated
 * @param version the version that it must be of: the one in force before a publication, any to read the past
 * @throws ClientError `invalid-copy`, `outdated-copy`, `copy-undecryptable`, `copy-unconfirmed`
 * @example const policyInForce = await openRulebookCopy(client, JSON.parse(text), 1)
 */
export async function openRulebookCopy(
  client: Client,
  copy: unknown,
  version: number,
  options?: CallOptions,
): Promise<Policy> {
  return openCopy(copy, version, await rulebookDeps(client, options))
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
