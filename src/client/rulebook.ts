import { keccak_256 } from '@noble/hashes/sha3.js'
import * as z from 'zod/mini'
import { addressSchema, sameAddress } from '../protocol/address.js'
import { type PolicyVersion, policyVersionSchema } from '../protocol/api.js'
import type { Envelope } from '../protocol/envelope.js'
import { ProtocolError } from '../protocol/errors.js'
import { bytes32Schema, bytesToHex, type Hex, hexLength } from '../protocol/hex.js'
import { INTENT_VERSION } from '../protocol/intent.js'
import { intentDomain } from '../protocol/intentDomain.js'
import { canonicalPieces, type Policy, policySchema } from '../protocol/policy.js'
import {
  encodedBytesOf,
  fitsEnvelope,
  policyIntentDigest,
  policyIntentMessage,
  policyIntentTypes,
  type Rulebook,
  sealRulebook,
  type UnsignedRulebook,
} from '../protocol/policyIntent.js'
import {
  openRulebookCopy,
  type Publication,
  type RulebookCopy,
  rulebookCopySchema,
  sealRulebookCopy,
} from '../protocol/rulebookCopy.js'
import {
  encodeClaim,
  envelopeHash,
  RULEBOOK_AUTHOR,
  sealedRulebookDigest,
  sealedRulebookTypes,
} from '../protocol/sealedRulebook.js'
import { ADMIN_ABI } from './abis.js'
import type { ActionList } from './actionList.js'
import { createContract } from './contract.js'
import { underTodaysNames } from './employeeRules.js'
import { ClientError, ServerError } from './errors.js'
import type { CallOptions, Http } from './http.js'
import type { HistoryStore } from './keptLists.js'
import { createKeptRulebooks, type KeptRulebooks } from './keptRulebooks.js'
import { cannotDerive, type Keyring } from './keyring.js'
import type { Platform } from './platform.js'
import { type RetryTiming, withRetries } from './retry.js'
import { type PartsOnChain, watchParts } from './rulebookParts.js'
import { signTyped } from './signTyped.js'
import { createSlices, type Slices } from './slices.js'
import type { Wallet } from './wallet.js'

interface RulebookDeps {
  readonly http: Http
  readonly wallet: Wallet
  readonly platform: Platform
  readonly timing: RetryTiming
  readonly actionList: ActionList
  /** The admin's portfolio keys. */
  readonly keys: Pick<Keyring, 'newest' | 'opened'>
}

/** The server answers only after the enclave's whole run. */
const TIMEOUT_MS = 180_000
/** Employees that are checked at once. */
const CHECKED_AT_ONCE = 256
/** A ciphertext that a server takes from anyone. */
const SHORT_BYTES = 16_384

export interface PublishOptions extends CallOptions {
  /**
   * The version that the rulebook was written from, 0 for none. The enclave refuses the rulebook (`version-conflict`)
   * if another version is in force by then. Without `base` it replaces any version.
   */
  readonly base?: number | undefined
  /**
   * Keeps the sealed rulebook from before it is posted until it is in force or finally refused, and its copy from then on. A store that
   * fails stops no publication.
   */
  readonly store?: HistoryStore | undefined
  /** Called before the wallet is asked to sign, or before the same rulebook that the store keeps is posted again. */
  readonly onStep?: ((step: PublishStep) => void) | undefined
  /** Called as more of the rulebook's parts are on the chain. A rulebook of one part has no progress. */
  readonly onProgress?: ((progress: PartsOnChain) => void) | undefined
}

export type PublishStep = 'signing' | 'resuming'

/** Those of `publishRulebook` that concern what is posted. */
type PostOptions = Pick<PublishOptions, 'signal' | 'onProgress'>

export interface PublishedRulebook extends PolicyVersion {
  /** Sealed to the admin's portfolio key. Null for a wallet that cannot derive that key again. */
  readonly copy: RulebookCopy | null
}

/**
 * Signs the rulebook with the admin's wallet, seals it, signs the envelope and publishes it, replacing the present
 * rulebook entirely. Requests two signatures, and two more if the portfolio key is not derived yet. Keys of `employees`
 * may be in any case.
 * @returns the institution and version now in force, and the copy to keep: only the enclave can open the rulebook on
 *   chain
 * @throws ClientError `not-admin`, `invalid-rulebook`
 * @throws ServerError `policy-rejected` with the enclave's code in `problem.reason`, `enclave-failed`,
 *   `enclave-timeout` (it may still be accepted: read the version again)
 */
export async function postRulebook(
  policy: Policy,
  deps: RulebookDeps,
  { base, signal, store, onStep, onProgress }: PublishOptions = {},
): Promise<PublishedRulebook> {
  const { platform } = deps
  // Each step of a long rulebook takes a good part of a frame.
  const slices = createSlices(signal)
  const admin = await deps.wallet.account()
  const orgId = await institutionOf(admin, deps)
  const version = (base ?? (await versionOf(orgId, deps, signal))) + 1
  const lowered = await lowerCaseKeys(policy, slices)
  const unsigned: UnsignedRulebook = { v: INTENT_VERSION, orgId, admin, policy: lowered, version }
  await slices.next()
  if (!fitsEnvelope(lowered)) {
    const text =
      'The rulebook is too long. Give groups the rules that several employees share, or list fewer.'
    throw new ClientError('invalid-rulebook', text)
  }
  // Derives the key before sending: a wallet that rejects this signature cancels the publication.
  const copyKey = await copyKeyOf(deps)
  const kept = createKeptRulebooks(store, { ...platform, account: admin })
  const found = await keptOf(unsigned, kept, deps, slices)
  onStep?.(found === null ? 'signing' : 'resuming')
  const publication = found ?? (await seal(unsigned, copyKey, deps, slices))
  if (found === null) await kept.keepPublication(publication)
  return postKept(publication, kept, deps, { signal, onProgress })
}

/** The publication of this very rulebook, as its copy tells; null if none is kept. */
async function keptOf(
  { policy, version }: UnsignedRulebook,
  kept: KeptRulebooks,
  deps: RulebookDeps,
  slices: Slices,
): Promise<Publication | null> {
  const found = await kept.publication()
  if (found?.version !== version || found.copy === null) return null
  const rulebook = await openWith(deps, found.copy).catch(() => null)
  await slices.next()
  const isSame = rulebook && (await hashOf(rulebook.policy, slices)) === (await hashOf(policy, slices))
  return isSame ? found : null
}

async function seal(
  unsigned: UnsignedRulebook,
  copyKey: Hex | null,
  deps: RulebookDeps,
  slices: Slices,
): Promise<Publication> {
  const { platform } = deps
  const { orgId, version } = unsigned
  const rulebook = await sign(unsigned, deps, slices)
  await slices.next()
  const envelope = await sealRulebook(rulebook, platform.enclavePublicKey)
  await slices.next()
  const author = { orgId, sig: await signEnvelope(orgId, envelope, deps) }
  await slices.next()
  const copy = copyKey && (await sealRulebookCopy(rulebook, copyKey, platform))
  await slices.next()
  return { version, body: { ...envelope, author }, copy }
}

/** Posts what is kept, until it is in force and its copy is kept in its place, or it never will be. */
export async function postKept(
  publication: Publication,
  kept: KeptRulebooks,
  deps: RulebookDeps,
  options: PostOptions,
): Promise<PublishedRulebook> {
  try {
    const published = await postPublication(publication, deps, options)
    if (published.copy !== null) await kept.keepCopy(published.copy)
    await kept.forgetPublication()
    return published
  } catch (error) {
    if (error instanceof ServerError && error.code === 'policy-rejected') await kept.forgetPublication()
    throw error
  }
}

async function postPublication(
  { version, body, copy }: Publication,
  { http, wallet, timing, platform }: RulebookDeps,
  { signal, onProgress }: PostOptions,
): Promise<PublishedRulebook> {
  const { author, ...envelope } = body
  const slices = createSlices(signal)
  await slices.next()
  const claim = { ...author, envelopeHash: envelopeHash(envelope) }
  // The server reads a long body only for an admin, so it sees the signature first.
  const headers = hexLength(envelope.ct) > SHORT_BYTES ? { [RULEBOOK_AUTHOR]: encodeClaim(claim) } : undefined
  await slices.next()
  const post = () =>
    http.post('/policy', body, policyVersionSchema, {
      ...{ signal, headers },
      timeoutMs: TIMEOUT_MS,
    })
  const over = new AbortController()
  const posted = withRetries(post, timing, signal).finally(() => over.abort())
  const place = { orgId: author.orgId, ledger: platform.ledger, encodedBytes: encodedBytesOf(envelope) }
  const watched = onProgress && watchParts(place, wallet.until(over.signal), onProgress, over.signal)
  const [published] = await Promise.all([posted, watched])
  if (published.orgId === author.orgId && published.version === version) {
    return { orgId: author.orgId, version, copy }
  }
  throw new ClientError(
    'unexpected-answer',
    `Version ${version} was published, but the server answered with another version.`,
  )
}

/**
 * The wallet's institution and the version of its rulebook in force, 0 for none.
 * @throws ClientError `not-admin`
 */
export async function rulebookVersion(
  deps: RulebookDeps,
  { signal }: CallOptions = {},
): Promise<PolicyVersion> {
  const orgId = await institutionOf(await deps.wallet.account(), deps)
  return { orgId, version: await versionOf(orgId, deps, signal) }
}

/**
 * Opens a copy from this wallet's own publication. Restrictions of a symbol that has changed are under its name of today.
 * @param copy as kept or exported, unvalidated
 * @param version the version that the copy must be of: a copy of another version does not describe it
 * @throws ClientError `not-admin`, `invalid-copy`, `outdated-copy`, `copy-undecryptable`, `copy-unconfirmed`
 */
export async function openCopy(
  copy: unknown,
  version: number,
  deps: RulebookDeps,
  store?: HistoryStore,
): Promise<Policy> {
  const { platform, wallet } = deps
  const parsed = rulebookCopySchema.safeParse(copy)
  if (!parsed.success) throw new ClientError('invalid-copy', 'This is not a copy of a rulebook.')
  const { chainId, escrow, orgId } = parsed.data
  const admin = await wallet.account()
  const isOurs = chainId === platform.chainId && sameAddress(escrow, platform.escrow)
  if (!isOurs || orgId !== (await institutionOf(admin, deps))) {
    throw new ClientError('invalid-copy', 'The copy belongs to another institution or platform.')
  }
  if (parsed.data.version !== version) {
    const text = `The copy has version ${parsed.data.version}, but version ${version} is in force.`
    throw new ClientError('outdated-copy', text)
  }
  const rulebook = await openWith(deps, parsed.data)
  if (!sameAddress(rulebook.admin, admin)) {
    throw new ClientError('invalid-copy', 'Another wallet signed the rulebook in the copy.')
  }
  await createKeptRulebooks(store, { ...platform, account: admin }).keepCopy(parsed.data)
  const actions = await deps.actionList(wallet, platform.actions, await wallet.reads.blockNumber())
  return underTodaysNames(rulebook.policy, actions)
}

async function openWith(
  { keys, wallet }: Pick<RulebookDeps, 'keys' | 'wallet'>,
  copy: RulebookCopy,
): Promise<Rulebook> {
  try {
    const rulebook = await keys.opened(({ privateKey }) => openRulebookCopy(copy, privateKey))
    const digest = policyIntentDigest(rulebook, copy, await hashOf(rulebook.policy, createSlices()))
    if (await wallet.isSignedBy(rulebook.admin, digest, rulebook.sig)) return rulebook
    if ((await wallet.reads.code(rulebook.admin)) !== '0x') {
      const text =
        'The wallet of the admin, a contract, does not confirm the signature in the copy: its owners may have changed.'
      throw new ClientError('copy-unconfirmed', text)
    }
    throw new ProtocolError('wrong-signer', 'another account signed the rulebook')
  } catch (error) {
    // The user rejected the signature that derives the key.
    if (error instanceof ClientError) throw error
    if (error instanceof ProtocolError && error.code === 'undecryptable') {
      const text = 'No imported or derived key opens the copy: it was sealed to another key, or altered.'
      throw new ClientError('copy-undecryptable', text, { cause: error })
    }
    throw new ClientError('invalid-copy', 'The copy holds no rulebook signed by its admin.', {
      cause: error,
    })
  }
}

/** Null for a wallet that cannot derive its key again: it can publish, but never open a copy. */
async function copyKeyOf({ keys }: RulebookDeps): Promise<Hex | null> {
  try {
    return (await keys.newest()).publicKey
  } catch (error) {
    if (cannotDerive(error)) return null
    throw error
  }
}

/** @throws ClientError `not-admin` */
async function institutionOf(
  admin: Hex,
  { wallet, platform }: Pick<RulebookDeps, 'wallet' | 'platform'>,
): Promise<Hex> {
  const registry = createContract({ wallet, address: platform.registry, abi: ADMIN_ABI })
  const orgId = await registry.read<Hex>('orgOf', [admin], bytes32Schema)
  const current = await registry.read<Hex>('adminOf', [orgId], addressSchema)
  if (sameAddress(current, admin)) return orgId
  throw new ClientError('not-admin', 'This wallet is not the admin of an institution.')
}

/** The version according to the server. A wrong version can only make the enclave refuse the publication. */
async function versionOf(
  orgId: Hex,
  { http, timing }: Pick<RulebookDeps, 'http' | 'timing'>,
  signal?: AbortSignal,
): Promise<number> {
  const ask = () => http.get(`/policy/${orgId}`, policyVersionSchema, { signal })
  return (await withRetries(ask, timing, signal)).version
}

async function sign(
  unsigned: UnsignedRulebook,
  { wallet, platform }: RulebookDeps,
  slices: Slices,
): Promise<Rulebook> {
  const hash = await hashOf(unsigned.policy, slices)
  const sig = await signTyped(wallet, {
    domain: intentDomain(platform),
    types: policyIntentTypes,
    message: policyIntentMessage(unsigned, hash),
    digest: policyIntentDigest(unsigned, platform, hash),
  })
  return { ...unsigned, sig }
}

/** `policyHash`, in slices. */
async function hashOf(policy: Policy, slices: Slices): Promise<Hex> {
  const hash = keccak_256.create()
  for (const piece of canonicalPieces(policy)) {
    if (slices.isOver()) await slices.next()
    hash.update(new TextEncoder().encode(piece))
  }
  return bytesToHex(hash.digest())
}

/**
 * Signs outside the seal, so the server can queue the envelope in the institution's own queue, which strangers cannot
 * fill.
 */
function signEnvelope(orgId: Hex, envelope: Envelope, { wallet, platform }: RulebookDeps): Promise<Hex> {
  const message = { orgId, envelopeHash: envelopeHash(envelope) }
  return signTyped(wallet, {
    domain: intentDomain(platform),
    types: sealedRulebookTypes,
    message,
    digest: sealedRulebookDigest(message, platform),
  })
}

/** @throws ClientError `invalid-rulebook` */
async function lowerCaseKeys(policy: Policy, slices: Slices): Promise<Policy> {
  const entries = Object.entries(policy.employees).map(([key, rules]) => [key.toLowerCase(), rules] as const)
  const employees = Object.fromEntries(entries)
  if (Object.keys(employees).length !== entries.length) {
    throw new ClientError('invalid-rulebook', 'An employee is listed twice.')
  }
  const paths: string[] = []
  for (let from = 0; from === 0 || from < entries.length; from += CHECKED_AT_ONCE) {
    if (slices.isOver()) await slices.next()
    const some = Object.fromEntries(entries.slice(from, from + CHECKED_AT_ONCE))
    const { error } = z.safeEncode(policySchema, { ...policy, employees: some })
    paths.push(...(error?.issues ?? []).map((issue) => issue.path.join('.')))
  }
  if (paths.length === 0) return { ...policy, employees }
  throw new ClientError('invalid-rulebook', `The rulebook is malformed: ${[...new Set(paths)].join(', ')}.`)
}
